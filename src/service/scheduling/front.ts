import type { Writable } from 'node:stream'
import type { Clock } from '../../base/clock.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import type { FrontMessage, HandIn, SchedulingMessageInput } from '../../proto/generated/remexec.scheduler.v1.js'
import { checkId, endOf, handedIn, newsOf } from '../../scheduler/handing-in.js'
import type { Scheduler } from '../../scheduler/scheduler.js'
import { Room } from '../../work/room.js'
import type { ExecutionInstance } from '../execution/instance.js'
import { type Instances, instanceOf } from '../instance.js'

export interface FrontOptions {
  readonly instances: Instances<Pick<ExecutionInstance, 'scheduler'>>
  readonly clock: Clock
  readonly responses: Writable
  /** Whether the front may speak for the callers of an instance. */
  readonly mayForward: (instanceName: string) => boolean
  /** Ends the stream of the front. */
  readonly fail: (error: StatusError) => void
}

/** The bound of operations that a front may attend at a time: twice what a queue takes by default. */
const MAX_ATTENDED = 200_000
/** So many operations of a front may be looked up in the action cache at a time. Until then it is not read on. */
const MAX_LOOKUPS = 256

/** A server that forwards actions, as the server with their scheduler sees it: a client of many operations. */
export class Front {
  readonly #options: FrontOptions
  /** Watched for the front, by id. */
  readonly #attended = new Map<string, AbortController>()
  readonly #room: Room
  #lookups = 0
  #wake = (): void => {}
  #isClosed = false

  constructor(options: FrontOptions) {
    this.#options = options
    this.#room = new Room(options.responses)
  }

  /** Resolves when the next message may be read. */
  async receive({ message, handIn, attend, leave }: FrontMessage): Promise<void> {
    if (handIn !== null) await this.#handIn(handIn)
    else if (attend !== null) this.#attend(attend.id, attend.instanceName)
    else if (leave !== null) this.#leave(leave.id)
    else if (message === 'hello') throw new StatusError('INVALID_ARGUMENT', 'a second hello came on one stream')
    // Messages of a later version are skipped.
  }

  close(): void {
    this.#isClosed = true
    this.#room.close()
    for (const watch of this.#attended.values()) watch.abort()
    this.#wake()
  }

  async #handIn(message: HandIn): Promise<void> {
    const { id, isAttended } = message
    const { request, handed } = handedIn(message, this.#options.clock.now())
    let scheduler: Scheduler
    let name: string
    try {
      scheduler = this.#schedulerOf(request.instanceName)
      name = await scheduler.execute(request, handed)
    } catch (thrown) {
      const error = StatusError.from(thrown)
      // What a server says that stops is for nobody: the front hands in again.
      if (isStatus(error, 'UNAVAILABLE')) throw error
      const { instanceName, actionDigest } = request
      const state = { name: '', instanceName, actionDigest, stage: 'COMPLETED', outcome: { error } } as const
      await this.#send({ end: endOf(id, state, { error }) })
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
    const scheduler = this.#schedulerOf(instanceName)
    // Its lookup may be watched already, but no further.
    this.#leave(id)
    this.#watch(id, scheduler.nameOf(instanceName, id), scheduler, true)
  }

  #schedulerOf(instanceName: string): Scheduler {
    const { instances, mayForward } = this.#options
    const { scheduler } = instanceOf(instances, instanceName)
    if (mayForward(instanceName)) return scheduler
    throw new StatusError(
      'PERMISSION_DENIED',
      `this server may not forward in instance ${JSON.stringify(instanceName)}`,
    )
  }

  #leave(id: string): void {
    this.#attended.get(id)?.abort()
    this.#attended.delete(id)
  }

  #watch(id: string, name: string, scheduler: Scheduler, isAttended: boolean): void {
    if (this.#attended.has(id)) return
    if (this.#attended.size >= MAX_ATTENDED) {
      throw new StatusError('RESOURCE_EXHAUSTED', `a front attends ${MAX_ATTENDED} operations, that is the most`)
    }
    const watch = new AbortController()
    this.#attended.set(id, watch)
    const ended = (): void => {
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
      for await (const state of scheduler.watch(name, watch.signal)) {
        lookup(state.stage === 'CACHE_CHECK')
        const { outcome } = state
        await this.#send(
          outcome === undefined ? { news: newsOf(id, state, clock.now()) } : { end: endOf(id, state, outcome) },
        )
        if (!isAttended && !isLookup) return
      }
    } finally {
      lookup(false)
    }
  }

  async #send(message: SchedulingMessageInput): Promise<void> {
    const { responses } = this.#options
    if (this.#isClosed || responses.destroyed) return
    if (!responses.write(message)) await this.#room.free()
  }

  #failed(id: string, error: StatusError): void {
    if (this.#isClosed) return
    const told = isStatus(error, 'NOT_FOUND') ? this.#send({ notKnown: { id } }) : Promise.reject(error)
    // The scheduler stops, or the front is gone: it joins again.
    told.catch((failure: unknown) => this.#options.fail(StatusError.from(failure)))
  }
}
