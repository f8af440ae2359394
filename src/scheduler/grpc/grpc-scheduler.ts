import type { Clock } from '../../base/clock.js'
import type { HealthProbe } from '../../base/health.js'
import { counted, countText } from '../../base/quantities.js'
import { StatusError } from '../../base/status-error.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import { REQUEST_METADATA } from '../../proto/request-metadata.js'
import { idOfOperation, instanceOfOperation, operationName, unknownOperation } from '../../reapi/operation-name.js'
import { connectionHealth } from '../../store/remote/connection-health.js'
import { Way } from '../fronts/way.js'
import type {
  ActionResults,
  ExecutionRequest,
  HandedOperation,
  ListedOperation,
  OperationState,
  Outcome,
  QueueElsewhere,
  Scheduler,
  SchedulerOverview,
} from '../scheduler.js'
import { Answered } from './answered.js'
import { stateOf } from './operation-state.js'
import type { OperationStream, RemoteExecution } from './remote-execution.js'
import { RemoteQueue } from './remote-queue.js'
import { toldBy } from './told-state.js'

export interface GrpcSchedulerOptions {
  /** The scheduler's name in the configuration. */
  readonly name: string
  readonly remote: RemoteExecution
  readonly results: ActionResults
  readonly ledger: Ledger
  readonly clock: Clock
  readonly newId: () => string
  readonly log: Log
  /** How long operations and their clients wait for a scheduler that cannot be reached. */
  readonly waitMs: number
}

const HEALTH_PATIENCE_MS = 5_000

/** Not the name of the class, which a bundler may change. */
const STRUCT_NAME = 'GrpcScheduler'

/**
 * Forwards to another server. If that is a server of this release, unfinished operations are held here and outlive its
 * restart (`held-operations.ts`). To any other, actions are forwarded by Execute: their names contain the remote name, so
 * nothing is stored about them. Operations answered from an action cache, or rejected, are stored here for a while.
 */
export class GrpcScheduler implements Scheduler {
  readonly workers = undefined
  readonly operator = undefined
  readonly elsewhere: QueueElsewhere
  readonly probe: HealthProbe
  readonly #options: GrpcSchedulerOptions
  /** Streams that `execute` opened. The first `watch` of the operation takes its stream. */
  readonly #begun = new Map<string, OperationStream>()
  readonly #answered: Answered
  readonly #way: Way
  readonly #stopped = new AbortController()
  #isDraining = false

  constructor(options: GrpcSchedulerOptions) {
    const { name, remote, clock } = options
    this.#options = options
    this.#answered = new Answered(clock)
    const connection = {
      ...{ name: remote.backend, structName: STRUCT_NAME, timeoutMs: HEALTH_PATIENCE_MS },
      ping: (signal: AbortSignal) => remote.ping(signal),
      failureOf: (thrown: unknown) => remote.failureOf(thrown),
    }
    this.#way = new Way({
      ...{ backend: remote.backend, ledger: options.ledger, clock, log: options.log, waitMs: options.waitMs },
      waitKey: 'scheduler_wait_s',
      shownAs: `the scheduler at ${remote.backend}`,
      open: (signal) => remote.join(signal),
      failureOf: (thrown) => remote.failureOf(thrown),
      nameOf: (instanceName, id) => this.nameOf(instanceName, id),
    })
    this.elsewhere = new RemoteQueue({
      backend: remote.backend,
      clock,
      ask: async (signal) => toldBy(await remote.state(signal), clock.now()),
      tellsPrinted: () => this.#way.isJoined,
      printed: async ({ operation, ...asked }, signal) => {
        if (operation === undefined) return remote.printed(asked, signal)
        const remoteName = await this.#remoteNameOf(operation)
        return remoteName === undefined ? undefined : remote.printed({ ...asked, operation: remoteName }, signal)
      },
      failureOf: (thrown) => remote.failureOf(thrown),
    })
    this.probe = {
      namespace: `/schedulers/${name}`,
      component: `scheduler/${name}`,
      structName: STRUCT_NAME,
      check: async (signal) => {
        const [status] = await Promise.all([connectionHealth(connection, signal), this.elsewhere.refresh()])
        if (status.state !== 'Ok') return status
        return { ...status, message: `executions go to ${remote.backend}${inWords(this.elsewhere.overview())}` }
      },
    }
  }

  /** The remote server checks the properties. */
  async checkPlatform(): Promise<void> {}

  nameOf(instanceName: string, id: string): string {
    return operationName(instanceName, `${encodeURIComponent(this.#options.name)}/${id}`)
  }

  async execute(request: ExecutionRequest, handed?: HandedOperation): Promise<string> {
    const { remote, results } = this.#options
    const { instanceName, refusal, doNotCache, skipCacheLookup, actionDigest, priority, metadata } = request
    if (refusal !== undefined) return this.#answer(request, { error: refusal })
    const found = doNotCache || skipCacheLookup ? undefined : await results.find(request)
    if (found !== undefined)
      return this.#answered.addHit(this.nameOf(instanceName, this.#options.newId()), request, found)
    if (this.#isDraining) throw new StatusError('UNAVAILABLE', 'the server is shutting down and takes no actions')
    const held = await this.#way.held()
    if (held !== undefined) return held.begin({ id: handed?.id ?? this.#options.newId(), past: handed?.past }, request)
    if (request.scope !== undefined) return this.#answer(request, { error: UNSCOPED })
    const message = {
      instanceName,
      skipCacheLookup,
      actionDigest: actionDigest.toMessage(),
      digestFunction: actionDigest.function.value,
      executionPolicy: { priority },
    }
    const trace = Object.entries(request.trace ?? {}).filter(([, value]) => value !== '')
    const headers = new Map<string, string | Buffer>([
      ...trace,
      ...(metadata === undefined ? [] : [[REQUEST_METADATA, metadata] as const]),
    ])
    const stream = await remote.execute(message, headers, this.#stopped.signal)
    const name = this.#nameOf(instanceName, stream.first.name)
    this.#begun.set(name, stream)
    return name
  }

  async *watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState> {
    const answered = this.#answered.get(name)
    if (answered !== undefined) {
      yield answered
      return
    }
    if (!isRemote(name)) {
      const held = await this.#way.held()
      if (held === undefined) throw unknownOperation(name)
      yield* held.watch(name, AbortSignal.any([signal, this.#stopped.signal]))
      if (this.#stopped.signal.aborted) throw new StatusError('UNAVAILABLE', 'the scheduler has stopped')
      return
    }
    const { remote } = this.#options
    const begun = this.#begun.get(name)
    this.#begun.delete(name)
    const parts = { name, instanceName: instanceOfOperation(name) }
    const either = AbortSignal.any([signal, this.#stopped.signal])
    for await (const operation of remote.follow(remoteNameOf(name), begun, either)) yield stateOf(operation, parts)
    if (this.#stopped.signal.aborted) throw new StatusError('UNAVAILABLE', 'the scheduler has stopped')
  }

  async get(name: string): Promise<OperationState | undefined> {
    const answered = this.#answered.get(name)
    if (answered !== undefined) return answered
    const remoteName = await this.#remoteNameOf(name)
    if (remoteName === undefined) return this.#way.operations.stateOf(name)
    const operation = await this.#options.remote.get(remoteName)
    return operation && stateOf(operation, { name, instanceName: instanceOfOperation(name) })
  }

  async *operations(instanceName: string, after: string): AsyncIterable<ListedOperation> {
    yield* this.#options.remote.listed(instanceName, after, (operation) =>
      this.#shownName(instanceName, operation.name),
    )
  }

  async cancel(name: string): Promise<boolean> {
    if (this.#answered.get(name) !== undefined) return true
    const remoteName = await this.#remoteNameOf(name)
    const isKnown = remoteName !== undefined && (await this.#options.remote.cancel(remoteName))
    // The scheduler may be away, or not have it yet.
    return this.#way.operations.end(name, new StatusError('CANCELLED', `${name} was cancelled`)) || isKnown
  }

  async delete(name: string): Promise<boolean> {
    if (this.#answered.delete(name)) return true
    const remoteName = await this.#remoteNameOf(name)
    return remoteName !== undefined && this.#options.remote.delete(remoteName)
  }

  drain(): void {
    this.#isDraining = true
  }

  /** Does not wait: the remote server finishes running actions without this process. */
  async idle(): Promise<void> {}

  close(): void {
    this.#answered.close()
    this.#stopped.abort()
    this.#way.close()
    this.#options.remote.close()
  }

  #answer(request: ExecutionRequest, outcome: Outcome): string {
    return this.#answered.add(this.nameOf(request.instanceName, this.#options.newId()), request, outcome)
  }

  #nameOf(instanceName: string, remoteName: string): string {
    return this.nameOf(instanceName, `${REMOTE}${Buffer.from(remoteName).toString('base64url')}`)
  }

  /** Operations of servers that hand in have the same id there. */
  #shownName(instanceName: string, remoteName: string): string {
    if (!this.#way.isJoined) return this.#nameOf(instanceName, remoteName)
    return this.nameOf(instanceName, idOfOperation(remoteName))
  }

  /** Undefined if the scheduler has not told it yet. */
  async #remoteNameOf(name: string): Promise<string | undefined> {
    if (isRemote(name)) return remoteNameOf(name)
    const held = await this.#way.held()
    if (held === undefined) throw unknownOperation(name)
    return held.askedName(name)
  }
}

/** What that server has to do, as far as it tells. */
const inWords = ({ workers, queued, elsewhere }: SchedulerOverview): string => {
  if (elsewhere?.trouble !== undefined) return ''
  const running = workers.reduce((sum, worker) => sum + worker.running, 0)
  return `, which has ${counted(workers.length, 'worker')}, ${countText(running)} running and ${countText(queued)} waiting`
}

/** That server would take the action for one of this server, and its result for everybody's. */
const UNSCOPED = new StatusError(
  'FAILED_PRECONDITION',
  'this caller has a scope (security.scopes), and the actions of this instance go to another server by Execute, which does not tell it: expected that this server has the permission `forward` there',
)

/** Marks the ids of remote operations; operations stored here have ids without it. */
const REMOTE = '~'

const isRemote = (name: string): boolean => idOfOperation(name).startsWith(REMOTE)

const remoteNameOf = (name: string): string =>
  Buffer.from(idOfOperation(name).slice(REMOTE.length), 'base64url').toString()
