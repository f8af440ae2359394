import type { RequestRecord } from '../rpc/request-records.js'
import { TimeSlices } from '../work/time-slices.js'

const SLICE_MS = 5

/** What a client may tell about an action besides its digest. */
type Subject = Pick<RequestRecord, 'instance' | 'target' | 'mnemonic'>

/** The requests of one instance that the server remembers, arranged for questions about misses. */
export class History {
  readonly instance: string
  /** The oldest request of any instance; undefined if nothing was asked yet. Nothing is known of the time before. */
  readonly sinceMs: number | undefined
  /** The newest first. */
  readonly #byAction = new Map<string, RequestRecord[]>()
  readonly #bySubject = new Map<string, RequestRecord[]>()
  readonly #byInvocation = new Map<string, RequestRecord[]>()
  /** 0 for the newest. */
  readonly #positions = new Map<RequestRecord, number>()

  /** `records`: of the instance, the newest first. */
  constructor(instance: string, records: Iterable<RequestRecord>, sinceMs?: number) {
    this.instance = instance
    this.sinceMs = sinceMs
    for (const record of sized([...records])) {
      this.#positions.set(record, this.#positions.size)
      listOf(this.#byAction, record.action).push(record)
      listOf(this.#bySubject, subjectOf(record)).push(record)
      listOf(this.#byInvocation, record.invocation).push(record)
    }
  }

  /**
   * Of the records of all instances, the newest first, from the scopes that are wanted: by default none, because a branch says what
   * it likes about its requests. Reads them in slices of time: decoding 16,000 takes more than 100 ms,
   * for which no call should wait.
   */
  static async read(
    instance: string,
    records: Iterable<RequestRecord>,
    isWanted: (scope: string | undefined) => boolean = isTrusted,
  ): Promise<History> {
    const slices = new TimeSlices(SLICE_MS)
    const kept: RequestRecord[] = []
    let sinceMs: number | undefined
    for (const record of records) {
      sinceMs = record.timeMs
      if (record.instance === instance && isWanted(record.scope)) kept.push(record)
      const pause = slices.step()
      if (pause !== undefined) await pause
    }
    return new History(instance, kept, sinceMs)
  }

  /** All of them, the newest first. */
  get records(): readonly RequestRecord[] {
    return [...this.#positions.keys()]
  }

  /** All requests about an action, the newest first. */
  ofAction(action: string): readonly RequestRecord[] {
    return this.#byAction.get(action) ?? []
  }

  /** All requests of an invocation, the newest first. */
  ofInvocation(invocation: string): readonly RequestRecord[] {
    return this.#byInvocation.get(invocation) ?? []
  }

  /** The actions that an invocation missed, in the order of their requests: the first miss of each. */
  missesOf(invocation: string): readonly RequestRecord[] {
    const misses = new Map<string, RequestRecord>()
    for (const record of this.ofInvocation(invocation)) {
      if (record.outcome === 'miss') misses.set(record.action, record)
    }
    return [...misses.values()].reverse()
  }

  /** The requests about the same action before this one, the newest first. */
  before(record: RequestRecord): readonly RequestRecord[] {
    return this.ofAction(record.action).filter((other) => this.#isBefore(other, record))
  }

  /**
   * Other actions of the same target and mnemonic that were requested before, in other builds, the newest first, each
   * once. Without a target all that were requested without one.
   */
  *earlierLike(record: RequestRecord): Generator<RequestRecord> {
    const seen = new Set([record.action])
    for (const other of this.#bySubject.get(subjectOf(record)) ?? []) {
      if (seen.has(other.action) || !this.#isBefore(other, record) || isSameBuild(other, record)) continue
      seen.add(other.action)
      yield other
    }
  }

  #isBefore(one: RequestRecord, other: RequestRecord): boolean {
    return (this.#positions.get(one) ?? 0) > (this.#positions.get(other) ?? -1)
  }
}

const isTrusted = (scope: string | undefined): boolean => scope === undefined

const UNSIZED = /-0$/

/**
 * A miss over HTTP names its Action by the hash only. Its key is then that of a request about the same Action, which the
 * client makes when it has built it.
 */
const sized = (records: readonly RequestRecord[]): readonly RequestRecord[] => {
  if (!records.some(({ action }) => UNSIZED.test(action))) return records
  const hashOf = (key: string): string => key.replace(/-\d+$/, '')
  const keys = new Map<string, string>()
  for (const { action } of records) if (!UNSIZED.test(action)) keys.set(hashOf(action), action)
  return records.map((record) => {
    const key = UNSIZED.test(record.action) ? keys.get(hashOf(record.action)) : undefined
    return key === undefined ? record : { ...record, action: key }
  })
}

const subjectOf = ({ target, mnemonic }: Subject): string => `${target}\0${mnemonic}`

const isSameBuild = (one: RequestRecord, other: RequestRecord): boolean =>
  one.invocation !== '' && one.invocation === other.invocation

const listOf = (lists: Map<string, RequestRecord[]>, key: string): RequestRecord[] => {
  const known = lists.get(key)
  if (known !== undefined) return known
  const list: RequestRecord[] = []
  lists.set(key, list)
  return list
}
