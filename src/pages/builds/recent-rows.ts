import type { RequestRecords } from '../../rpc/request-records.js'
import { TimeSlices } from '../../work/time-slices.js'
import type { Visit } from '../page.js'
import type { BuildPagesParts } from './invocation.js'
import { type BuildRow, READ_BUILDS, rowOf } from './row.js'

const SLICE_MS = 5

/** The builds of the list: those with events, and those of clients that only use the caches. */
export class RecentRows {
  readonly #parts: BuildPagesParts
  readonly #groups: RequestGroups

  constructor(parts: BuildPagesParts) {
    this.#parts = parts
    this.#groups = new RequestGroups(parts.records)
  }

  /** Makes the rows of what is kept already, in slices of time, so that the first reader need not wait for it. */
  async prepare(): Promise<void> {
    const slices = new TimeSlices(SLICE_MS)
    for (const kept of this.#parts.builds?.list() ?? []) {
      rowOf(kept)
      const pause = slices.step()
      if (pause !== undefined) await pause
    }
  }

  async for(visit: Visit): Promise<readonly BuildRow[]> {
    const grouped = await this.#groups.rows()
    const mayRead = memoised((instance) => visit.may(READ_BUILDS, instance))
    const rows: BuildRow[] = []
    for (const kept of this.#parts.builds?.list() ?? [])
      if (mayRead(kept.summary.about.instance)) rows.push(rowOf(kept))
    // One that began before the server kept its events has both.
    const ids = new Set(grouped.length === 0 ? [] : rows.map(({ id }) => id))
    for (const row of grouped) if (mayRead(row.instance) && !ids.has(row.id)) rows.push(row)
    return rows
  }
}

const memoised = (ask: (instance: string) => boolean): ((instance: string) => boolean) => {
  const known = new Map<string, boolean>()
  return (instance) => {
    const answer = known.get(instance) ?? ask(instance)
    known.set(instance, answer)
    return answer
  }
}

interface Group {
  readonly id: string
  readonly instance: string
  firstMs: number
  lastMs: number
  hits: number
  misses: number
  /** Of its last record. */
  newest: number
}

/** The requests of each build. Decoding all records takes tens of milliseconds, so each is decoded once. */
class RequestGroups {
  readonly #records: RequestRecords
  readonly #groups = new Map<string, Group>()
  /** The number of the next record to read. */
  #next = 0
  #reading: Promise<void> | undefined

  constructor(records: RequestRecords) {
    this.#records = records
  }

  async rows(): Promise<readonly BuildRow[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
    return [...this.#groups.values()].map(rowOfGroup)
  }

  async #read(): Promise<void> {
    const slices = new TimeSlices(SLICE_MS)
    const from = this.#next
    let number = this.#records.added
    this.#next = number
    for (const { invocation: id, instance, timeMs, outcome } of this.#records.from(from)) {
      number--
      if (id !== '') {
        const key = `${instance}\0${id}`
        const group = this.#groups.get(key) ?? newGroup(id, instance, timeMs)
        this.#groups.set(key, group)
        group.firstMs = Math.min(group.firstMs, timeMs)
        group.lastMs = Math.max(group.lastMs, timeMs)
        group.newest = Math.max(group.newest, number)
        if (outcome === 'hit') group.hits += 1
        if (outcome === 'miss') group.misses += 1
      }
      const pause = slices.step()
      if (pause !== undefined) await pause
    }
    // Nothing else is known of a build whose requests are forgotten.
    for (const [key, { newest }] of this.#groups) if (newest < this.#records.oldest) this.#groups.delete(key)
  }
}

const newGroup = (id: string, instance: string, timeMs: number): Group => {
  return { id, instance, firstMs: timeMs, lastMs: timeMs, hits: 0, misses: 0, newest: 0 }
}

const rowOfGroup = ({ id, instance, firstMs, lastMs, hits, misses }: Group): BuildRow => ({
  ...{ id, instance, outcome: 'cache only', startedMs: firstMs, tookMs: lastMs - firstMs },
  ...{ command: undefined, patterns: [], user: undefined, host: undefined, branch: undefined, commit: undefined },
  ...{ targetCount: 0, failedTargetCount: 0, testCount: 0, failedTestCount: 0, hits, misses },
})
