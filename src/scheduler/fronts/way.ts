import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import { HeldOperations } from './held-operations.js'
import { type AmongPeers, type Apart, SchedulerSession, type SchedulingStream } from './session.js'

export interface WayOptions {
  readonly backend: string
  readonly open: (signal: AbortSignal) => Promise<SchedulingStream>
  readonly failureOf: (thrown: unknown) => StatusError
  readonly nameOf: (instanceName: string, id: string) => string
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  /** How long operations wait for a scheduler that cannot be reached. */
  readonly waitMs: number
  /** The scheduler, for messages to clients. */
  readonly shownAs: string
  /** Its key in the configuration, for messages. */
  readonly waitKey: string
  readonly amongPeers?: AmongPeers | undefined
  /** The scheduler cannot be reached. */
  readonly onAway?: () => void
}

/** How actions get to the scheduler: by handing in, or by calls of REAPI if it does not speak more. Asked at the first action. */
export class Way {
  readonly operations: HeldOperations
  readonly #options: WayOptions
  readonly #session: SchedulerSession
  #state: 'unasked' | 'joined' | 'foreign' | 'away' | 'closed' = 'unasked'
  /** Set while the scheduler is away: why, once operations have waited long enough. */
  #gaveUp: StatusError | undefined
  #timer: NodeJS.Timeout | undefined
  #waiting: (() => void)[] = []

  constructor(options: WayOptions) {
    this.#options = options
    const { ledger, clock, nameOf } = options
    this.operations = new HeldOperations({ ledger, clock, nameOf, send: (message) => this.#session.send(message) })
    this.#session = new SchedulerSession({
      ...options,
      onJoined: () => this.#joined(),
      onApart: (why) => this.#apart(why),
      onMessage: (message) => this.operations.heard(message),
    })
  }

  get isJoined(): boolean {
    return this.#state === 'joined' || this.#state === 'away'
  }

  /** Undefined if the scheduler takes calls only. Rejects with UNAVAILABLE if it cannot be reached for long. */
  async held(): Promise<HeldOperations | undefined> {
    if (this.#state === 'unasked' && this.#timer === undefined) {
      this.#wait()
      this.#session.start()
    }
    while (this.#state === 'unasked' && this.#gaveUp === undefined) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    if (this.#state === 'closed') throw new StatusError('UNAVAILABLE', 'the scheduler has stopped')
    if (this.#gaveUp !== undefined) throw this.#gaveUp
    return this.#state === 'foreign' ? undefined : this.operations
  }

  /** Another server leads: joins it at once. Also begins, if nothing was asked for yet. */
  again(): void {
    if (this.#state === 'closed') return
    this.#wait()
    this.#session.again()
  }

  close(): void {
    this.#state = 'closed'
    clearTimeout(this.#timer)
    this.#session.close()
    this.operations.close()
    this.#decided()
  }

  #joined(): void {
    this.#stopWaiting()
    this.#state = 'joined'
    this.operations.joined()
    this.#decided()
  }

  #apart({ kind, error }: Apart): void {
    if (kind === 'foreign') {
      this.#stopWaiting()
      this.#state = 'foreign'
      this.operations.fail(this.#lost(error))
      this.#decided()
      return
    }
    if (this.#state === 'joined') this.#state = 'away'
    this.#options.onAway?.()
    this.#wait()
  }

  #lost({ message }: StatusError): StatusError {
    return new StatusError('UNAVAILABLE', `the scheduler takes no operations over any more: ${message}`)
  }

  /** From now on, unless it is so already. */
  #wait(): void {
    const { waitMs, waitKey, shownAs } = this.#options
    this.#timer ??= guardedTimeout(() => {
      const text = `${shownAs} could not be reached for ${waitMs / 1000} s (${waitKey})`
      this.#gaveUp = new StatusError('UNAVAILABLE', text)
      this.operations.fail(this.#gaveUp)
      this.#decided()
    }, waitMs)
  }

  #stopWaiting(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#gaveUp = undefined
  }

  #decided(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }
}
