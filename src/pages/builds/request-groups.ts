import { hasFailed } from '../../builds/own/facts.js'
import type { RequestRecord, RequestRecords } from '../../rpc/request-records.js'
import { TimeSlices } from '../../work/time-slices.js'

const SLICE_MS = 5

/** The requests of one build of one scope in one instance, as far as they are remembered. */
export interface RequestGroup {
  readonly id: string
  readonly instance: string
  /** Absent for trusted callers. */
  readonly scope: string | undefined
  firstMs: number
  lastMs: number
  hits: number
  misses: number
  /** Of the client, if it says so. */
  tool: string
  /** The first, if it says any, and whether there are others. */
  target: string
  hasTargets: boolean
  /** Executions that ended here, and those of them that failed. */
  ran: number
  failed: number
  /** Of its records, in order. */
  numbers: number[]
}

/** The requests of each build. Decoding all records takes tens of milliseconds, so each is decoded once. */
export class RequestGroups {
  readonly #records: RequestRecords
  readonly #groups = new Map<string, RequestGroup>()
  /** The number of the next record to read. */
  #next = 0
  #reading: Promise<void> | undefined

  constructor(records: RequestRecords) {
    this.#records = records
  }

  /** All builds whose requests are remembered. */
  async all(): Promise<Iterable<RequestGroup>> {
    await this.#renewed()
    return this.#groups.values()
  }

  /** The groups of a build: one for each instance that it asked, and for each scope whose callers named it; trusted ones first. */
  async of(id: string): Promise<readonly RequestGroup[]> {
    await this.#renewed()
    const found = [...this.#groups.values()].filter((group) => group.id === id)
    const isScoped = ({ scope }: RequestGroup): boolean => scope !== undefined
    return [...found.filter((one) => !isScoped(one)), ...found.filter(isScoped)]
  }

  /** The records of a group, the newest first. */
  recordsOf({ numbers }: RequestGroup): readonly RequestRecord[] {
    return numbers.flatMap((number) => this.#records.get(number) ?? []).reverse()
  }

  #renewed(): Promise<void> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    return this.#reading
  }

  async #read(): Promise<void> {
    const slices = new TimeSlices(SLICE_MS)
    const until = this.#records.added
    for (let number = Math.max(this.#next, this.#records.oldest); number < until; number++) {
      const record = this.#records.get(number)
      if (record !== undefined && record.invocation !== '') this.#take(record, number)
      const pause = slices.step()
      if (pause !== undefined) await pause
    }
    this.#next = until
    this.#forget(this.#records.oldest)
  }

  #take(record: RequestRecord, number: number): void {
    const { invocation: id, instance, scope, timeMs, outcome, execution } = record
    const key = `${instance}\0${scope ?? ''}\0${id}`
    const known = this.#groups.get(key)
    const group = known ?? {
      ...{ id, instance, scope, firstMs: timeMs, lastMs: timeMs, hits: 0, misses: 0, ran: 0, failed: 0, numbers: [] },
      ...{ tool: record.tool, target: record.target, hasTargets: false },
    }
    if (known === undefined) this.#groups.set(key, group)
    group.firstMs = Math.min(group.firstMs, timeMs)
    group.lastMs = Math.max(group.lastMs, timeMs)
    if (outcome === 'hit') group.hits += 1
    if (outcome === 'miss') group.misses += 1
    if (execution !== undefined) {
      group.ran += 1
      if (hasFailed({ outcome, exitCode: execution.exitCode })) group.failed += 1
    }
    group.tool ||= record.tool
    group.target ||= record.target
    group.hasTargets ||= record.target !== '' && record.target !== group.target
    group.numbers.push(number)
  }

  /** Nothing is known of a build whose requests are all gone. */
  #forget(oldest: number): void {
    for (const [key, group] of this.#groups) {
      if ((group.numbers[0] ?? 0) >= oldest) continue
      group.numbers = group.numbers.filter((number) => number >= oldest)
      if (group.numbers.length === 0) this.#groups.delete(key)
    }
  }
}

/** What a build without events is called: its client, and what that asked about. */
export const nameOfGroup = ({ tool, target, hasTargets }: RequestGroup): string =>
  [tool, target === '' ? '' : `${target}${hasTargets ? ' and others' : ''}`].filter(Boolean).join(': ')

/** Whether it also had actions run here. */
export const outcomeOfGroup = ({ ran }: RequestGroup): 'cache only' | 'no events' =>
  ran === 0 ? 'cache only' : 'no events'
