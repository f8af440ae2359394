import type { Writable } from 'node:stream'
import { whenAborted } from '../../base/cancellation.js'
import type { Clock } from '../../base/clock.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Ledger } from '../../ledger/ledger.js'
import { statusOf } from '../../proto/error-details.js'
import type {
  FrontMessage,
  HandIn,
  SchedulingMessageInput,
  TermSeen,
} from '../../proto/generated/remexec.scheduler.v1.js'
import { instanceOfOperation } from '../../reapi/operation-name.js'
import { Room } from '../../work/room.js'
import { checkId, endOf, handedIn, newsOf } from '../handing-in.js'
import type { OperationState, Scheduler } from '../scheduler.js'

export interface FrontOptions {
  /** Throws if the front may not speak for the callers of that instance, or there is no such instance. */
  readonly schedulerOf: (instanceName: string) => Scheduler
  /** Whether the front says that it has an outcome. */
  readonly saysKept: boolean
  /** Counts what is watched for the front, as `operations`. */
  readonly ledger: Ledger
  readonly clock: Clock
  readonly responses: Writable
  /** Ends the stream of the front. */
  readonly fail: (error: StatusError) => void
  /** The front has handed in all that it held when it joined. */
  readonly onHoldingEnded?: () => void
  /** Whether a worker that runs an operation may still say so: until then nobody is told that it is not known. */
  readonly mayCome?: (() => boolean) | undefined
  /** What it answered when it was asked for the highest term it knows. */
  readonly onTermSeen?: (seen: TermSeen) => void
}

/** What a watched operation takes here, beside itself. */
const WATCH_BYTES = 1024
/** So many operations of a front may be looked up in the action cache at a time. Until then it is not read on. */
const MAX_LOOKUPS = 256

/** How often it is looked for what may still come. */
const AGAIN_MS = 200

/** A server that forwards actions, as the server with their scheduler sees it: a client of many operations. */
export class Front {
  readonly #options: FrontOptions
  /** Watched for the front, by id. */
  readonly #attended = new Map<string, AbortController>()
  /** Told their outcome, which the front has not confirmed yet: what lets go of it, by id. At most as many as are attended. */
  readonly #told = new Map<string, () => void>()
  readonly #room: Room
  #lookups = 0
  #wake = (): void => {}
  #isClosed = false

  constructor(options: FrontOptions) {
    this.#options = options
    this.#room = new Room(options.responses)
  }

  /** Resolves when the next message may be read. */
  async receive({ message, handIn, attend, leave, holdingEnded, kept, termSeen }: FrontMessage): Promise<void> {
    const { onHoldingEnded, onTermSeen } = this.#options
    if (handIn !== null) await this.#handIn(handIn)
    else if (attend !== null) this.#attend(attend.id, attend.instanceName)
    else if (leave !== null) this.#leave(leave.id)
    else if (kept !== null) this.#kept(kept.id)
    else if (holdingEnded !== null) onHoldingEnded?.()
    else if (termSeen !== null) onTermSeen?.(termSeen)
    else if (message === 'hello') throw new StatusError('INVALID_ARGUMENT', 'a second hello came on one stream')
    // Messages of a later version are skipped.
  }

  close(): void {
    this.#isClosed = true
    this.#room.close()
    for (const watch of this.#attended.values()) watch.abort()
    // The outcomes that it did not confirm are held here, for as long as finished operations are.
    for (const id of [...this.#told.keys()]) this.#kept(id)
    this.#wake()
  }

  async #handIn(message: HandIn): Promise<void> {
    const { id, isAttended } = message
    const { request, handed } = handedIn(message, this.#options.clock.now())
    let scheduler: Scheduler
    let name: string
    try {
      scheduler = this.#options.schedulerOf(request.instanceName)
      name = await scheduler.execute(request, handed)
    } catch (thrown) {
      const error = StatusError.from(thrown)
      // What a server says that stops is for nobody: the front hands in again.
      if (isStatus(error, 'UNAVAILABLE')) throw error
      await this.#send({ end: { id, error: statusOf(error) } })
      return
    }
    this.#watch(id, name, scheduler, isAttended)
    while (this.#lookups >= MAX_LOOKUPS && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #attend(id: string, instanceName: string): void {
    checkId(id)
    const scheduler = this.#options.schedulerOf(instanceName)
    // Its lookup may be watched already, but no further.
    this.#leave(id)
    this.#watch(id, scheduler.nameOf(instanceName, id), scheduler, true)
  }

  #kept(id: string): void {
    this.#told.get(id)?.()
    this.#told.delete(id)
  }

  #leave(id: string): void {
    this.#kept(id)
    this.#attended.get(id)?.abort()
    this.#attended.delete(id)
  }

  #watch(id: string, name: string, scheduler: Scheduler, isAttended: boolean): void {
    if (this.#attended.has(id)) return
    const { ledger } = this.#options
    const { operations } = ledger.kinds
    const reservation = operations.reserve(ledger.instance(instanceOfOperation(name)), WATCH_BYTES)
    if (reservation === undefined) {
      this.#refuse(id, operations.exhausted())
      return
    }
    const watch = new AbortController()
    this.#attended.set(id, watch)
    const ended = (): void => {
      reservation.release()
      if (this.#attended.get(id) === watch) this.#attended.delete(id)
    }
    this.#tell(id, name, scheduler, { watch, isAttended })
      .finally(ended)
      .catch((error: unknown) => this.#failed(id, StatusError.from(error)))
  }

  /** Until the end of the operation. One that nobody attends is watched until its lookup is over. */
  async #tell(
    id: string,
    name: string,
    scheduler: Scheduler,
    { watch, isAttended }: { readonly watch: AbortController; readonly isAttended: boolean },
  ): Promise<void> {
    const { clock } = this.#options
    let isLookup = false
    const lookup = (isNow: boolean): void => {
      if (isNow === isLookup) return
      isLookup = isNow
      this.#lookups += isNow ? 1 : -1
      if (this.#lookups < MAX_LOOKUPS) this.#wake()
    }
    lookup(true)
    try {
      for await (const state of this.#states(name, scheduler, watch.signal)) {
        lookup(state.stage === 'CACHE_CHECK')
        const { outcome } = state
        if (outcome === undefined) await this.#send({ news: newsOf(id, state, clock.now()) })
        else await this.#deliver(id, { end: endOf(id, state, outcome) })
        if (!isAttended && !isLookup) return
      }
    } finally {
      lookup(false)
    }
  }

  async *#states(name: string, scheduler: Scheduler, signal: AbortSignal): AsyncGenerator<OperationState> {
    try {
      yield* scheduler.watch(name, signal)
    } catch (error) {
      if (!isStatus(error, 'NOT_FOUND') || signal.aborted || this.#options.mayCome?.() !== true) throw error
      await passed(AGAIN_MS, signal)
      if (!signal.aborted) yield* this.#states(name, scheduler, signal)
    }
  }

  /** The outcome counts as delivered when the front says so: until then this is a client that waits. */
  async #deliver(id: string, end: SchedulingMessageInput): Promise<void> {
    const { saysKept } = this.#options
    const kept = saysKept && !this.#isClosed ? new Promise<void>((resolve) => this.#told.set(id, resolve)) : undefined
    await this.#send(end)
    await kept
  }

  async #send(message: SchedulingMessageInput): Promise<void> {
    const { responses } = this.#options
    if (this.#isClosed || responses.destroyed) return
    if (!responses.write(message)) await this.#room.free()
  }

  #refuse(id: string, error: StatusError): void {
    this.#send({ end: { id, error: statusOf(error) } }).catch((failure: unknown) => {
      this.#options.fail(StatusError.from(failure))
    })
  }

  #failed(id: string, error: StatusError): void {
    if (this.#isClosed) return
    const told = isStatus(error, 'NOT_FOUND') ? this.#send({ notKnown: { id } }) : Promise.reject(error)
    // The scheduler stops, or the front is gone: it joins again.
    told.catch((failure: unknown) => this.#options.fail(StatusError.from(failure)))
  }
}

/** Resolves also when the signal aborts. */
const passed = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = guardedTimeout(resolve, ms)
    whenAborted(signal, () => {
      clearTimeout(timer)
      resolve()
    })
  })
