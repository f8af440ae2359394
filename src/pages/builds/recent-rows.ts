import type { RequestRecord } from '../../rpc/request-records.js'
import type { Visit } from '../page.js'
import type { BuildPagesParts } from './invocation.js'
import { type BuildRow, READ_BUILDS, rowOf } from './row.js'

/** Grouping the requests decodes their metadata, so it is done at most this often. */
const FRESH_MS = 2000

/** The builds of the list: those with events, and those of clients that only use the caches. */
export class RecentRows {
  readonly #parts: BuildPagesParts
  #grouped: { readonly atMs: number; readonly rows: readonly BuildRow[] } | undefined

  constructor(parts: BuildPagesParts) {
    this.#parts = parts
  }

  for(visit: Visit): readonly BuildRow[] {
    const mayRead = memoised((instance) => visit.may(READ_BUILDS, instance))
    const kept = (this.#parts.builds?.list() ?? []).filter(({ summary }) => mayRead(summary.about.instance)).map(rowOf)
    const ids = new Set(kept.map(({ id }) => id))
    // One that began before the server kept its events has both.
    const cacheOnly = this.#cacheOnly(visit.nowMs).filter(({ id, instance }) => mayRead(instance) && !ids.has(id))
    return [...kept, ...cacheOnly]
  }

  #cacheOnly(nowMs: number): readonly BuildRow[] {
    if (this.#grouped === undefined || nowMs - this.#grouped.atMs >= FRESH_MS)
      this.#grouped = { atMs: nowMs, rows: rowsOfRequests(this.#parts.records) }
    return this.#grouped.rows
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
}

const rowsOfRequests = (records: Iterable<RequestRecord>): BuildRow[] => {
  const groups = new Map<string, Group>()
  for (const { invocation: id, instance, timeMs, outcome } of records) {
    if (id === '') continue
    const key = `${instance}\0${id}`
    const group = groups.get(key) ?? { id, instance, firstMs: timeMs, lastMs: timeMs, hits: 0, misses: 0 }
    groups.set(key, group)
    group.firstMs = Math.min(group.firstMs, timeMs)
    group.lastMs = Math.max(group.lastMs, timeMs)
    if (outcome === 'hit') group.hits += 1
    if (outcome === 'miss') group.misses += 1
  }
  return [...groups.values()].map(({ id, instance, firstMs, lastMs, hits, misses }) => ({
    ...{ id, instance, outcome: 'cache only', startedMs: firstMs, tookMs: lastMs - firstMs },
    ...{ command: undefined, patterns: [], user: undefined, host: undefined, branch: undefined, commit: undefined },
    ...{ targetCount: 0, failedTargetCount: 0, testCount: 0, failedTestCount: 0, hits, misses },
  }))
}
