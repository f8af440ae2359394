import type { Clock } from '../../base/clock.js'
import type { StatusError } from '../../base/status-error.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Reservation } from '../../ledger/reservation.js'
import type { FrontMessageInput, SchedulingMessage } from '../../proto/generated/remexec.scheduler.v1.js'
import { idOfOperation, instanceOfOperation, unknownOperation } from '../../reapi/operation-name.js'
import { within } from '../../work/deadline.js'
import { handInOf, stateOfEnd, stateOfNews } from '../handing-in.js'
import { OPERATION_BYTES, operationBytes } from '../request-size.js'
import type { ExecutionRequest, HandedOperation, OperationState } from '../scheduler.js'
import { Watch } from '../watch.js'

export interface HeldOptions {
  /** Counts what the operations take, as `operations`. */
  readonly ledger: Ledger
  readonly clock: Clock
  /** Sends to the scheduler. Resolves when there is room for more. */
  readonly send: (message: FrontMessageInput) => Promise<void>
  readonly nameOf: (instanceName: string, id: string) => string
}

interface Held {
  readonly id: string
  readonly name: string
  readonly instanceName: string
  /** Undefined for an operation that another process handed in, and a client asks for. */
  readonly request: ExecutionRequest | undefined
  readonly watches: Set<Watch>
  readonly reservation: Reservation
  /** The newest of it; undefined until the scheduler has told something. */
  state: OperationState | undefined
  /** Its name at the scheduler. */
  remoteName: string | undefined
  /** True until it was handed in once: later the result may be there. */
  wasLookedUp?: boolean | undefined
  /** When the last client left. */
  leftMs: number
  /** The session that knows of it. */
  session: number
  /** Whether the scheduler believes that a client waits. */
  isAttended: boolean
}

/** An operation without clients is held for so long: they may come back, also to another scheduler process. */
const LEFT_FOR_MS = 60_000
/** How long the scheduler may take to tell of an operation that another server handed in. */
const ASK_MS = 10_000

/**
 * The unfinished operations of this server's clients. The scheduler may restart: what it does not know any more is handed in
 * again, with what it told of it last. So clients notice nothing but a pause.
 */
export class HeldOperations {
  readonly #options: HeldOptions
  readonly #byId = new Map<string, Held>()
  #session = 0
  #handedInAgain = 0
  #onEnded = (): void => {}
  #handingIn: Promise<void> = Promise.resolve()
  readonly #stopForgetting: () => void

  constructor(options: HeldOptions) {
    this.#options = options
    const { clock } = options
    this.#stopForgetting = clock.every(LEFT_FOR_MS / 4, () => {
      for (const held of this.#byId.values()) {
        if (held.watches.size > 0 || clock.now() - held.leftMs < LEFT_FOR_MS) continue
        this.#forget(held)
        this.#leave(held)
      }
    })
  }

  /** RESOURCE_EXHAUSTED if the unfinished ones of this instance, or of all, take too much memory. */
  begin({ id, past, wasLookedUp }: HandedOperation, request: ExecutionRequest): string {
    const { instanceName, actionDigest } = request
    const name = this.#options.nameOf(instanceName, id)
    if (this.#byId.has(id)) return name
    const state = { name, instanceName, actionDigest, stage: 'QUEUED', outcome: undefined, past } as const
    this.#add({ id, name, instanceName, request, state, wasLookedUp })
    return name
  }

  async *watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState> {
    const instanceName = instanceOfOperation(name)
    const id = idOfOperation(name)
    const held = this.#byId.get(id) ?? this.#add({ id, name, instanceName, request: undefined, state: undefined })
    const watch = new Watch(held.state)
    held.watches.add(watch)
    this.#attend(held)
    try {
      yield* watch.states(signal)
    } finally {
      held.watches.delete(watch)
      if (held.watches.size === 0) this.#left(held)
    }
  }

  /** The name at the scheduler; undefined if that has not told it yet. Asks for an operation that is not held, and rejects with
   * NOT_FOUND if there is none.
   */
  async askedName(name: string): Promise<string | undefined> {
    const held = this.#byId.get(idOfOperation(name))
    if (held !== undefined) return held.remoteName
    for await (const _ of this.watch(name, AbortSignal.timeout(ASK_MS)))
      return this.#byId.get(idOfOperation(name))?.remoteName
    return undefined
  }

  /** The newest state, without asking. */
  stateOf(name: string): OperationState | undefined {
    return this.#byId.get(idOfOperation(name))?.state
  }

  /** How many of them were handed in once more so far, as to another scheduler process. */
  get handedInAgain(): number {
    return this.#handedInAgain
  }

  /** The scheduler is there, and may be another process than before. */
  joined(): void {
    this.#session += 1
    const session = this.#session
    // After those of an earlier session have noticed that it is over.
    this.#handingIn = this.#handingIn.then(() => this.#handInAll(session))
  }

  heard({ news, end, notKnown }: SchedulingMessage): void {
    if (news !== null) {
      const held = this.#byId.get(news.id)
      if (held === undefined) return
      held.remoteName = news.name
      this.#publish(held, stateOfNews(news, { ...held, nowMs: this.#options.clock.now() }))
    } else if (end !== null) {
      const held = this.#byId.get(end.id)
      if (held !== undefined) this.#end(held, stateOfEnd(end, held))
      void this.#options.send({ kept: { id: end.id } })
    } else if (notKnown !== null) {
      const held = this.#byId.get(notKnown.id)
      if (held !== undefined) this.#unknown(held)
    }
  }

  /** Ends all operations with this error, as their clients see it. */
  fail(error: StatusError): void {
    for (const held of this.#byId.values()) {
      this.#forget(held)
      for (const watch of held.watches) watch.fail(error)
    }
  }

  /** Ends one operation here; false if it is not held. */
  end(name: string, error: StatusError): boolean {
    const held = this.#byId.get(idOfOperation(name))
    if (held?.state === undefined) return false
    const { instanceName, state } = held
    this.#end(held, { name, instanceName, actionDigest: state.actionDigest, stage: 'COMPLETED', outcome: { error } })
    return true
  }

  /** Resolves when no client waits for an operation, or after `limitMs`. */
  async idle(limitMs: number): Promise<void> {
    const isBusy = (): boolean => [...this.#byId.values()].some(({ watches }) => watches.size > 0)
    if (!isBusy()) return
    const idle = new Promise<void>((resolve) => {
      this.#onEnded = () => {
        if (!isBusy()) resolve()
      }
    })
    await within(limitMs, idle)
    this.#onEnded = () => {}
  }

  close(): void {
    this.#stopForgetting()
  }

  #add(parts: Pick<Held, 'id' | 'name' | 'instanceName' | 'request' | 'state' | 'wasLookedUp'>): Held {
    const { ledger, clock } = this.#options
    const { request, instanceName } = parts
    const sizeBytes = request === undefined ? OPERATION_BYTES : operationBytes(request)
    const reservation = ledger.kinds.operations.reserveOrThrow(ledger.instance(instanceName), sizeBytes)
    const unattended = {
      watches: new Set<Watch>(),
      remoteName: undefined,
      leftMs: clock.now(),
      session: 0,
      isAttended: false,
    }
    const held: Held = { ...parts, ...unattended, reservation }
    this.#byId.set(held.id, held)
    // Its client is about to wait for it.
    if (held.request !== undefined) void this.#tell(held, this.#session, true)
    return held
  }

  #attend(held: Held): void {
    if (held.isAttended) return
    held.isAttended = true
    held.session = this.#session
    void this.#options.send({ attend: { id: held.id, instanceName: held.instanceName } })
  }

  #leave(held: Held): void {
    if (!held.isAttended) return
    held.isAttended = false
    void this.#options.send({ leave: { id: held.id } })
  }

  #left(held: Held): void {
    held.leftMs = this.#options.clock.now()
    if (this.#byId.get(held.id) !== held) return
    this.#leave(held)
    if (held.request === undefined) this.#forget(held)
  }

  async #handInAll(session: number): Promise<void> {
    // Those that clients begin meanwhile are told by themselves.
    for (const held of [...this.#byId.values()]) {
      if (session !== this.#session) return
      if (held.session === session || this.#byId.get(held.id) !== held) continue
      if (held.session > 0 && held.request !== undefined) this.#handedInAgain++
      await this.#tell(held, session)
    }
    if (session === this.#session) await this.#options.send({ holdingEnded: {} })
  }

  #tell(held: Held, session: number, isAttended = held.watches.size > 0): Promise<void> {
    const { clock, send } = this.#options
    const { id, request, instanceName, state, wasLookedUp = false } = held
    held.wasLookedUp = false
    held.session = session
    held.isAttended = isAttended
    if (request === undefined) return send({ attend: { id, instanceName } })
    const told = { isAttended, nowMs: clock.now() }
    return send({ handIn: handInOf({ id, past: state?.past, wasLookedUp }, request, told) })
  }

  #publish(held: Held, state: OperationState): void {
    held.state = state
    for (const watch of held.watches) watch.publish(state)
  }

  #forget(held: Held): void {
    if (this.#byId.delete(held.id)) held.reservation.release()
  }

  #end(held: Held, state: OperationState): void {
    this.#forget(held)
    this.#publish(held, state)
    this.#onEnded()
  }

  /** The scheduler forgot an operation that it had, or it never had the one that a client asks for. */
  #unknown(held: Held): void {
    if (held.request !== undefined) {
      void this.#tell(held, this.#session)
      return
    }
    this.#forget(held)
    for (const watch of held.watches) watch.fail(unknownOperation(held.name))
  }
}
