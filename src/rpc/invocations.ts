import type { Clock } from '../base/clock.js'
import { type ActionOutcome, OUTCOMES } from './request-records.js'

/** A build of a client: all its calls carry the same tool_invocation_id. Later invocations have larger numbers. */
export interface Invocation {
  readonly id: string
  readonly number: number
}

interface Live extends Invocation {
  touchedMs: number
  /** Streams of build events that are open. */
  streams: number
  /** Requests about actions, in the order of OUTCOMES. */
  readonly counts: number[]
}

export type OutcomeCounts = Readonly<Record<ActionOutcome['outcome'], number>>

/** How long an invocation lives after its last call. */
export const QUIET_MS = 10 * 60_000
const SWEEP_MS = 60_000
/** At the bound, the invocation that began first loses its lease; stores still keep their minimum retention. */
const LIVE_MAX = 10_000
/** Ended invocations that late calls do not revive, and whose ids can still be named. */
const ENDED_MAX = 10_000
/** Ids are UUIDs in practice. Longer texts are not remembered. */
const ID_MAX_LENGTH = 128

/**
 * Which invocations are alive: those with a call in the last ten minutes or an open stream of build events. Stores keep
 * the blobs that a live invocation used (store/index/promises.ts). Nothing survives a restart.
 */
export class Invocations {
  readonly #clock: Clock
  /** In the order of their numbers. */
  readonly #byNumber = new Map<number, Live>()
  readonly #byId = new Map<string, Live>()
  readonly #ended = new Map<string, Live>()
  #last = 0
  /** Calls that only ask to keep blobs, since the start. */
  extensionCount = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Starts to drop quiet invocations. Returns what ends that. */
  start(): () => void {
    return this.#clock.every(SWEEP_MS, () => this.#sweep())
  }

  /** Invocations that are alive. */
  get count(): number {
    return this.#byId.size
  }

  /** A call of this invocation has come. Undefined if it has ended, or has no usable id. */
  touch(id: string): Invocation | undefined {
    return this.#touch(id)
  }

  #touch(id: string): Live | undefined {
    const live = this.#byId.get(id) ?? this.#begin(id)
    if (live !== undefined) live.touchedMs = this.#clock.now()
    return live
  }

  /** What became of a request about an action. */
  asked({ id }: Invocation, outcome: ActionOutcome['outcome']): void {
    const counts = this.#countsOf(id)
    const at = OUTCOMES.indexOf(outcome)
    if (counts !== undefined) counts[at] = (counts[at] ?? 0) + 1
  }

  /** Adds what was counted elsewhere, in the order of OUTCOMES. */
  add(id: string, more: readonly number[]): void {
    const counts = this.#countsOf(id)
    more.forEach((count, at) => {
      if (counts !== undefined) counts[at] = (counts[at] ?? 0) + count
    })
  }

  #countsOf(id: string): number[] | undefined {
    return (this.#byId.get(id) ?? this.#ended.get(id))?.counts
  }

  /** The requests about actions of an invocation that is alive or ended lately. */
  countsOf(id: string): OutcomeCounts | undefined {
    const counts = this.#countsOf(id)
    return counts && (Object.fromEntries(OUTCOMES.map((name, at) => [name, counts[at]])) as OutcomeCounts)
  }

  /** A stream of its build events is open until the returned function is called. */
  opened(id: string): () => void {
    const live = this.#touch(id)
    if (live === undefined) return () => {}
    live.streams += 1
    let isOpen = true
    return () => {
      if (isOpen) live.streams -= 1
      isOpen = false
      live.touchedMs = this.#clock.now()
    }
  }

  /** The build is over: what it used is given back now. */
  ended(id: string): void {
    const live = this.#byId.get(id)
    if (live !== undefined) this.#end(live)
  }

  isAlive(number: number): boolean {
    return this.#byNumber.has(number)
  }

  /** The number of the live invocation that began first; infinite if there is none. */
  get oldest(): number {
    for (const number of this.#byNumber.keys()) return number
    return Number.POSITIVE_INFINITY
  }

  /** The id of an invocation, if it is alive or ended lately. */
  idOf(number: number): string | undefined {
    const live = this.#byNumber.get(number)
    if (live !== undefined) return live.id
    for (const [id, ended] of this.#ended) if (ended.number === number) return id
    return undefined
  }

  #begin(id: string): Live | undefined {
    if (id === '' || id.length > ID_MAX_LENGTH || this.#ended.has(id)) return undefined
    this.#last += 1
    const live: Live = { id, number: this.#last, touchedMs: 0, streams: 0, counts: OUTCOMES.map(() => 0) }
    this.#byId.set(id, live)
    this.#byNumber.set(live.number, live)
    if (this.#byNumber.size > LIVE_MAX) {
      for (const first of this.#byNumber.values()) {
        this.#drop(first)
        break
      }
    }
    return live
  }

  #end(live: Live): void {
    this.#drop(live)
    this.#ended.set(live.id, live)
    if (this.#ended.size <= ENDED_MAX) return
    for (const first of this.#ended.keys()) {
      this.#ended.delete(first)
      break
    }
  }

  #drop({ id, number }: Live): void {
    this.#byId.delete(id)
    this.#byNumber.delete(number)
  }

  #sweep(): void {
    const nowMs = this.#clock.now()
    for (const live of [...this.#byNumber.values()])
      if (live.streams === 0 && nowMs - live.touchedMs >= QUIET_MS) this.#drop(live)
  }
}
