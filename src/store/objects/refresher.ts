import type { Clock } from '../../base/clock.js'
import type { Log } from '../../log/log.js'
import { SparingLog } from '../../log/sparing-log.js'
import { Semaphore } from '../../work/semaphore.js'
import type { Requests } from '../remote/requests.js'
import type { Bucket, ObjectFacts } from './bucket.js'

export interface RefresherParts {
  /** With `refresh`. */
  readonly bucket: Bucket
  readonly requests: Requests
  /** The age at which a rule of the bucket deletes an object. */
  readonly lifecycleMs: number
  /** The name of the store in the log. */
  readonly path: string
  readonly clock: Clock
  readonly log: Log
}

/** Shares of the lifecycle that an object has left when it is refreshed in the background, and that are promised. */
const EARLY = 1 / 2
export const PROMISED = 1 / 4
/** The longest promise. One of the whole lifecycle would need a new object for each use. */
const LONGEST = 9 / 10

const LANES = 16
/** Objects that wait or are being refreshed. Beyond it, those that need not be refreshed now wait for their next use. */
const WAITING_MAX = 10_000

/** For large objects, which some providers really copy. */
const TIMEOUT_MS = 120_000

/** After a failure nothing is refreshed for so long. */
const PAUSE_MS = 60_000
const RATION = { lines: 1, periodMs: PAUSE_MS }

/**
 * Keeps objects that are used from being deleted by age: makes them young again once half of their lifecycle has passed.
 * That happens in the background, and before the answer if less than a quarter is left, which is therefore promised.
 */
export class Refresher {
  readonly #parts: RefresherParts
  readonly #log: SparingLog
  readonly #lanes = new Semaphore({ permits: LANES, maxWaiting: WAITING_MAX })
  readonly #underWay = new Map<string, Promise<boolean>>()
  readonly #abort = new AbortController()
  #pausedUntilMs = 0

  constructor(parts: RefresherParts) {
    this.#parts = parts
    this.#log = new SparingLog(parts.log, parts.clock, RATION)
  }

  /** How long an object is there at least after it was used. */
  get retentionMs(): number {
    return PROMISED * this.#parts.lifecycleMs
  }

  /** An object was used, and should be kept for at least so long. Returns whether it is still there. Never rejects. */
  async used(key: string, facts: ObjectFacts, keepForMs = 0): Promise<boolean> {
    const { lifecycleMs, clock } = this.#parts
    const leftMs = facts.writtenAtMs + lifecycleMs - clock.now()
    const neededMs = Math.min(Math.max(this.retentionMs, keepForMs), LONGEST * lifecycleMs)
    const isUrgent = leftMs < neededMs
    const isEarlyEnough = !isUrgent && leftMs >= EARLY * lifecycleMs
    if (isEarlyEnough || clock.now() < this.#pausedUntilMs) return true
    const underWay = this.#underWay.get(key)
    if (!isUrgent) {
      if (underWay === undefined && this.#underWay.size < WAITING_MAX) void this.#begin(key, facts, this.#lanes)
      return true
    }
    return underWay ?? this.#begin(key, facts, undefined)
  }

  async close(): Promise<void> {
    this.#abort.abort()
    await Promise.all(this.#underWay.values())
  }

  #begin(key: string, facts: ObjectFacts, lanes: Semaphore | undefined): Promise<boolean> {
    const work = this.#refresh(key, facts, lanes).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, work)
    return work
  }

  async #refresh(key: string, facts: ObjectFacts, lanes: Semaphore | undefined): Promise<boolean> {
    const { bucket, requests, clock, path } = this.#parts
    const { signal } = this.#abort
    let giveBack: (() => void) | undefined
    try {
      giveBack = await lanes?.acquire('an object to be refreshed', signal)
      if (clock.now() < this.#pausedUntilMs) return true
      const refresh = async (inTime: AbortSignal) => (await bucket.refresh?.(key, facts, inTime)) ?? true
      return await requests.run({ signal }, refresh, { timeoutMs: TIMEOUT_MS })
    } catch (error) {
      if (signal.aborted) return true
      this.#pausedUntilMs = clock.now() + PAUSE_MS
      const advice =
        'the credentials need the right to write, and the server must be able to copy an object onto itself'
      const message = 'could not refresh an object in use: a rule of the bucket may delete it'
      this.#log.warn(message, { store: path, key, error, advice })
      return true
    } finally {
      giveBack?.()
    }
  }
}
