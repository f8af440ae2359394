import { type ClientDuplexStream, type ClientReadableStream, Metadata } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import type { Store } from '../../src/blobs/store.js'
import { DirectoryTrees } from '../../src/content/directory-trees.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { type Log, textLog } from '../../src/log/log.js'
import { unpack } from '../../src/proto/any.js'
import { codec, type Input, type Output } from '../../src/proto/codec.js'
import { ExecutionStage } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { requestFacts } from '../../src/proto/request-metadata.js'
import { Digest } from '../../src/reapi/digest.js'
import type { DigestFunction } from '../../src/reapi/digest-function.js'
import { RequestRecords } from '../../src/rpc/request-records.js'
import type { Scheduler } from '../../src/scheduler/scheduler.js'
import { SchedulerHost } from '../../src/scheduler/simple/host.js'
import type { SimpleSettings } from '../../src/scheduler/simple/settings.js'
import { listen } from '../../src/server/listener.js'
import { actionCacheService } from '../../src/service/action-cache/service.js'
import type { ExecutionInstance } from '../../src/service/execution/instance.js'
import { type ResultStores, StoredResults } from '../../src/service/execution/results.js'
import { executionService } from '../../src/service/execution/service.js'
import { operationsService } from '../../src/service/operations/service.js'
import { schedulingService } from '../../src/service/scheduling/service.js'
import { workerApiService } from '../../src/service/worker-api/service.js'
import { ACKNOWLEDGE_WITHIN_MS } from '../../src/service/worker-api/stream-link.js'
import { withCompleteness } from '../../src/store/kinds/completeness_checking/checking-store.js'
import { ResultCache } from '../../src/store/scoped/result-cache.js'
import { asCas } from '../../src/store/view/cas.js'
import { asKeyed } from '../../src/store/view/keyed.js'
import { defaultSettings } from '../scheduler/settings.js'
import { TestClient } from '../server/client.js'
import { during } from '../until.js'
import { BLAKE3, type Blob, blobOf, MIB, memoryStore, put, SHA256, wire } from './harness.js'

export const EXECUTION = 'build.bazel.remote.execution.v2.Execution'
export const OPERATIONS = 'google.longrunning.Operations'
export const WORKER_API = 'remexec.worker.v1.WorkerApi'
export const AC = 'build.bazel.remote.execution.v2.ActionCache'

export const actionCodec = codec('build.bazel.remote.execution.v2.Action')
export const commandCodec = codec('build.bazel.remote.execution.v2.Command')
export const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')
export const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
export const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')
export const metadataCodec = codec('build.bazel.remote.execution.v2.ExecuteOperationMetadata')

type Operation = Output<'google.longrunning.Operation'>
type Start = Output<'remexec.worker.v1.Start'>
type SchedulerMessage = Output<'remexec.worker.v1.SchedulerMessage'>

/** Reads the messages of a stream one by one. */
export class Reader<T> {
  readonly #messages: AsyncIterator<T>

  constructor(stream: AsyncIterable<T>) {
    this.#messages = stream[Symbol.asyncIterator]()
  }

  async next(): Promise<T> {
    const { value, done } = await this.#messages.next()
    if (done === true) throw new Error('the stream has ended')
    return value
  }

  async until(isWanted: (message: T) => boolean): Promise<T> {
    let message = await this.next()
    for (; !isWanted(message); ) message = await this.next()
    return message
  }

  async rest(): Promise<T[]> {
    const messages: T[] = []
    for (let next = await this.#messages.next(); next.done !== true; next = await this.#messages.next()) {
      messages.push(next.value)
    }
    return messages
  }
}

export const stageOf = ({ metadata }: Operation): number =>
  unpack(metadataCodec, metadata ?? { typeUrl: '', value: Buffer.alloc(0) }).stage

export const responseOf = ({ response }: Operation): Output<'build.bazel.remote.execution.v2.ExecuteResponse'> =>
  unpack(responseCodec, response ?? { typeUrl: '', value: Buffer.alloc(0) })

/** A worker controlled by a test, over the real protocol. */
export class FakeWorker {
  readonly stream: ClientDuplexStream<Input<'remexec.worker.v1.WorkerMessage'>, SchedulerMessage>
  readonly messages: Reader<SchedulerMessage>
  id = ''
  /** Proves in a Hello that the worker owns its id. */
  key = ''
  readonly #clock: ManualClock
  readonly #acknowledged: string[] = []

  constructor(client: TestClient, clock: ManualClock, metadata = new Metadata()) {
    this.#clock = clock
    this.stream = client.bidi(`${WORKER_API}/Connect`, { metadata })
    this.stream.on('error', () => {})
    this.messages = new Reader(this.stream)
  }

  async hello(hello: Input<'remexec.worker.v1.Hello'> = {}): Promise<this> {
    this.send({ hello: { protocolVersion: 1, name: 'w', ...hello } })
    const { welcome } = await this.messages.next()
    if (welcome === null) throw new Error('no welcome')
    this.id = welcome.workerId
    this.key = welcome.workerKey
    return this
  }

  send(message: Input<'remexec.worker.v1.WorkerMessage'>): void {
    this.stream.write(message)
  }

  async start(): Promise<Start> {
    const { start } = await this.messages.until((message) => message.start !== null)
    if (start === null) throw new Error('no start')
    return start
  }

  /** The id of the next attempt to kill, or of the next acknowledged result. */
  async next(what: 'kill' | 'resultAck'): Promise<string> {
    if (what === 'kill') return (await this.messages.until(({ kill }) => kill !== null)).kill?.attemptId ?? ''
    if (this.#acknowledged.length === 0) this.#acknowledged.push(...(await this.#acknowledgement()))
    return this.#acknowledged.shift() ?? ''
  }

  /** Advances the clock once an acknowledgement is due, because the service collects them for some time. */
  async #acknowledgement(): Promise<readonly string[]> {
    const message = await during(
      this.messages.until(({ resultAck }) => resultAck !== null),
      () => {
        if (this.#clock.nextInMs <= ACKNOWLEDGE_WITHIN_MS) this.#clock.advance(ACKNOWLEDGE_WITHIN_MS)
      },
    )
    return message.resultAck?.attemptIds ?? []
  }

  succeed({ attemptId }: Start, result: Input<'build.bazel.remote.execution.v2.ActionResult'> = {}): void {
    this.send({
      result: { attemptId, executeResponse: { result: { executionMetadata: { worker: this.id }, ...result } } },
    })
  }

  report({ attemptId }: Start, result: Omit<Input<'remexec.worker.v1.Result'>, 'attemptId'>): void {
    this.send({ result: { attemptId, ...result } })
  }
}

export interface BuiltAction {
  readonly digest: Digest
  readonly action: Blob
  readonly command: Blob
  readonly root: Blob
}

/** An action with all its blobs, not uploaded yet. */
export const buildAction = (
  parts: {
    readonly command?: Input<'build.bazel.remote.execution.v2.Command'>
    readonly action?: Input<'build.bazel.remote.execution.v2.Action'>
    readonly root?: Input<'build.bazel.remote.execution.v2.Directory'>
    readonly digestFunction?: DigestFunction
  } = {},
): BuiltAction => {
  const { digestFunction = SHA256 } = parts
  const command = blobOf(commandCodec.encode({ arguments: ['true'], ...parts.command }), digestFunction)
  const root = blobOf(directoryCodec.encode(parts.root ?? {}), digestFunction)
  const digests = { commandDigest: wire(command.digest), inputRootDigest: wire(root.digest) }
  const action = blobOf(actionCodec.encode({ ...digests, ...parts.action }), digestFunction)
  return { digest: action.digest, action, command, root }
}

export interface ExecutionServer {
  readonly records: RequestRecords
  readonly client: TestClient
  readonly clock: ManualClock
  readonly host: SchedulerHost
  readonly cas: Store
  readonly ac: Store
  /** A store named OTHER that belongs to no instance. */
  readonly otherCache: Store
  readonly logged: string[]
  readonly connect: () => TestClient
  readonly address: string
  worker(hello?: Input<'remexec.worker.v1.Hello'>): Promise<FakeWorker>
  execute(action: BuiltAction | Digest, request?: object): ClientReadableStream<Operation>
  wait(name: string): ClientReadableStream<Operation>
  upload(action: BuiltAction): Promise<BuiltAction>
}

/** An instance and the stores of its results. */
type ServedInstance = ExecutionInstance & ResultStores & { readonly ac: Store }

export interface ExecutionServeOptions {
  readonly settings?: Partial<SimpleSettings>
  /** Names of instances that share one scheduler. Each except '' has its own stores. */
  readonly instances?: readonly string[]
  readonly instance?: Partial<ServedInstance>
  /** Whether other servers may hand in actions (`remexec.scheduler.v1.Scheduling`). */
  readonly takesFronts?: boolean
  /** Creates a scheduler in front of the one that queues. */
  readonly before?: (host: SchedulerHost) => Scheduler
}

/** Execution, Operations, action cache and worker API on a real socket, with a manual clock. */
export const serveExecution = async (t: Test, options: ExecutionServeOptions = {}): Promise<ExecutionServer> => {
  const clock = new ManualClock(1_700_000_000_000)
  const logged: string[] = []
  const log: Log = textLog('debug', (line) => logged.push(line))
  let ids = 0
  const newId = (): string => `id-${++ids}`
  const settings = { ...defaultSettings, ...options.settings }
  const instances = new Map<string, ServedInstance>()
  const trees = new DirectoryTrees()
  const otherCaches = new Map<string, Store>()
  const results = new StoredResults({
    storesOf: (name) => instances.get(name),
    ac: (name, { cas }) => withCompleteness(asKeyed(otherCaches.get(name) ?? never(name)), cas, trees),
    ...{ maxBytes: 4 * MIB, log },
  })
  const host = new SchedulerHost({ name: 'main', settings, clock, log, newId, results })
  const scheduler = options.before?.(host) ?? host
  const digestFunctions = [SHA256, BLAKE3]
  for (const name of options.instances ?? ['']) {
    const [cas, ac] = [asCas(await memoryStore(clock)), await memoryStore(clock)]
    const base = { cas, ac, scheduler, digestFunctions, maxTimeoutMs: 3_600_000, isWrittenHere: true, instance: name }
    const instance = { ...base, ...options.instance }
    const shared = withCompleteness(asKeyed(instance.ac), instance.cas, trees)
    const results = new ResultCache({ shared, own: () => never('a scope'), parents: [] })
    instances.set(name, { ...instance, ac: shared, results })
  }
  const first = instances.get(options.instances?.[0] ?? '')
  if (first === undefined) throw new Error('no instance')
  otherCaches.set('OTHER', await memoryStore(clock))
  const execution = {
    instances,
    served: new Map<string, unknown>([...instances, ['cache', {}]]),
    maxResponseBytes: 4 * MIB,
    trees,
    clock,
    log,
  }
  const ac = new Map([...instances].map(([name, instance]) => [name, { ...instance, isReadOnly: false }]))
  const records = new RequestRecords(clock, requestFacts)
  const listener = await listen({
    address: '127.0.0.1:0',
    services: [
      executionService(execution),
      operationsService(execution),
      workerApiService({ scheduler: host, clock }),
      actionCacheService({ instances: ac, maxResponseBytes: 4 * MIB }),
      ...(options.takesFronts === true ? [schedulingService({ instances, ledger: new Ledger(), clock })] : []),
    ],
    records,
    log,
  })
  const connect = (): TestClient => {
    const client = new TestClient(listener.address, { 'grpc.use_local_subchannel_pool': 1 })
    t.teardown(() => client.close())
    return client
  }
  t.teardown(async () => {
    host.close()
    await listener.close(0)
  })
  const client = connect()
  return {
    client,
    clock,
    host,
    cas: first.cas,
    ac: first.ac,
    records,
    otherCache: otherCaches.get('OTHER') ?? never('OTHER'),
    logged,
    connect,
    address: listener.address,
    worker: (hello) => new FakeWorker(connect(), clock).hello(hello),
    execute: (action, request = {}) => {
      const digest = action instanceof Digest ? action : action.digest
      const message = { actionDigest: wire(digest), digestFunction: digest.function.value, ...request }
      return client.serverStream(`${EXECUTION}/Execute`, message)
    },
    wait: (name) => client.serverStream(`${EXECUTION}/WaitExecution`, { name }),
    upload: async (built) => {
      await put(first.cas, built.action, built.command, built.root)
      return built
    },
  }
}

const never = (what: string): never => {
  throw new Error(`there is no ${what}`)
}

export { ExecutionStage }
