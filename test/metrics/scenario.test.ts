import { rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { type Program, serve } from '../cli/program.js'
import { type Collector, collect } from '../otlp/collector.js'
import { collect as received, TestClient } from '../server/client.js'
import { buildAction, EXECUTION, FakeWorker, OPERATIONS, Reader, responseOf } from '../service/execution-harness.js'
import { type Blob, blobOf, CAS, wire } from '../service/harness.js'

const INSTANCE_NAMES = ['', 'small', 'disk']
const listener = { http: { socket_address: '127.0.0.1:0' } }

const configuration = (folder: string) => ({
  stores: [
    { name: 'CAS', memory: {} },
    { name: 'AC', memory: {} },
    { name: 'SMALL', memory: { eviction_policy: { max_bytes: 1000 } } },
    { name: 'DISK', filesystem: { content_path: `${folder}/content`, temp_path: `${folder}/temp` } },
  ],
  schedulers: [{ name: 'S', simple: { worker_timeout_s: 5, max_job_retries: 2 } }],
  servers: [
    {
      name: 'public',
      listener,
      services: {
        cas: INSTANCE_NAMES.map((instance_name) => ({
          instance_name,
          cas_store: instance_name === '' ? 'CAS' : instance_name.toUpperCase(),
        })),
        ac: [{ instance_name: '', ac_store: 'AC' }],
        execution: [{ instance_name: '', cas_store: 'CAS', ac_store: 'AC', scheduler: 'S' }],
        health: {},
      },
    },
    { name: 'workers', listener, services: { worker_api: { scheduler: 'S' } } },
  ],
})

interface Started {
  readonly program: Program
  readonly client: TestClient
  readonly workers: TestClient
  readonly folder: string
}

/** The program with this configuration, exporting to a collector twice a second. */
const start = async (t: Test, env: NodeJS.ProcessEnv, changes: object = {}): Promise<Started> => {
  const folder = t.testdir()
  writeFileSync(`${folder}/config.json`, JSON.stringify({ ...configuration(folder), ...changes }))
  const program = serve(t, `${folder}/config.json`, folder, { OTEL_METRIC_EXPORT_INTERVAL: '500', ...env })
  const client = async (server: string): Promise<TestClient> => {
    const [, address = ''] = await program.hears(new RegExp(`grpc://([^ "]+)"?[ ,].*${server}`))
    const connected = new TestClient(address)
    t.teardown(() => connected.close())
    return connected
  }
  return { program, client: await client('public'), workers: await client('workers'), folder }
}

const upload = (client: TestClient, instanceName: string, ...blobs: Blob[]) =>
  client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName,
    requests: blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
  }).response

const read = (client: TestClient, instanceName: string, blob: Blob) =>
  client.unary(`${CAS}/BatchReadBlobs`, { instanceName, digests: [wire(blob.digest)] }).response

const operations = (of: string, collector: Collector): Record<string, number> => {
  const prefix = `cache_type=${of},cache_operation_name=`
  const all = Object.entries(collector.of('svc_cache_operations_total')).filter(([key]) => key.startsWith(prefix))
  return Object.fromEntries(
    all.map(([key, value]) => [key.slice(prefix.length).replace(',cache_operation_result=', ' '), value]),
  )
}

for (const protocol of ['grpc', 'http/protobuf'] as const) {
  t.test(`a collector receives the exact numbers of store operations over ${protocol}`, async (t) => {
    const { collector, ...addresses } = await collect(t)
    const { client, folder, program } = await start(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? addresses.grpc : addresses.http,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20secret-of-the-operator',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,svc.instance_name=one',
      OTEL_SERVICE_NAME: 'another name',
    })
    const [first, second, absent] = [600, 500, 400].map((length) => blobOf(Buffer.alloc(length, length)))
    if (first === undefined || second === undefined || absent === undefined) throw new Error('no blobs')
    await upload(client, 'small', first)
    await read(client, 'small', first)
    await read(client, 'small', absent)
    await upload(client, 'small', second)
    const asked = { instanceName: 'small', blobDigests: [first, second].map(({ digest }) => wire(digest)) }
    await client.unary(`${CAS}/FindMissingBlobs`, asked).response
    await upload(client, 'small', { ...first, bytes: Buffer.alloc(600) })

    const large = blobOf(Buffer.alloc(300_000, 1))
    await upload(client, 'disk', large)
    await read(client, 'disk', large)
    rmSync(`${folder}/temp`, { recursive: true })
    await upload(client, 'disk', blobOf(Buffer.alloc(300_000, 2)))

    const small = { 'read hit': 1, 'read miss': 1, 'find_missing hit': 1, 'find_missing miss': 1 }
    const written = { 'write success': 2, 'write cancelled': 1, 'evict success': 1 }
    const disk = { 'read hit': 1, 'write success': 1, 'write error': 1 }
    await collector.until(
      () =>
        operations('DISK', collector)['write error'] === 1 && operations('SMALL', collector)['write cancelled'] === 1,
    )
    t.same(operations('SMALL', collector), { ...small, ...written })
    t.same(operations('DISK', collector), disk)
    const io = 'svc_cache_io_total'
    t.match(collector.of(io), {
      'cache_type=SMALL,cache_io_direction=in': 1100,
      'cache_type=SMALL,cache_io_direction=out': 600,
      'cache_type=DISK,cache_io_direction=in': 300_000,
      'cache_type=DISK,cache_io_direction=out': 300_000,
    })
    t.match(collector.of('svc_cache_size'), { 'cache_type=SMALL': 500 })
    t.match(collector.of('svc_cache_entries'), { 'cache_type=SMALL': 1, 'cache_type=DISK': 1 })
    t.match(collector.of('svc_cache_max_size'), { 'cache_type=SMALL': 1000 })
    t.ok(collector.values.has('svc_cache_evicted_age{cache_type=SMALL}'), 'how old the evicted blob was')
    t.match(collector.of('svc_cache_operation_duration'), {
      'cache_type=SMALL,cache_operation_name=read': 2,
      'cache_type=SMALL,cache_operation_name=write': 3,
    })

    t.match(collector.of('svc_rpc_duration'), {
      'rpc_service=build.bazel.remote.execution.v2.ContentAddressableStorage,rpc_method=FindMissingBlobs,rpc_code=OK': 1,
      'rpc_service=build.bazel.remote.execution.v2.ContentAddressableStorage,rpc_method=BatchReadBlobs,rpc_code=OK': 3,
    })
    t.match(collector.metrics.get('svc_cache_operations_total'), { unit: '1', sum: { isMonotonic: true } })
    t.match(collector.metrics.get('svc_cache_operation_duration'), { unit: 's' })
    t.equal(collector.metrics.get('svc_cache_size')?.unit, 'By')
    for (const name of ['svc_event_loop_delay', 'svc_process_memory', 'svc_process_open_descriptors']) {
      t.ok(collector.metrics.get(name)?.gauge.dataPoints.length > 0, name)
    }
    t.match(collector.resource, {
      'service.name': 'remexec',
      'deployment.environment': 'test',
      'svc.instance_name': 'one',
    })
    t.equal(collector.headers['authorization'], 'Bearer secret-of-the-operator')
    t.ok(collector.isGzip, 'compressed')
    t.match(program.said(), /OTEL_SERVICE_NAME has no effect/)
    t.notMatch(program.said(), /secret-of-the-operator/)
  })
}

t.test('a collector receives the outcomes of actions, each counted once', async (t) => {
  const { collector, grpc } = await collect(t)
  const { client, workers } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: grpc, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
  const worker = await new FakeWorker(workers, new ManualClock()).hello({ name: 'able', maxInflightAttempts: 5 })
  const alive = setInterval(() => worker.send({ keepAlive: {} }), 200)
  t.teardown(() => clearInterval(alive))

  const execute = async (name: string, policy: object = {}) => {
    const built = buildAction({ command: { arguments: [name] } })
    await upload(client, '', built.action, built.command, built.root)
    return client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest), ...policy })
  }
  const ends = async (stream: Awaited<ReturnType<typeof execute>>) => {
    const { messages } = await received(stream)
    return responseOf(messages.at(-1))
  }

  const at = (seconds: number) => ({ seconds: 1_700_000_000 + seconds, nanos: 0 })
  const times = {
    ...{ inputFetchStartTimestamp: at(0), inputFetchCompletedTimestamp: at(2) },
    ...{ executionStartTimestamp: at(2), executionCompletedTimestamp: at(9) },
    ...{ outputUploadStartTimestamp: at(9), outputUploadCompletedTimestamp: at(10) },
  }
  const success = ends(await execute('success'))
  worker.succeed(await worker.start(), { executionMetadata: { worker: worker.id, ...times } })
  await success
  await ends(await execute('success'))

  const failure = ends(await execute('failure'))
  worker.succeed(await worker.start(), { exitCode: 1 })
  await failure

  const timeout = ends(await execute('timeout'))
  worker.report(await worker.start(), { executeResponse: { status: { code: 4, message: 'too long' } } })
  await timeout

  const retried = ends(await execute('retried'))
  worker.report(await worker.start(), { workerError: { code: 13, message: 'disk on fire' } })
  worker.succeed(await worker.start(), {})
  await retried

  const cancelled = await execute('cancelled', { executionPolicy: { priority: -3 } })
  const states = new Reader(cancelled)
  const { name } = (await states.next()) as { name: string }
  await worker.start()
  const active = `execution_stage=executing,execution_priority=-3,execution_worker_id=${worker.id}`
  await collector.until(() => collector.of('svc_execution_active_count')[active] === 1)
  await client.unary(`${OPERATIONS}/CancelOperation`, { name }).response
  const stopped = await worker.next('kill')
  worker.report({ attemptId: stopped } as never, { workerError: { code: 10, message: 'killed' } })
  await states.rest()

  const silent = await new FakeWorker(workers, new ManualClock()).hello({
    name: 'silent',
    properties: [],
    maxInflightAttempts: 1,
  })
  await collector.until(() => collector.of('svc_worker_events_total')['worker_event=timeout'] === 1)
  t.not(silent.id, worker.id)

  const result = (of: string): string => `execution_result=${of}`
  await collector.until(() => collector.of('svc_execution_completed_count_total')[result('cancelled')] === 1)
  t.same(collector.of('svc_execution_completed_count_total'), {
    [result('success')]: 2,
    [result('cache_hit')]: 1,
    [result('failure')]: 1,
    [result('timeout')]: 1,
    [result('cancelled')]: 1,
  })
  t.same(collector.of('svc_execution_retry_count_total'), { '': 1 })
  t.same(collector.of('svc_worker_events_total'), { 'worker_event=connected': 2, 'worker_event=timeout': 1 })
  t.same(collector.of('svc_execution_stage_duration'), {
    'execution_stage=queued': 6,
    'execution_stage=input_fetch': 1,
    'execution_stage=executing': 1,
    'execution_stage=output_upload': 1,
  })
  const [executing] = collector.metrics
    .get('svc_execution_stage_duration')
    .histogram.dataPoints.filter((point: { sum: number }) => point.sum === 7)
  t.ok(executing, 'the command of seven seconds')
  await collector.until(() => Object.keys(collector.of('svc_execution_active_count')).length === 0)
  t.same(collector.of('svc_worker_slots'), { '': 5 })
  t.same(collector.of('svc_worker_count'), { 'worker_state=connected': 1 })
  t.notOk(collector.isGzip, 'compressed only where that is asked for')
})

t.test('actions are labelled and calls are logged if configured', async (t) => {
  const { collector, http } = await collect(t)
  const global = { metrics_action_digests: true, log_call_share: 1 }
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: http, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }
  const { client, workers, program } = await start(t, env, { global })
  const worker = await new FakeWorker(workers, new ManualClock()).hello({ name: 'able', maxInflightAttempts: 5 })
  const built = buildAction({ command: { arguments: ['seen'] } })
  await upload(client, '', built.action, built.command, built.root)
  const done = received(client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) }))
  worker.succeed(await worker.start(), {})
  await done
  const label = `execution_result=success,execution_action_digest=${built.digest.key}`
  await collector.until(() => collector.of('svc_execution_completed_count_total')[label] === 1)
  await program.hears(/ info +call method=\/\S+\/Execute code=OK .* share=1/)
})

t.test('metrics can be turned off, and the status page shows that', async (t) => {
  const { collector, http } = await collect(t)
  const global = { disable_metrics: true }
  const { client, program } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: http }, { global })
  await upload(client, '', blobOf('x'))
  const [, address = ''] = await program.hears(/grpc:\/\/([^ "]+)"?[ ,].*public/)
  const page = await (await fetch(`http://${address}/`)).text()
  t.match(page, /Not counted \(global\.disable_metrics\)/)
  t.notMatch(page, /cache hit/)
  program.child.kill('SIGTERM')
  await program.ended
  t.equal(collector.requests, 0)
})
