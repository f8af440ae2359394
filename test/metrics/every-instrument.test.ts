/**
 * A scripted scenario with a manual clock. Compares every instrument that a collector received with the expected
 * numbers.
 */
import { closeSync, openSync, rmSync } from 'node:fs'
// biome-ignore lint/plugin: moves the delay between two readings; a reading that misses it is taken again
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { KINDS } from '../../src/ledger/kinds.js'
import { silentLog } from '../../src/log/log.js'
import { otlpSettings } from '../../src/otlp/settings.js'
import { pack } from '../../src/proto/any.js'
import { codec } from '../../src/proto/codec.js'
import { PersistentWorkerEventsKind } from '../../src/proto/generated/remexec.worker.v1.js'
import { type Collector, collect } from '../otlp/collector.js'
import type { Decoded } from '../otlp/otlp-messages.js'
import { collect as received, TestClient } from '../server/client.js'
import {
  buildAction,
  EXECUTION,
  FakeWorker,
  OPERATIONS,
  Reader,
  responseOf,
  resultCodec,
} from '../service/execution-harness.js'
import { type Blob, blobOf, CAS, wire } from '../service/harness.js'

const instances = ['', 'small', 'disk']
const listener = { http: { socket_address: '127.0.0.1:0' } }

const configuration = (folder: string) => ({
  stores: {
    CAS: { memory: { eviction_policy: { max_bytes: 1_000_000 } } },
    AC: { memory: { eviction_policy: { max_bytes: 1_000_000 } } },
    SMALL: { memory: { eviction_policy: { max_bytes: 1000 } } },
    DISK: {
      filesystem: {
        ...{ content_path: `${folder}/content`, temp_path: `${folder}/temp` },
        eviction_policy: { max_bytes: 10_000_000 },
      },
    },
  },
  schedulers: {
    S: { simple: { worker_timeout_s: 5, max_job_retries: 2, supported_platform_properties: { os: 'exact' } } },
  },
  servers: {
    public: {
      listener,
      services: {
        cas: instances.map((instance_name) => ({ instance_name, cas_store: instance_name.toUpperCase() || 'CAS' })),
        ac: instances.map((instance_name) => ({ instance_name, ac_store: 'AC' })),
        execution: [{ instance_name: '', cas_store: 'CAS', ac_store: 'AC', scheduler: 'S' }],
        worker_api: { scheduler: 'S' },
        health: {},
      },
    },
  },
})

const start = async (t: Test) => {
  const { collector, http } = await collect(t)
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: http,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    OTEL_METRIC_EXPORT_INTERVAL: '200',
  }
  // The SDK reads the endpoint itself.
  Object.assign(process.env, env)
  const folder = t.testdir()
  const { config, problems } = parseConfig(JSON.stringify(configuration(folder)), 'test.json', { env: {} })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  const clock = new ManualClock(1_700_000_000_000)
  const otlp = otlpSettings(env).settings
  const running = await assemble(config, { clock, log: silentLog, otlp })
  t.teardown(() => running.close())
  const connect = (): TestClient => {
    const client = new TestClient(running.addresses[0]?.address ?? '', { 'grpc.use_local_subchannel_pool': 1 })
    t.teardown(() => client.close())
    return client
  }
  const client = connect()
  const worker = (name: string, hello: object = {}): Promise<FakeWorker> =>
    new FakeWorker(connect(), clock).hello({ name, maxInflightAttempts: 5, ...hello })
  return { collector, folder, clock, client, worker, running }
}

type Started = Awaited<ReturnType<typeof start>>

/** The bytes that the scenario sent to the CAS of actions and received as results. */
const sent: Blob[] = []

const bytesOf = (blobs: readonly Blob[]): number => blobs.reduce((sum, { bytes }) => sum + bytes.length, 0)

const upload = (client: TestClient, instanceName: string, ...blobs: Blob[]) =>
  client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName,
    requests: blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
  }).response

const download = (client: TestClient, instanceName: string, { digest }: Blob) =>
  client.unary(`${CAS}/BatchReadBlobs`, { instanceName, digests: [wire(digest)] }).response

const zeros = (length: number): Blob => blobOf(Buffer.alloc(length))

/** Two hits, three misses, an eviction after 100 s, an upload with a wrong digest, and one that the disk refuses. */
const useStores = async ({ client, clock, folder }: Started): Promise<void> => {
  const [first, second] = [zeros(600), zeros(500)]
  await upload(client, 'small', first)
  await download(client, 'small', first)
  await download(client, 'small', zeros(400))
  clock.advance(100_000)
  await upload(client, 'small', second)
  const blobDigests = [first, second].map(({ digest }) => wire(digest))
  await client.unary(`${CAS}/FindMissingBlobs`, { instanceName: 'small', blobDigests }).response
  await upload(client, 'small', { ...first, bytes: Buffer.alloc(600, 1) })

  const large = zeros(300_000)
  await upload(client, 'disk', large)
  await download(client, 'disk', large)
  rmSync(`${folder}/temp`, { recursive: true })
  await upload(client, 'disk', zeros(300_001))
}

const SECONDS = { inputFetch: 2, execution: 7, outputUpload: 1 }

const times = () => {
  let seconds = 1_700_000_000
  const at = () => ({ seconds, nanos: 0 })
  return Object.fromEntries(
    Object.entries(SECONDS).flatMap(([part, took]) => {
      const begun = [`${part}StartTimestamp`, at()] as const
      seconds += took
      return [begun, [`${part}CompletedTimestamp`, at()] as const]
    }),
  )
}

/** A success that waits 3 s for its worker, its cached result, a failure, a timeout, a retry and a cancelled action. */
const execute = async ({ client, clock, collector, worker: connect }: Started) => {
  const begin = async (name: string, request: object = {}, action: object = {}) => {
    const built = buildAction({ command: { arguments: [name] }, action })
    await upload(client, '', built.action, built.command, built.root)
    sent.push(built.action, built.command)
    return client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest), ...request })
  }
  const success = await begin('success')
  await collector.until(() => collector.of(ACTIVE)[active('queued')] === 1)
  clock.advance(3_000)
  const worker = await connect('able')
  const ends = received(success)
  worker.send({ persistentWorkers: { events: PERSISTENT_EVENTS } })
  worker.send({ keptRoots: { equal: 6, changed: 2, fresh: 1, placedFiles: 70, untouchedFiles: 900 } })
  const auxiliaryMetadata = [pack(codec('remexec.worker.v1.PersistentWorker'), { process: 'p', request: 2 })]
  worker.succeed(await worker.start(), { executionMetadata: { worker: worker.id, ...times(), auxiliaryMetadata } })
  const { messages } = await ends
  await received(await begin('success'))

  const failure = received(await begin('failure'))
  worker.succeed(await worker.start(), { exitCode: 1 })
  await failure

  const timeout = received(await begin('timeout'))
  worker.report(await worker.start(), { executeResponse: { status: { code: 4, message: 'too long' } } })
  await timeout

  const retried = received(await begin('retried'))
  worker.report(await worker.start(), { workerError: { code: 13, message: 'disk on fire' } })
  worker.succeed(await worker.start(), {})
  const results = [messages, (await retried).messages].map((all) => resultBytes(all.at(-1)))

  const states = new Reader(await begin('cancelled'))
  const { name } = (await states.next()) as { name: string }
  await worker.start()
  await client.unary(`${OPERATIONS}/CancelOperation`, { name }).response
  worker.report({ attemptId: await worker.next('kill') } as never, { workerError: { code: 10, message: 'killed' } })
  await states.rest()
  return { begin, worker, results }
}

/** What a worker tells of its persistent workers. */
const PERSISTENT_EVENTS = [
  { kind: PersistentWorkerEventsKind.REUSED, count: 5 },
  { kind: PersistentWorkerEventsKind.STARTED, count: 3 },
  { kind: PersistentWorkerEventsKind.RETRIED, count: 1 },
  { kind: PersistentWorkerEventsKind.FELL_BACK, reason: 'unsuited', count: 4 },
  { kind: PersistentWorkerEventsKind.ENDED, reason: 'idle', count: 2 },
]

const resultBytes = (operation: Parameters<typeof responseOf>[0]): number =>
  resultCodec.encode(responseOf(operation).result ?? {}).length

const ACTIVE = 'svc_execution_active_count'

const active = (stage: string, worker = '', priority = 0): string =>
  `execution_stage=${stage},execution_priority=${priority},execution_worker_id=${worker}`

const asked = (stage: string, platform: string): string => `execution_platform=${platform},execution_stage=${stage}`

const WINDOWS = { platform: { properties: [{ name: 'os', value: 'windows' }] } }

/**
 * A queued action, a worker that disconnects, one that is lost, one that leaves with an action, and one that drains.
 */
const comeAndGo = async (started: Started, { begin, worker: able }: Awaited<ReturnType<typeof execute>>) => {
  const { clock, collector, worker: connect } = started
  const events = (event: string): number => collector.of('svc_worker_events_total')[`worker_event=${event}`] ?? 0
  able.stream.end()
  await collector.until(() => events('disconnected') === 1)
  await connect('silent')
  ;(await begin('waits', { executionPolicy: { priority: -3 } }, WINDOWS)).on('error', () => {})
  await collector.until(() => collector.of(ACTIVE)[active('queued', '', -3)] === 1)
  clock.advance(6_000)
  await collector.until(() => events('timeout') === 1)

  const gone = await connect('gone')
  ;(await begin('held', { executionPolicy: { priority: 7 } })).on('error', () => {})
  await gone.start()
  gone.stream.end()
  await collector.until(() => events('disconnected') === 2)
  const leaving = await connect('leaving')
  leaving.send({ goingAway: {} })
  const idle = await connect('idle', { maxInflightAttempts: 4 })
  idle.send({ persistentWorkers: { idle: 2, busy: 1, residentBytes: 300_000_000 } })
  idle.send({ keptRoots: { kept: 3, fileBytes: 5_000 } })
  await connect('unbounded', { maxInflightAttempts: 0 })
  await collector.until(() => collector.of('svc_worker_count')['worker_state=draining'] === 1)
  await collector.until(() => collector.of('svc_persistent_worker_count')['persistent_state=busy'] === 1)
  await collector.until(() => collector.of('svc_kept_input_roots')[''] === 3)
  return { gone }
}

const stores = (
  name: 'operations_total' | 'operation_duration' | 'io_total',
  values: Readonly<Record<string, Readonly<Record<string, number>>>>,
): Record<string, number> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([type, of]) =>
      Object.entries(of).map(([key, value]) => [`cache_type=${type},${LABELS_OF[name](key)}`, value]),
    ),
  )

const LABELS_OF = {
  operations_total: (key: string) => {
    const [name, result] = key.split(' ')
    return `cache_operation_name=${name},cache_operation_result=${result}`
  },
  operation_duration: (name: string) => `cache_operation_name=${name}`,
  io_total: (direction: string) => `cache_io_direction=${direction}`,
}

const labelled = (label: string, values: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [`${label}=${key}`, value]))

const calls = (service: string, values: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const [method, code] = key.split(' ')
      return [`rpc_service=${service},rpc_method=${method},rpc_code=${code}`, value]
    }),
  )

/** The expected values of store instruments. The empty input root is in no store, because every CAS has it. */
const expectedOfStores = (results: readonly number[]) => {
  const [firstResult = 0] = results
  const resultsBytes = results.reduce((sum, bytes) => sum + bytes)
  const distinct = [...new Map(sent.map((blob) => [blob.digest.key, blob])).values()]
  const [, command] = sent
  return {
    svc_cache_operations_total: stores('operations_total', {
      // Each of eight Executes reads its Action, and its Command unless the result was cached.
      CAS: { 'write success': 16, 'find_missing hit': 8, 'read hit': 15 },
      AC: { 'lookup hit': 1, 'lookup miss': 7, 'write success': 2 },
      SMALL: {
        ...{ 'write success': 2, 'write cancelled': 1, 'evict success': 1 },
        ...{ 'read hit': 1, 'read miss': 1, 'find_missing hit': 1, 'find_missing miss': 1 },
      },
      DISK: { 'write success': 1, 'write error': 1, 'read hit': 1 },
    }),
    svc_cache_operation_duration: stores('operation_duration', {
      CAS: { write: 8, find_missing: 8, read: 15 },
      AC: { lookup: 8, write: 2 },
      SMALL: { write: 3, read: 2, find_missing: 1 },
      DISK: { write: 2, read: 1 },
    }),
    svc_cache_io_total: stores('io_total', {
      CAS: { in: bytesOf(sent), out: bytesOf(sent) - (command?.bytes.length ?? 0) },
      AC: { in: resultsBytes, out: firstResult },
      SMALL: { in: 1100, out: 600 },
      DISK: { in: 300_000, out: 300_000 },
    }),
    // On disk in blocks of 4 KiB.
    svc_cache_size: labelled('cache_type', { CAS: bytesOf(distinct), AC: resultsBytes, SMALL: 500, DISK: 74 * 4096 }),
    svc_cache_max_size: labelled('cache_type', { CAS: 1_000_000, AC: 1_000_000, SMALL: 1000, DISK: 10_000_000 }),
    svc_cache_entries: labelled('cache_type', { CAS: distinct.length, AC: 2, SMALL: 1, DISK: 1 }),
    svc_cache_evicted_age: { 'cache_type=SMALL': 100 },
    svc_retention: labelled('cache_type', { CAS: 10_800, SMALL: 10_800, DISK: 10_800 }),
    svc_promised_size: labelled('cache_type', { CAS: bytesOf(distinct), SMALL: 500, DISK: 74 * 4096 }),
    svc_leased_size: {},
    svc_promises_broken_total: { 'cache_type=SMALL': 1 },
    // No store has a queue.
    ...{ svc_upload_queue_entries: {}, svc_upload_queue_size: {}, svc_upload_queue_age: {} },
    svc_uploads_behind_total: {},
    // And none has chunks.
    svc_chunk_bytes_total: {},
  }
}

const expectedOfActions = (gone: FakeWorker) => ({
  svc_execution_completed_count_total: labelled('execution_result', {
    ...{ success: 2, failure: 1, timeout: 1, cache_hit: 1, cancelled: 1 },
  }),
  svc_execution_active_count: { [active('queued', '', -3)]: 1, [active('executing', gone.id, 7)]: 1 },
  svc_execution_demand_count: { [asked('queued', 'os=windows')]: 1, [asked('executing', '')]: 1 },
  svc_execution_retry_count_total: { '': 1 },
  svc_execution_stage_duration: labelled('execution_stage', {
    ...{ queued: 7, input_fetch: 1, executing: 1, output_upload: 1 },
  }),
  svc_execution_oldest_queued_age: { '': 10 },
  svc_worker_events_total: labelled('worker_event', { connected: 6, disconnected: 2, timeout: 1 }),
  svc_worker_count: labelled('worker_state', { connected: 2, draining: 1, away: 1 }),
  svc_worker_slots: { '': 4 },
  svc_persistent_worker_requests_total: labelled('persistent_request', { reused: 5, started: 3, retried: 1 }),
  svc_persistent_worker_fallbacks_total: { 'reason=unsuited': 4 },
  svc_persistent_worker_ends_total: { 'reason=idle': 2 },
  svc_persistent_worker_count: labelled('persistent_state', { idle: 2, busy: 1 }),
  svc_persistent_worker_resident_memory: { '': 300_000_000 },
  svc_persistent_worker_request_duration: { 'persistent_turn=later': 1 },
  svc_input_roots_total: labelled('input_root', { equal: 6, changed: 2, fresh: 1 }),
  svc_input_root_files_total: labelled('input_files', { placed: 70, untouched: 900 }),
  svc_kept_input_roots: { '': 3 },
  // The queue is this process's own.
  ...{ svc_scheduler_leads: {}, svc_scheduler_term: {}, svc_scheduler_servers: {}, svc_scheduler_engine_silence: {} },
  ...{ svc_scheduler_rebuild_duration: {}, svc_scheduler_offices_total: {}, svc_scheduler_refused_leaders_total: {} },
  svc_scheduler_handed_in_again_total: {},
})

const REAPI = 'build.bazel.remote.execution.v2'

const expectedOfCalls = {
  svc_rpc_duration: {
    ...calls(`${REAPI}.ContentAddressableStorage`, {
      ...{ 'FindMissingBlobs OK': 1, 'BatchUpdateBlobs OK': 13, 'BatchReadBlobs OK': 3 },
    }),
    ...calls(`${REAPI}.Execution`, { 'Execute OK': 6 }),
    ...calls('google.longrunning.Operations', { 'CancelOperation OK': 1 }),
    ...calls('remexec.worker.v1.WorkerApi', { 'Connect OK': 2, 'Connect UNAVAILABLE': 1 }),
  },
}

t.test('every instrument has exactly the expected numbers', async (t) => {
  const started = await start(t)
  const { collector, clock } = started
  await useStores(started)
  const done = await execute(started)
  const { gone } = await comeAndGo(started, done)
  const health = () => collector.of('svc_health_components')
  // At the next health check.
  clock.advance(4_000)
  await collector.until(() => health()['health_status=failed'] === 1)

  const ofProcess = [
    'svc_event_loop_delay',
    'svc_process_cpu_time_total',
    'svc_process_memory',
    'svc_process_open_descriptors',
    'svc_held_memory',
    // Of this machine's disk.
    'svc_disk_free',
  ]
  const names = [...collector.metrics.keys()].filter((name) => !ofProcess.includes(name))
  t.same(Object.fromEntries(names.map((name) => [name, collector.of(name)])), {
    ...expectedOfStores(done.results),
    ...expectedOfActions(gone),
    ...expectedOfCalls,
    // One action waits for a property that no worker has, and the temporary folder of a store was removed.
    svc_log_lines_lost_total: {},
    svc_invocations: {},
    svc_lease_extensions_total: {},
    svc_scope_reads_total: {},
    svc_audit_lines_lost_total: {},
    svc_certificate_expiry: {},
    svc_process_running: { '': 1 },
    svc_health_components: labelled('health_status', { ok: 3, warning: 1, failed: 1 }),
    svc_held_max_memory: labelled('held_kind', maxHeld),
    svc_held_limited_count_total: {},
  })
  t.same(Object.keys(collector.of('svc_disk_free')), ['cache_type=DISK'])
  const held = collector.of('svc_held_memory')
  t.same(Object.keys(held), ['held_kind=operations', 'held_kind=outcomes'])
  const unfinished = held['held_kind=operations'] ?? 0
  t.ok(unfinished > 2 * 1500 && unfinished < 2 * 3000, 'one waits, and one is held by a worker that is gone')
  const outcomes = held['held_kind=outcomes'] ?? 0
  t.ok(outcomes > 5 * 4096 && outcomes < 20 * 8192, `outcomes of some operations: ${outcomes}`)
  const durations = collector.metrics.get('svc_execution_stage_duration').histogram.dataPoints
  t.same(
    durations.map(({ attributes, sum }: Decoded) => [attributes[0].value.stringValue, sum]),
    [
      ['queued', 3],
      ['input_fetch', SECONDS.inputFetch],
      ['executing', SECONDS.execution],
      ['output_upload', SECONDS.outputUpload],
    ],
  )
  t.same([...collector.metrics.keys()].sort(), [...names, ...ofProcess].sort())
  await ofThisProcess(t, collector)
  await started.running.close()
  t.same(collector.of('svc_process_running'), {}, '0 in the last export of a process that stops in order')
})

const maxHeld = Object.fromEntries(Object.entries(KINDS).map(([name, { maxBytes }]) => [name, maxBytes]))

const holdUp = (ms: number): void => {
  // biome-ignore lint/plugin: holds up the event loop
  const from = performance.now()
  // biome-ignore lint/plugin: holds up the event loop
  while (performance.now() - from < ms);
}

/** The process's own values around a reading. */
const ofThisProcess = async (t: Test, collector: Collector): Promise<void> => {
  const next = (): Promise<void> => {
    const { requests } = collector
    return collector.until((now) => now.requests > requests)
  }
  // Readings in flight were taken before.
  const fresh = async (): Promise<void> => {
    await next()
    await next()
  }
  const value = (name: string, labels = ''): number => collector.values.get(`${name}{${labels}}`) ?? Number.NaN
  const isBetween = (least: number, found: number, most: number, what: string): void => {
    t.ok(least <= found && found <= most, `${what}: ${least} <= ${found} <= ${most}`)
  }

  // biome-ignore lint/plugin: compared with what the process exports
  const cpuBefore = process.cpuUsage()
  const held = (): number => value('svc_event_loop_delay', 'delay_quantile=max')
  // A reading that was taken too early or arrived too late does not count.
  for (let reading = 0; reading < 30 && !(held() >= 0.25); reading++) {
    // At another moment between two readings each time: one that is due before the delay is measured loses it.
    if (reading % 3 === 0) {
      await sleep((reading * 7) % 20)
      holdUp(300)
    }
    await next()
  }
  // biome-ignore lint/plugin: no delay is longer than the process has run
  isBetween(0.25, held(), performance.now() / 1000, 'the loop was held up')
  await next()
  // biome-ignore lint/plugin: compared with what the process exports
  const cpuAfter = process.cpuUsage()
  for (const cpu_mode of ['user', 'system'] as const) {
    const seconds = value('svc_process_cpu_time_total', `cpu_mode=${cpu_mode}`)
    isBetween(cpuBefore[cpu_mode] / 1e6, seconds, cpuAfter[cpu_mode] / 1e6, `${cpu_mode} time`)
  }
  const mostBytes = process.resourceUsage().maxRSS * 1024
  const resident = value('svc_process_memory', 'memory_kind=resident')
  isBetween(mostBytes / 100, resident, mostBytes, 'resident memory')
  isBetween(1, value('svc_process_memory', 'memory_kind=heap'), resident, 'the heap')

  const opened = Array.from({ length: 500 }, () => openSync('/dev/null', 'r'))
  await fresh()
  const withThem = value('svc_process_open_descriptors')
  for (const descriptor of opened) closeSync(descriptor)
  await fresh()
  // Connections and files of others open and close meanwhile.
  isBetween(250, withThem - value('svc_process_open_descriptors'), 750, '500 files that were open')
}
