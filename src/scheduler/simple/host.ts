import type { Clock } from '../../base/clock.js'
import type { HealthProbe, HealthStatus } from '../../base/health.js'
import type { Log } from '../../base/log.js'
import { StatusError } from '../../base/status-error.js'
import type { Tracer } from '../../base/trace.js'
import { within } from '../../base/work/deadline.js'
import type { Digest } from '../../reapi/digest.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type { Scheduler, Settle, WorkerLink, WorkerSession } from '../scheduler.js'
import { SimpleScheduler } from './machine.js'
import type { SchedulerActivity, SchedulerMeter } from './meter.js'
import type { SimpleSettings } from './settings.js'
import type { ActionRequest, Command, OperationState, Outcome, WorkerOffer } from './state/state.js'
import { Watch } from './watch.js'

const TICK_MS = 250

export interface HostOptions {
  /** As configured: names it in the health report. */
  readonly name: string
  readonly settings: SimpleSettings
  readonly clock: Clock
  readonly log: Log
  readonly meter?: SchedulerMeter
  readonly tracer?: Tracer | undefined
  /** Text that was never given before, without slashes: the tail of worker ids. */
  readonly newId: () => string
}

/** Runs the state machine: gives it the time and carries its commands out to watchers and workers. */
export class SchedulerHost implements Scheduler {
  readonly keepAliveIntervalMs: number
  readonly probe: HealthProbe
  readonly #machine: SimpleScheduler
  readonly #options: HostOptions
  readonly #watches = new Map<string, Set<Watch>>()
  readonly #links = new Map<string, WorkerLink>()
  readonly #settles = new Map<string, Settle>()
  #waiting: Command[] = []
  #isApplying = false
  #settling = 0
  #onIdle: (() => void) | undefined
  readonly #stopTicking: () => void

  constructor(options: HostOptions) {
    const { name, settings, clock } = options
    this.#options = options
    this.#machine = new SimpleScheduler(settings, options.meter)
    this.keepAliveIntervalMs = Math.max(1, Math.floor(settings.workerTimeoutMs / 3))
    this.#stopTicking = clock.every(TICK_MS, () => this.#apply(this.#machine.tick(clock.now())))
    this.probe = {
      namespace: `/schedulers/${name}`,
      component: `scheduler/${name}`,
      structName: SimpleScheduler.name,
      check: async () => this.#health(),
    }
  }

  /** What occupies it now. */
  activity(): SchedulerActivity {
    return this.#machine.activity(this.#nowMs)
  }

  checkPlatform(properties: readonly PlatformProperty[]): void {
    this.#machine.checkPlatform(properties)
  }

  open(name: string, instanceName: string, actionDigest: Digest): void {
    this.#apply(this.#machine.open(this.#nowMs, name, instanceName, actionDigest))
  }

  enqueue(name: string, request: ActionRequest, settle: Settle): void {
    this.#settles.set(name, settle)
    try {
      this.#apply(this.#machine.enqueue(this.#nowMs, name, request))
    } catch (error) {
      this.#settles.delete(name)
      this.complete(name, { error: StatusError.from(error) })
    }
  }

  complete(name: string, outcome: Outcome): void {
    this.#apply(this.#machine.complete(this.#nowMs, name, outcome))
  }

  watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState> | undefined {
    const state = this.#machine.get(name)
    return state === undefined ? undefined : this.#watch(state, signal)
  }

  get(name: string): OperationState | undefined {
    this.#apply(this.#machine.touched(this.#nowMs, name))
    return this.#machine.get(name)
  }

  operations(): Iterable<OperationState> {
    return this.#machine.operations()
  }

  cancel(name: string): boolean {
    if (this.#machine.get(name) === undefined) return false
    this.#apply(this.#machine.cancel(this.#nowMs, name))
    return true
  }

  delete(name: string): boolean {
    if (this.#machine.get(name) === undefined) return false
    this.#apply(this.#machine.delete(this.#nowMs, name))
    return true
  }

  connectWorker(
    offer: WorkerOffer,
    previous: { readonly workerId: string; readonly attemptIds: readonly string[] },
    link: WorkerLink,
  ): WorkerSession {
    const workerId = previous.workerId === '' ? `${offer.name}-${this.#options.newId()}` : previous.workerId
    const commands = this.#machine.workerConnected(this.#nowMs, workerId, offer, previous.attemptIds)
    this.#closeLink(workerId, new StatusError('ABORTED', `worker ${workerId} connected again`))
    this.#links.set(workerId, link)
    this.#options.log.info('a worker connected', { worker: workerId, attempts: previous.attemptIds.length })
    link.welcome(workerId)
    this.#apply(commands)
    return this.#session(workerId, link)
  }

  drain(): void {
    this.#apply(this.#machine.drain(this.#nowMs))
  }

  /** Resolves when no worker runs an action any more and every outcome is settled, or after `limitMs`. */
  async idle(limitMs: number): Promise<void> {
    if (this.#isIdle) return
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    await within(limitMs, idle)
  }

  /** Ends every watch and connection with UNAVAILABLE. What ran is lost with this process. */
  close(): void {
    this.#stopTicking()
    const error = new StatusError('UNAVAILABLE', 'the scheduler has stopped')
    for (const watches of this.#watches.values()) for (const watch of watches) watch.fail(error)
    for (const workerId of [...this.#links.keys()]) this.#closeLink(workerId, error)
  }

  get #isIdle(): boolean {
    return this.#machine.workers.running === 0 && this.#settling === 0
  }

  get #nowMs(): number {
    return this.#options.clock.now()
  }

  #session(workerId: string, link: WorkerLink): WorkerSession {
    const machine = this.#machine
    // A connection that was replaced has no say any more.
    const say = (event: (nowMs: number) => Command[]): void => {
      if (this.#links.get(workerId) === link) this.#apply(event(this.#nowMs))
    }
    return {
      workerId,
      keepAlive: () => say((nowMs) => machine.keepAlive(nowMs, workerId)),
      progress: (attemptId, stage) => say((nowMs) => machine.progress(nowMs, workerId, attemptId, stage)),
      report: (attemptId, response) => say((nowMs) => machine.report(nowMs, workerId, attemptId, response)),
      workerError: (attemptId, error) => say((nowMs) => machine.workerError(nowMs, workerId, attemptId, error)),
      refuse: (attemptId, error) => say((nowMs) => machine.refuse(nowMs, workerId, attemptId, error)),
      goingAway: () => say((nowMs) => machine.goingAway(nowMs, workerId)),
      disconnected: () =>
        say((nowMs) => {
          this.#links.delete(workerId)
          this.#options.log.info('a worker disconnected', { worker: workerId })
          return machine.workerDisconnected(nowMs, workerId)
        }),
    }
  }

  async *#watch(now: OperationState, signal: AbortSignal): AsyncGenerator<OperationState> {
    const { name } = now
    const watch = new Watch(this.#machine.get(name) ?? now)
    const watches = this.#watches.get(name) ?? new Set()
    this.#watches.set(name, watches.add(watch))
    this.#apply(this.#machine.clientAttached(this.#nowMs, name))
    try {
      yield* watch.states(signal)
    } finally {
      watches.delete(watch)
      if (watches.size === 0) this.#watches.delete(name)
      this.#apply(this.#machine.clientDetached(this.#nowMs, name))
    }
  }

  /** In order, also when carrying one out leads to further events. */
  #apply(commands: readonly Command[]): void {
    for (const command of commands) this.#waiting.push(command)
    if (this.#isApplying) return
    this.#isApplying = true
    for (const command of this.#waiting) {
      try {
        this.#carryOut(command)
      } catch (error) {
        // What one worker or watcher makes of it must not keep the rest from being carried out.
        this.#options.log.error('a scheduler command failed', { command: command.kind, error })
      }
    }
    this.#waiting = []
    this.#isApplying = false
    if (this.#onIdle !== undefined && this.#isIdle) this.#onIdle()
  }

  #carryOut(command: Command): void {
    const { log } = this.#options
    switch (command.kind) {
      case 'publish':
        for (const watch of this.#watches.get(command.state.name) ?? []) watch.publish(command.state)
        return
      case 'settle':
        void this.#settle(command)
        return
      case 'abandon':
        this.#settles.delete(command.executionId)
        return
      case 'joined':
        command.request.joined?.(command.run)
        return
      case 'log':
        log[command.level](command.message)
        return
      case 'evict':
        this.#closeLink(command.workerId, command.error)
        return
      default:
        this.#tellWorker(command)
    }
  }

  #tellWorker(command: Extract<Command, { kind: 'start' | 'kill' | 'acknowledge' | 'drain' }>): void {
    const link = this.#links.get(command.workerId)
    if (command.kind === 'start') {
      const { attemptId, actionDigest } = command.start
      this.#showWait(command)
      this.#options.log.debug('an action was given to a worker', () => ({
        ...{ attempt: attemptId, digest: actionDigest.key, worker: command.workerId },
      }))
      link?.start(command.start)
    }
    if (command.kind === 'kill') link?.kill(command.attemptId)
    if (command.kind === 'acknowledge') link?.acknowledge(command.attemptId)
    if (command.kind === 'drain') link?.drain()
  }

  /** How long an action was in the queue, in the trace of who asked for it. */
  #showWait({ start, workerId }: Extract<Command, { kind: 'start' }>): void {
    const { tracer, name } = this.#options
    const { trace: parent, waitingSinceMs: startMs, attemptId } = start
    if (parent === undefined) return
    const attributes = { 'remexec.scheduler': name, 'remexec.worker': workerId, 'remexec.attempt': attemptId }
    tracer?.begin('queue', { parent, startMs, attributes })?.end()
  }

  #closeLink(workerId: string, error: StatusError): void {
    const link = this.#links.get(workerId)
    this.#links.delete(workerId)
    link?.close(error)
  }

  async #settle({ executionId, response }: Extract<Command, { kind: 'settle' }>): Promise<void> {
    const settle = this.#settles.get(executionId)
    this.#settles.delete(executionId)
    this.#settling += 1
    let outcome: Outcome
    try {
      outcome = { response: settle === undefined ? response : await settle(response) }
    } catch (error) {
      outcome = { error: StatusError.from(error) }
    }
    this.#settling -= 1
    this.#apply(this.#machine.settled(this.#nowMs, executionId, outcome))
  }

  #health(): HealthStatus {
    const { connected, running, queued, unmatched } = this.#machine.workers
    const stranded = unmatched === 0 ? '' : `, ${unmatched} of them for which there is no worker`
    const message = `${connected} workers connected, ${running} attempts running, ${queued} actions queued${stranded}`
    const isFine = connected > 0 && unmatched === 0
    return { state: isFine ? 'Ok' : 'Warning', message }
  }
}
