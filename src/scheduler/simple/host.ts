import type { Clock } from '../../base/clock.js'
import type { HealthProbe } from '../../base/health.js'
import { StatusError } from '../../base/status-error.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import { codec } from '../../proto/codec.js'
import { operationName, unknownOperation } from '../../reapi/operation-name.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import type { Tracer } from '../../rpc/trace.js'
import { within } from '../../work/deadline.js'
import { inBackground } from '../../work/in-background.js'
import { operationBytes } from '../request-size.js'
import type {
  ActionResults,
  BroughtAttempt,
  ExecutionRequest,
  HandedOperation,
  ListedOperation,
  OperationPast,
  OperationState,
  Outcome,
  Scheduler,
  SchedulerOperator,
  WorkerLink,
  WorkerOffer,
  WorkerPast,
  WorkerPool,
  WorkerSession,
} from '../scheduler.js'
import { Watch, Watches } from '../watch.js'
import { ActionLog } from './action-log.js'
import { healthOf } from './health.js'
import { WorkerLinks } from './links.js'
import { SimpleScheduler } from './machine.js'
import type { SchedulerActivity, SchedulerMeter } from './meter.js'
import { overview } from './overview.js'
import { PrintedOutputs } from './printed-outputs.js'
import { eventsOf } from './session.js'
import type { SimpleSettings } from './settings.js'
import type { Command } from './state/state.js'
import { Wakes } from './warm/wakes.js'

const TICK_MS = 250
/** A tick that is later than this tells that the process was held up, on a machine without a free processor or by a collection. */
const HELD_UP_MS = 500

/** The office of the leader of several servers. */
export interface HostOffice {
  readonly epoch: number
  /** Of all servers: the keys of workers are made of it, so that each leader can check them. */
  readonly secret: string
  /** Whether the leader knows now that it still leads. Until then it tells nobody anything. */
  readonly mayAct: () => boolean
}

export interface HostOptions {
  /** The scheduler's name in the configuration and in the health report. */
  readonly name: string
  readonly settings: SimpleSettings
  readonly clock: Clock
  readonly log: Log
  readonly meter?: SchedulerMeter
  readonly tracer?: Tracer | undefined
  readonly results: ActionResults
  /** Counts the memory held by finished operations. */
  readonly ledger?: Ledger
  /** The share of ended actions, 0 to 1, whose log line is at level info instead of debug. Default 0. */
  readonly shownShare?: number | undefined
  /** Returns a new unique text without slashes: the last part of operation names and worker ids. */
  readonly newId: () => string
  /** One of several servers with one queue leads: the rest of what it needs. */
  readonly office?: HostOffice | undefined
}

/**
 * The kind `simple`. An **execution** is what is queued: identical actions of one instance share one
 * execution. Each client has its own operation, so a cancel ends one operation, and the run only when no
 * other operation waits for it. Each run of an execution on a worker is an **attempt**. A lost worker, a
 * worker error or a stuck attempt causes another attempt, up to `max_job_retries`; then the last error is the
 * outcome.
 *
 * `machine.ts` is a state machine without I/O: it takes timed events and returns commands. The host supplies
 * the time and executes the commands:
 *
 *   publish      show an operation's new state to its watchers
 *   settle       cache a result before clients see it
 *   start        send an attempt to a worker; kill: stop it; acknowledge: confirm its result
 *   drain        ask a worker to finish; evict: close its connection
 *   ended        log what became of an action
 *   log          write a log line
 *
 * Folders: `state/` holds the entities and the clients' half (`operations.ts`: names, watchers, retention),
 * `queue/` holds waiting executions and their order, `workers/` assigns executions to workers.
 */
export class SchedulerHost implements Scheduler, WorkerPool {
  readonly keepAliveIntervalMs: number
  readonly probe: HealthProbe
  readonly #machine: SimpleScheduler
  readonly #options: HostOptions
  readonly #watches = new Watches()
  readonly #actionLog: ActionLog
  readonly #links: WorkerLinks
  readonly #printed: PrintedOutputs
  #waiting: Command[] = []
  #isApplying = false
  #settling = 0
  #onIdle: (() => void) | undefined
  readonly #stopTicking: () => void
  readonly #wakes: Wakes
  #tickedMs: number

  constructor(options: HostOptions) {
    const { name, settings, clock } = options
    this.#options = options
    this.#actionLog = new ActionLog(options)
    this.#machine = new SimpleScheduler(settings, options.meter, options.ledger, options.office?.epoch)
    const isKnown = (workerId: string): boolean => this.#machine.hasWorker(workerId)
    this.#links = new WorkerLinks({ ...options, isKnown, secret: options.office?.secret })
    if (options.office !== undefined) this.#machine.hold()
    this.#printed = new PrintedOutputs()
    this.keepAliveIntervalMs = Math.max(1, Math.floor(settings.workerTimeoutMs / 3))
    this.#tickedMs = clock.now()
    this.#stopTicking = clock.every(TICK_MS, () => this.#tick(clock.now()))
    this.#wakes = new Wakes(clock, () => this.#apply(this.#machine.tick(clock.now())))
    this.probe = {
      namespace: `/schedulers/${name}`,
      component: `scheduler/${name}`,
      structName: 'SimpleScheduler',
      check: async () => healthOf(this.#machine),
    }
  }

  #tick(nowMs: number): void {
    const lateMs = nowMs - this.#tickedMs - TICK_MS
    this.#tickedMs = nowMs
    if (lateMs > HELD_UP_MS) this.#machine.heldUp(lateMs)
    this.#apply(this.#machine.tick(nowMs))
  }

  /** What the queue and the workers are busy with. */
  activity(): SchedulerActivity {
    return this.#machine.activity(this.#nowMs)
  }

  get workers(): WorkerPool {
    return this
  }

  get operator(): SchedulerOperator {
    return {
      overview: () => overview(this.#machine, this.#actionLog.failed),
      drainWorker: (workerId) => this.#onWorker(workerId, () => this.#machine.drainWorker(this.#nowMs, workerId)),
      printed: async (attemptId, offsets) => {
        const link = this.#linkOf(attemptId)
        return link && this.#printed.ask(link, attemptId, offsets)
      },
      printedBy: async (operation, offsets) => {
        const attempt = this.#machine.attemptOf(operation)
        const link = attempt && this.#links.of(attempt.workerId)
        if (attempt === undefined || link === undefined) return undefined
        return { attemptId: attempt.id, printed: await this.#printed.ask(link, attempt.id, offsets) }
      },
      undrainWorker: (workerId) => this.#onWorker(workerId, () => this.#machine.undrainWorker(this.#nowMs, workerId)),
    }
  }

  async checkPlatform(properties: readonly PlatformProperty[]): Promise<void> {
    this.#machine.checkPlatform(properties)
  }

  async execute(request: ExecutionRequest, handed?: HandedOperation): Promise<string> {
    const { instanceName, actionDigest, refusal, doNotCache, skipCacheLookup } = request
    const name = this.nameOf(instanceName, handed?.id ?? this.#options.newId())
    if (handed !== undefined && this.#machine.has(name)) return name
    this.#apply(this.#machine.open(this.#nowMs, name, instanceName, actionDigest, operationBytes(request)))
    if (refusal !== undefined) this.#complete(name, { error: refusal })
    // A worker that has the attempt may come at any moment.
    else if (doNotCache || skipCacheLookup || handed?.wasLookedUp === true || handed?.past?.running !== undefined)
      this.#enqueue(name, request, handed?.past)
    else inBackground(this.#lookUp(name, request, handed?.past), this.#options.log, 'the lookup of an action result')
    return name
  }

  nameOf(instanceName: string, id: string): string {
    return operationName(instanceName, `${encodeURIComponent(this.#options.name)}/${id}`)
  }

  async *watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState> {
    const state = this.#machine.get(name)
    if (state === undefined) throw unknownOperation(name)
    yield* this.#watch(state, signal)
  }

  async get(name: string): Promise<OperationState | undefined> {
    this.#apply(this.#machine.touched(this.#nowMs, name))
    return this.#machine.explained(name)
  }

  async *operations(instanceName: string, after: string): AsyncIterable<ListedOperation> {
    yield* this.#machine.operations(instanceName, after)
  }

  async cancel(name: string): Promise<boolean> {
    if (this.#machine.get(name) === undefined) return false
    this.#apply(this.#machine.cancel(this.#nowMs, name))
    return true
  }

  async delete(name: string): Promise<boolean> {
    if (this.#machine.get(name) === undefined) return false
    this.#apply(this.#machine.delete(this.#nowMs, name))
    return true
  }

  connectWorker(offer: WorkerOffer, previous: WorkerPast, link: WorkerLink): WorkerSession {
    const workerId = this.#links.idOf(offer, previous)
    const past = { attemptIds: previous.attemptIds, brought: this.#ours(previous.brought) }
    const commands = this.#machine.workerConnected(this.#nowMs, workerId, offer, past)
    this.#options.log.info('a worker connected', { worker: workerId, attempts: previous.attemptIds.length })
    this.#links.open(workerId, link)
    this.#apply(commands)
    return this.#session(workerId, link)
  }

  get epoch(): number {
    return this.#options.office?.epoch ?? 0
  }

  /** All servers and workers had time to tell what they have: from now on actions are started. */
  release(): void {
    this.#apply(this.#machine.release(this.#nowMs))
  }

  drain(): void {
    this.#apply(this.#machine.drain(this.#nowMs))
  }

  /** Resolves when no worker runs an action and every outcome is settled, or after `limitMs`. */
  async idle(limitMs: number): Promise<void> {
    if (this.#isIdle) return
    const idle = new Promise<void>((resolve) => {
      this.#onIdle = resolve
    })
    await within(limitMs, idle)
  }

  /** Ends every watch and every worker connection with UNAVAILABLE. Running attempts are lost with this process. */
  close(): void {
    this.#stopTicking()
    this.#wakes.close()
    const error = new StatusError('UNAVAILABLE', 'the scheduler has stopped')
    this.#watches.fail(error)
    this.#links.closeAll(error)
  }

  #linkOf(attemptId: string): WorkerLink | undefined {
    for (const { id, attempts } of this.#machine.inspect().workers.all)
      for (const attempt of attempts) if (attempt.id === attemptId) return this.#links.of(id)
    return undefined
  }

  #onWorker(workerId: string, event: () => Command[] | undefined): boolean {
    const commands = this.#links.has(workerId) ? event() : undefined
    if (commands !== undefined) this.#apply(commands)
    return commands !== undefined
  }

  get #isIdle(): boolean {
    return this.#machine.workers.running === 0 && this.#settling === 0
  }

  get #nowMs(): number {
    return this.#options.clock.now()
  }

  /** Keeps the attempts whose operation a scheduler of this name started. */
  #ours(brought: WorkerPast['brought']): ReadonlyMap<string, BroughtAttempt> {
    const prefix = `${encodeURIComponent(this.#options.name)}/`
    const isOurs = ({ operationName: name, request }: BroughtAttempt): boolean =>
      name.startsWith(operationName(request.instanceName, prefix))
    return new Map([...(brought ?? [])].filter(([, attempt]) => isOurs(attempt)))
  }

  #session(workerId: string, link: WorkerLink): WorkerSession {
    // Events of a replaced connection are ignored.
    const say = (event: (nowMs: number) => Command[]): void => {
      if (this.#links.isOf(workerId, link)) this.#apply(event(this.#nowMs))
    }
    return {
      ...eventsOf(this.#machine, workerId, say),
      printed: (id, printed) => this.#printed.answered(link, id, printed),
      disconnected: () =>
        say((nowMs) => {
          this.#links.lost(workerId)
          this.#options.log.info('a worker disconnected', { worker: workerId })
          return this.#machine.workerDisconnected(nowMs, workerId)
        }),
    }
  }

  async *#watch(now: OperationState, signal: AbortSignal): AsyncGenerator<OperationState> {
    const { name } = now
    const watch = new Watch(this.#machine.explained(name) ?? now)
    this.#watches.add(name, watch)
    this.#apply(this.#machine.clientAttached(this.#nowMs, name))
    try {
      yield* watch.states(signal)
    } finally {
      this.#watches.remove(name, watch)
      this.#apply(this.#machine.clientDetached(this.#nowMs, name))
    }
  }

  /** Executes commands in order. A command may cause further events: their commands run after the pending ones. */
  #apply(commands: readonly Command[]): void {
    for (const command of commands) this.#waiting.push(command)
    // The next tick tries again.
    if (this.#isApplying || this.#options.office?.mayAct() === false) return
    this.#isApplying = true
    for (const command of this.#waiting) {
      try {
        this.#carryOut(command)
      } catch (error) {
        // A failure of one worker or watcher must not stop the remaining commands.
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
        this.#watches.publish(command.state)
        return
      case 'settle':
        inBackground(this.#settle(command), log, 'the end of an execution')
        return
      case 'ended':
        this.#actionLog.ended(command.ended)
        return
      case 'wake':
        this.#wakes.at(command.atMs)
        return
      case 'log':
        log[command.level](command.message)
        return
      case 'evict':
        this.#links.close(command.workerId, command.error)
        return
      default:
        if (command.kind === 'start') this.#actionLog.started(command)
        this.#links.send(command)
    }
  }

  /**
   * Completes the operation from the action cache, or queues it. Continues if the client disconnects; never
   * rejects.
   */
  async #lookUp(name: string, request: ExecutionRequest, past: OperationPast | undefined): Promise<void> {
    const result = await this.#options.results.find(request)
    if (result === undefined) this.#enqueue(name, request, past)
    else this.#complete(name, { response: { ...NO_RESPONSE, cachedResult: true, result } })
  }

  #enqueue(name: string, request: ExecutionRequest, past: OperationPast | undefined): void {
    try {
      this.#apply(this.#machine.enqueue(this.#nowMs, name, request, past))
    } catch (error) {
      this.#complete(name, { error: StatusError.from(error) })
    }
  }

  #complete(name: string, outcome: Outcome): void {
    this.#apply(this.#machine.complete(this.#nowMs, name, outcome))
  }

  async #settle({ executionId, request, response, run }: Extract<Command, { kind: 'settle' }>): Promise<void> {
    this.#settling += 1
    const kept = await this.#options.results.keep(request, response, run)
    this.#settling -= 1
    this.#apply(this.#machine.settled(this.#nowMs, executionId, { response: kept }, run))
  }
}

const NO_RESPONSE = codec('build.bazel.remote.execution.v2.ExecuteResponse').decode(Buffer.alloc(0))
