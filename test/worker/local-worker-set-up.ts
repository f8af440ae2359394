/** A worker in the test process, with stores on disk and a scheduler controlled by the test. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../src/base/clock.js'
import { getBytes, putBytes, type Store } from '../../src/blobs/store.js'
import type { EvictionPolicy, LocalWorkerOptions, StoreConfig } from '../../src/config/config.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { type Log, silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import { codec } from '../../src/proto/codec.js'
import type {
  ActionInput,
  CommandInput,
  DirectoryInput,
} from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { StartInput } from '../../src/proto/generated/remexec.worker.v1.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../src/reapi/directory.js'
import { internalCall } from '../../src/rpc/call.js'
import { buildStores } from '../../src/store/builder.js'
import { asCas } from '../../src/store/view/cas.js'
import { Resources } from '../../src/work/resources.js'
import { Launcher } from '../../src/worker/command/launcher.js'
import { startLocalWorker } from '../../src/worker/local-worker.js'
import { tierDefaults } from '../store/build.js'
import { FakeScheduler } from './fake-scheduler.js'

const { SHA256 } = digestFunctions
export const call = internalCall()
const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')

const unlimited: EvictionPolicy = { max_bytes: 0, evict_bytes: 0, max_seconds: 0, max_count: 0 }

const storeIn = (directory: string, slow: StoreConfig): StoreConfig => ({
  kind: 'fast_slow',
  options: {
    fast: {
      kind: 'filesystem',
      options: {
        content_path: join(directory, 'content'),
        temp_path: join(directory, 'temp'),
        read_buffer_size: 262_144,
        eviction_policy: unlimited,
        retention: 0,
        when_full: 'break',
        block_size: 4096,
        max_concurrent_writes: 0,
        durability: 'process_exit',
        small_blob_size: 65536,
        small_blob_cache_size: 0,
        scrub_bytes_per_s: 0,
      },
    },
    slow,
    ...tierDefaults,
  },
})

export const workerOptions = (directory: string, parts: Partial<LocalWorkerOptions>): LocalWorkerOptions => ({
  name: 'w',
  worker_api_endpoint: { uri: 'grpc://127.0.0.1:1', timeout: 2, headers: new Map() },
  max_action_timeout_s: 60,
  max_upload_timeout_s: 60,
  max_inflight_tasks: 0,
  persistent_workers: { enabled: true, max_processes: 0, max_idle_s: 600, max_requests: 500, max_memory_bytes: 0 },
  timeout_handled_externally: false,
  control_groups: { use: 'if_delegated', memory_property: 'memory_kb', cpu_property: 'cpu_count' },
  termination_grace_s: 1,
  timeout_message: 'execution timeout exceeded',
  entrypoint: '',
  default_path: '/usr/bin:/bin',
  cas_fast_slow_store: 'CAS',
  upload_action_result: {
    upload_ac_results_strategy: 'success_only',
    upload_historical_results_strategy: 'never',
    success_message_template: '',
    failure_message_template: '',
  },
  work_directory: join(directory, 'work'),
  platform_properties: new Map(),
  additional_environment: new Map(),
  ...{ use_namespaces: false, keep_network: false, use_mount_namespace: false },
  ...{ read_only_inputs: true, input_root_is_root: false },
  action_limits: { printed_bytes: 0, disk_bytes: 0, processes: 0, memory_bytes: 0 },
  ...parts,
})

const inMemory: StoreConfig = {
  kind: 'memory',
  options: { eviction_policy: unlimited, retention: 0, when_full: 'break' },
}

interface SetUpOptions {
  readonly clock?: Clock
  readonly address?: string
  readonly ownLauncher?: boolean
  readonly slow?: StoreConfig
  readonly log?: Log
  readonly isAlone?: boolean
  /** Wraps the store of the worker. */
  readonly through?: (store: Store) => Store
}

/** A launcher takes seconds to start here, because it loads TypeScript, so only one test uses a worker's own. */
export const launcher = new Launcher(silentLog)
t.teardown(() => launcher.close())

export const setUp = async (
  t: Test,
  parts: Partial<LocalWorkerOptions> = {},
  {
    clock = systemClock,
    address,
    ownLauncher = false,
    slow = inMemory,
    log = silentLog,
    isAlone = false,
    through = (store) => store,
  }: SetUpOptions = {},
) => {
  const directory = mkdtempSync(join(tmpdir(), 'worker-'))
  const resources = new Resources(silentLog)
  // A test may set up several workers; it has one testdir.
  t.teardown(async () => {
    await resources.close()
    rmSync(directory, { recursive: true })
  })
  const context = { resources, clock: systemClock, log: silentLog, secrets: unhiddenSecrets, watch: () => {} }
  const built = await buildStores(new Map([['CAS', storeIn(directory, slow)]]), context)
  const store = asCas(through(built.get('CAS') as Store))
  const scheduler = new FakeScheduler()
  await scheduler.listen()
  resources.add('scheduler', () => scheduler.close())
  const worker = await startLocalWorker({
    name: 'w',
    options: workerOptions(directory, parts),
    stores: { cas: store, results: undefined, history: store },
    address: address ?? scheduler.address,
    clock,
    log,
    isAlone,
    ledger: new Ledger(),
    ...(ownLauncher ? {} : { launcher }),
  })
  resources.add('worker', () => worker.close(10_000))
  const put = async (bytes: Buffer): Promise<Digest> => {
    const digest = Digest.of(bytes, SHA256)
    if (!digest.isEmpty) await putBytes(store, digest, bytes, call)
    return digest
  }
  let attempts = 0
  /** Uploads an action, and returns what asks the worker for a run of it and returns the id of that attempt. */
  const prepare = async (
    command: CommandInput,
    root: DirectoryInput = {},
    action: ActionInput = {},
    more: StartInput = {},
  ): Promise<() => string> => {
    const commandDigest = (await put(commandCodec.encode(command))).toMessage()
    const inputRootDigest = (await put(encodeDirectory(root))).toMessage()
    const actionDigest = await put(actionCodec.encode({ commandDigest, inputRootDigest, ...action }))
    return () => {
      const attemptId = `attempt-${++attempts}`
      scheduler.say({ start: { attemptId, actionDigest: actionDigest.toMessage(), instanceName: 'main', ...more } })
      return attemptId
    }
  }
  return {
    directory,
    store,
    scheduler,
    worker,
    put,
    read: async (message: Parameters<typeof Digest.parse>[0]) => {
      return (await getBytes(store, Digest.parse(message, SHA256), 1 << 20, call)).toString()
    },
    prepare,
    /** Asks the worker for a run and returns the attempt's id. */
    start: async (...of: Parameters<typeof prepare>): Promise<string> => (await prepare(...of))(),
  }
}

export const sh = (script: string): Pick<CommandInput, 'arguments'> => ({ arguments: ['/bin/sh', '-c', script] })
