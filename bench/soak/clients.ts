import { setMaxListeners } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Act } from './act.js'
import { Caller } from './caller.js'

/** Beyond it clients stop, whatever the time. */
const MAX_ACTS = 5_000_000
/**
 * Long: through a window of 64 KiB a large blob takes hundreds of round trips, and on a loaded machine each waits for its
 * turn at both ends.
 */
const MAX_ACT_MS = 600_000
/** Acts on one connection before its client opens another one. */
const ACTS_A_CONNECTION = 20
const MAX_FAILURES_KEPT = 20

interface Performed {
  readonly times: number
  readonly slowestMs: number
}

/** Clients that repeat their acts, each of one kind, until they are stopped. */
export class Clients {
  performed = 0
  underWay = 0
  /** How often each act was performed, and how long it took at most. */
  readonly counts = new Map<string, Performed>()
  /** What clients found wrong; the first of it, should it be much. */
  readonly failures: string[] = []
  readonly #port: number
  readonly #pauseMs: number
  readonly #ended = new AbortController()
  #lanes: Promise<void>[] = []

  /** `pauseMs` is what a client waits between two acts, on average. */
  constructor(port: number, pauseMs: number) {
    this.#port = port
    this.#pauseMs = pauseMs
    setMaxListeners(0, this.#ended.signal)
  }

  begin(acts: readonly Act[]): void {
    this.#lanes = acts.flatMap((act) => Array.from({ length: act.clients }, () => this.#lane(act)))
  }

  /** Resolves when every client is done with the act it was at. */
  async end(): Promise<void> {
    this.#ended.abort()
    await Promise.all(this.#lanes)
  }

  get #isEnded(): boolean {
    return this.#ended.signal.aborted || this.performed >= MAX_ACTS
  }

  async #lane(act: Act): Promise<void> {
    while (!this.#isEnded) {
      const caller = await Caller.open(this.#port)
      for (let done = 0; done < ACTS_A_CONNECTION && !this.#isEnded; done++) {
        await this.#pause()
        // What failed may have left calls open, and these are not what the server is asked for at the end.
        if (!(await this.#perform(act, caller))) caller.cut()
        else if (!act.isCutting) continue
        break
      }
      caller.close()
    }
  }

  /** Resolves with whether all was as it should be. */
  async #perform(act: Act, caller: Caller): Promise<boolean> {
    this.underWay += 1
    const startMs = performance.now()
    let isWell = true
    const late = new AbortController()
    try {
      await Promise.race([act.perform(caller, this.#port), tooLate(late.signal)])
    } catch (error) {
      isWell = false
      if (this.failures.length < MAX_FAILURES_KEPT) this.failures.push(`${act.name}: ${String(error)}`)
    }
    late.abort()
    this.underWay -= 1
    this.performed += 1
    const { times = 0, slowestMs = 0 } = this.counts.get(act.name) ?? {}
    this.counts.set(act.name, { times: times + 1, slowestMs: Math.max(slowestMs, performance.now() - startMs) })
    return isWell
  }

  async #pause(): Promise<void> {
    if (this.#pauseMs === 0) return
    await setTimeout(2 * Math.random() * this.#pauseMs, undefined, { signal: this.#ended.signal }).catch(() => {})
  }
}

const tooLate = async (signal: AbortSignal): Promise<never> => {
  await setTimeout(MAX_ACT_MS, undefined, { signal }).catch(() => {})
  throw new Error(`it took more than ${MAX_ACT_MS / 1000} s`)
}
