import type { ServiceError } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { type CodeName, codeName } from '../../src/base/status-error.js'
import { getBytes, missingOf, putBytes, type Store } from '../../src/blobs/store.js'
import { DirectoryTrees, type TreeLimits } from '../../src/content/directory-trees.js'
import type { KindName } from '../../src/ledger/kinds.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { type Log, silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import { SparingLog } from '../../src/log/sparing-log.js'
import { type Compressor, compressors } from '../../src/reapi/compressor.js'
import { Digest } from '../../src/reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../src/reapi/digest-function.js'
import { internalCall } from '../../src/rpc/call.js'
import { Invocations } from '../../src/rpc/invocations.js'
import { listen, type TransportName } from '../../src/server/listener.js'
import type { AcInstance } from '../../src/service/action-cache/options.js'
import { actionCacheService } from '../../src/service/action-cache/service.js'
import type { ByteStreamInstance } from '../../src/service/bytestream/options.js'
import { byteStreamService } from '../../src/service/bytestream/service.js'
import { Uploads } from '../../src/service/bytestream/uploads.js'
import { type CapabilitiesInstance, capabilitiesService } from '../../src/service/capabilities.js'
import type { ChunkedBlobs } from '../../src/service/cas/chunked-blobs.js'
import { FAULT_RATION } from '../../src/service/cas/options.js'
import { casService } from '../../src/service/cas/service.js'
import { UploadOrder } from '../../src/store/contract/upload-order.js'
import { withCompleteness } from '../../src/store/kinds/completeness_checking/checking-store.js'
import { memory } from '../../src/store/kinds/memory/kind.js'
import { asCas } from '../../src/store/view/cas.js'
import { asKeyed } from '../../src/store/view/keyed.js'
import { Resources } from '../../src/work/resources.js'
import { drawnBytes } from '../drawn.js'
import { TestClient } from '../server/client.js'

export const CAS = 'build.bazel.remote.execution.v2.ContentAddressableStorage'
export const AC = 'build.bazel.remote.execution.v2.ActionCache'
export const CAPABILITIES = 'build.bazel.remote.execution.v2.Capabilities'
export const BYTE_STREAM = 'google.bytestream.ByteStream'

export const { SHA256, BLAKE3, SHA1 } = digestFunctions
export const MIB = 1024 * 1024

/** A new store in memory; `maxBytes` 0 for no limit. */
export const memoryStore = async (clock = new ManualClock(), maxBytes = 0): Promise<Store> => {
  const policy = { max_bytes: maxBytes, evict_bytes: 0, max_count: 0, max_seconds: 0 }
  const none = (): never => {
    throw new Error('a memory store has no store below')
  }
  const parts = {
    resources: new Resources(silentLog),
    clock,
    log: silentLog,
    secrets: unhiddenSecrets,
    watch: () => {},
    step: () => {},
    holds: () => {},
    queues: () => {},
    cuts: () => {},
    uploadOrder: new UploadOrder(),
    keepsPromises: true,
    invocations: new Invocations(clock),
  }
  const context = { path: 'test', child: none, named: none, ...parts }
  return memory.build({ eviction_policy: policy, retention: 10_800, when_full: 'break' }, context)
}

export interface Setting {
  readonly cas?: Store
  readonly ac?: Store
  readonly digestFunctions?: readonly DigestFunction[]
  readonly isReadOnly?: boolean
  readonly compressors?: readonly Compressor[]
  readonly parkedForMs?: number
  readonly hasExecution?: boolean
  readonly chunked?: ChunkedBlobs
}

export interface ServeOptions {
  /** By instance name. Default: '' and 'main' over one CAS. */
  readonly instances?: Readonly<Record<string, Setting>>
  /** Bounds of the ledger. */
  readonly bounds?: Partial<Readonly<Record<KindName, number>>>
  readonly trees?: Partial<TreeLimits>
  readonly maxBatchBytes?: number
  readonly maxResponseBytes?: number
  readonly transport?: TransportName
  readonly log?: Log
}

/** Serves on a real socket until the test ends. */
export const serve = async (t: Test, options: ServeOptions = {}) => {
  const clock = new ManualClock(1_000_000)
  const ledger = new Ledger(options.bounds)
  const uploads = new Uploads(clock, ledger)
  const shared = asCas(await memoryStore(clock))
  const settings = options.instances ?? { '': { cas: shared }, main: { cas: shared } }
  const casInstances = new Map<string, ByteStreamInstance>()
  const acInstances = new Map<string, AcInstance>()
  const capabilities = new Map<string, CapabilitiesInstance>()
  const { maxBatchBytes = 4 * MIB, maxResponseBytes = 4 * MIB, log = silentLog } = options
  for (const [name, setting] of Object.entries(settings)) {
    const { cas = asCas(await memoryStore(clock)), ac = await memoryStore(clock), isReadOnly = false } = setting
    const { digestFunctions = [SHA256, BLAKE3], hasExecution = false } = setting
    const { compressors: served = compressors, parkedForMs = 60_000 } = setting
    casInstances.set(name, {
      cas,
      digestFunctions,
      compressors: served,
      chunked: setting.chunked,
      maxReadChunkBytes: 256 * 1024,
      parkedForMs,
    })
    const complete = withCompleteness(asKeyed(ac), cas, new DirectoryTrees(options.trees))
    acInstances.set(name, { results: { of: () => complete }, cas, digestFunctions, isReadOnly })
    const execution = hasExecution ? { minPriority: -100, maxPriority: 100, nodeProperties: [] } : undefined
    const chunking = setting.chunked?.chunking
    const limits = { maxBatchBytes, maxBlobBytes: undefined }
    const cache = { isUpdateEnabled: !isReadOnly, ...limits, compressors: served, chunking }
    capabilities.set(name, { digestFunctions, cache, execution })
  }
  const listener = await listen({
    address: '127.0.0.1:0',
    transport: options.transport ?? 'remexec',
    ledger,
    log,
    services: [
      casService({
        instances: casInstances,
        maxBatchBytes,
        maxResponseBytes,
        trees: new DirectoryTrees(options.trees),
        clock,
        faults: new SparingLog(log, clock, FAULT_RATION),
      }),
      byteStreamService({ instances: casInstances, uploads, faults: new SparingLog(log, clock, FAULT_RATION) }),
      actionCacheService({ instances: acInstances, maxResponseBytes }),
      capabilitiesService(capabilities),
    ],
  })
  // Each client has its own connection and the default limit on response sizes.
  const connect = (): TestClient => {
    const client = new TestClient(listener.address, {
      'grpc.use_local_subchannel_pool': 1,
      'grpc.max_receive_message_length': 4 * MIB,
    })
    t.teardown(() => client.close())
    return client
  }
  t.teardown(async () => {
    await uploads.close()
    await listener.close(0)
  })
  return { client: connect(), connect, clock, uploads, listener, ledger, cas: shared }
}

/** The code name and the message of a failed call; 'OK' if it succeeds. */
export const failure = async (work: Promise<unknown>): Promise<{ code: CodeName | string; message: string }> => {
  try {
    await work
    return { code: 'OK', message: '' }
  } catch (error) {
    const { code, details } = error as ServiceError
    return { code: codeName(code), message: details }
  }
}

export interface Blob {
  readonly bytes: Buffer
  readonly digest: Digest
}

export const blobOf = (content: string | Buffer, digestFunction: DigestFunction = SHA256): Blob => {
  const bytes = Buffer.from(content)
  return { bytes, digest: Digest.of(bytes, digestFunction) }
}

export const randomBlob = (sizeBytes: number): Blob => blobOf(drawnBytes(sizeBytes))

export const wire = ({ hash, sizeBytes }: Digest): { hash: string; sizeBytes: number } => ({ hash, sizeBytes })

export const put = async (store: Store, ...blobs: readonly Blob[]): Promise<void> => {
  const call = internalCall()
  for (const { bytes, digest } of blobs) await putBytes(store, digest, bytes, call)
}

export const has = async (store: Store, digest: Digest): Promise<boolean> =>
  (await missingOf(store, [digest], internalCall())).length === 0

export const get = async (store: Store, digest: Digest): Promise<Buffer> => {
  const call = internalCall()
  return getBytes(store, digest, 1024 * MIB, call)
}
