import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { serve } from '../../cli/program.js'
import { collect } from '../../otlp/collector.js'
import { TestClient } from '../../server/client.js'
import {
  type BuiltAction,
  buildAction,
  EXECUTION,
  ExecutionStage,
  Reader,
  responseOf,
  stageOf,
} from '../../service/execution-harness.js'
import { type Blob, blobOf, CAS, wire } from '../../service/harness.js'
import { untilSo } from '../../until.js'
import { textIn } from '../harness.js'

const listener = { http: { socket_address: '127.0.0.1:0' } }

const configuration = (data: string) => ({
  stores: [
    { name: 'SMALL', memory: { eviction_policy: { max_bytes: 1000 } } },
    {
      name: 'CAS',
      fast_slow: {
        fast: { filesystem: { content_path: `${data}/cas/content`, temp_path: `${data}/cas/temp` } },
        slow: { noop: {} },
      },
    },
    { name: 'AC', memory: {} },
  ],
  schedulers: [{ name: 'MAIN', simple: { supported_platform_properties: { arch: 'exact' } } }],
  workers: [
    {
      local: {
        ...{ name: 'busy', worker_api_endpoint: { uri: 'grpc://127.0.0.1:0' }, cas_fast_slow_store: 'CAS' },
        ...{ upload_action_result: { ac_store: 'AC' }, work_directory: `${data}/work`, max_inflight_tasks: 3 },
        platform_properties: {},
      },
    },
  ],
  servers: [
    {
      name: 'public',
      listener,
      services: {
        cas: [
          { instance_name: '', cas_store: 'CAS' },
          { instance_name: 'small', cas_store: 'SMALL' },
        ],
        execution: [{ instance_name: '', cas_store: 'CAS', scheduler: 'MAIN' }],
        health: {},
        metrics: {},
      },
    },
  ],
})

const upload = (client: TestClient, instanceName: string, ...blobs: Blob[]) =>
  client.unary(`${CAS}/BatchUpdateBlobs`, {
    instanceName,
    requests: blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
  }).response

const execute = async (client: TestClient, built: BuiltAction) => {
  await upload(client, '', built.action, built.command, built.root)
  return new Reader(client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) }))
}

/** The page as rows of cells, and its numbers by name. */
const open = async (address: string) => {
  const answer = await fetch(`http://${address}/`)
  const html = await answer.text()
  const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = '']) =>
    [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/g)].map(([, cell = '']) => textIn(cell)),
  )
  const numbers = Object.fromEntries(
    [...html.matchAll(/<li><b>([^<]*)<\/b>([^<]*)<\/li>/g)].map(([, value, name]) => [name, value]),
  )
  const row = (name: string) => rows.filter(([first]) => first === name)
  return { answer, html, rows, numbers, row, workers: () => rows.filter(([first]) => first?.startsWith('busy-')) }
}

const start = async (t: Test) => {
  const data = t.testdir({})
  const { collector, http } = await collect(t)
  writeFileSync(`${data}/config.json`, JSON.stringify(configuration(data)))
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: http, OTEL_METRIC_EXPORT_INTERVAL: '100' }
  const program = serve(t, `${data}/config.json`, data, env)
  const [, address = ''] = await program.hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  return { data, collector, program, address, client }
}

t.test('the page shows services, stores, queue and workers with the numbers of the metrics', async (t) => {
  const { data, collector, address, client } = await start(t)
  const [first, second] = [blobOf(Buffer.alloc(600, 1)), blobOf(Buffer.alloc(500, 2))]
  await upload(client, 'small', first)
  for (const { digest } of [first, first, first, second]) {
    await client.unary(`${CAS}/BatchReadBlobs`, { instanceName: 'small', digests: [wire(digest)] }).response
  }
  await upload(client, 'small', second)

  const outcomes = [['true'], ['false']].map((args) => buildAction({ command: { arguments: args } }))
  for (const built of outcomes) t.ok(responseOf((await (await execute(client, built)).rest()).at(-1)).result)
  execFileSync('mkfifo', [`${data}/go`])
  const waits = buildAction({ command: { arguments: ['/bin/sh', '-c', `read line < ${data}/go`] } })
  const running = await execute(client, waits)
  await running.until((operation) => stageOf(operation) === ExecutionStage.EXECUTING)
  const arm = { platform: { properties: [{ name: 'arch', value: 'arm64' }] } }
  const stuckAction = buildAction({ action: arm })
  const stuck = await execute(client, stuckAction)
  await stuck.until((operation) => stageOf(operation) === ExecutionStage.QUEUED)

  const { answer, html, numbers, row, workers } = await open(address)
  t.equal(answer.status, 200)
  t.match(answer.headers.get('content-type'), /^text\/html/)
  t.match(html, /<noscript><meta http-equiv="refresh" content="5"\/><\/noscript>/)
  t.match(textIn(html), /◐ degraded/, 'because an action waits for a worker that does not exist')
  t.match(textIn(html), /scheduler\/MAIN: 1 action waits: no worker can run it.*arch=arm64/)
  const short = (built: BuiltAction): string => built.digest.hash.slice(0, 12)
  const ofAction = (built: BuiltAction) => row(`action ${short(built)}`)
  t.match(ofAction(stuckAction), [[/^action/, /^–/, /no worker can run it/, /ago$/, '0', '0']])
  t.match(ofAction(waits), [[/^action/, /^–/, 'running', /ago$/, /^busy-/]])
  const [, bad] = outcomes
  t.match(bad && ofAction(bad), [[/^action/, /^–/, 'failure exit code 1', /ago$/, /s$/, /^busy/]])
  t.equal(
    row('fast').length,
    2,
    'a store stands below the one that it is nested in, for what it keeps and what was asked',
  )
  t.match(html, new RegExp(`build --remote_executor=grpc://${address}<`), 'the option to copy')
  t.same(row('public'), [
    ['public', 'cas', '(empty), small'],
    ['public', 'ac', '(empty), small'],
    ['public', 'bytestream', '(empty), small'],
    ['public', 'execution', '(empty)'],
    ['public', 'health', 'at /status'],
    ['public', 'metrics', 'at /metrics'],
  ])
  const [kept = [], asked] = row('SMALL')
  t.same(kept.slice(0, 4), ['SMALL', '500 B of 1 kB', '1', '1'])
  t.match(kept[4], /^\d+ m?s$/, 'how long what was evicted had not been used')
  t.same(kept.slice(5), ['3 h', '1'], 'what was promised, and broken')
  t.same(asked, ['SMALL', '75.0 %', '3', '1', '–', '0', '1.1 kB', '1.8 kB'])
  t.match(numbers, { queued: '1', executing: '1', workers: '1', success: '1', failure: '1', timeout: '0' })
  const [[name = '', ...worker] = []] = workers()
  const [id] = name.split(' ')
  t.match(worker, ['connected', '1 of 3', '0', '–', '–', '', /^\d+ s ago$/], 'and it keeps no tools and no input roots')

  const executing = `execution_stage=executing,execution_priority=0,execution_worker_id=${id}`
  const queued = 'execution_stage=queued,execution_priority=0,execution_worker_id='
  // A previous export may lie between the two.
  await collector.until(() => collector.of('svc_execution_active_count')[queued] === 1)
  t.same(collector.of('svc_execution_active_count'), { [queued]: 1, [executing]: 1 })
  t.same(collector.of('svc_execution_completed_count_total'), {
    'execution_result=success': 1,
    'execution_result=failure': 1,
  })
  t.match(collector.of('svc_cache_operations_total'), {
    'cache_type=SMALL,cache_operation_name=read,cache_operation_result=hit': 3,
    'cache_type=SMALL,cache_operation_name=read,cache_operation_result=miss': 1,
    'cache_type=SMALL,cache_operation_name=evict,cache_operation_result=success': 1,
  })
  t.match(collector.of('svc_cache_size'), { 'cache_type=SMALL': 500 })
  t.match(collector.of('svc_cache_io_total'), {
    'cache_type=SMALL,cache_io_direction=in': 1100,
    'cache_type=SMALL,cache_io_direction=out': 1800,
  })
  writeFileSync(`${data}/go`, 'now\n')
  await running.rest()
})

t.test('the page shows broken components and recent errors, without paths of the machine', async (t) => {
  const { data, address } = await start(t)
  await untilSo(async () => textIn((await open(address)).html).includes('✓ healthy'))
  rmSync(`${data}/cas/temp`, { recursive: true })
  // A check that has begun before may still end well.
  await untilSo(async () => (await fetch(`http://${address}/status`)).status === 503)
  const { html, row, rows } = await open(address)
  t.match(textIn(html), /✗ not healthy/)
  const [, reasons = ''] = /<ul class="note reasons bad">(.*?)<\/ul>/.exec(html) ?? []
  t.match(
    reasons,
    /stores\/CAS\/fast \(and so stores\/CAS\): cannot write and delete a file/,
    'the reason stands beside it',
  )
  t.ok(html.indexOf('>stores/CAS/fast<') < html.indexOf('>stores/SMALL<'), 'failed components come first')
  t.match(row('stores/CAS/fast'), [
    ['stores/CAS/fast', 'Failed', /^\d s ago$/, 'cannot write and delete a file: its folder is gone'],
  ])
  const trouble = rows.filter(([, level]) => level === 'error').map(([when, , ...line]) => [when, ...line])
  t.ok(
    trouble.some((line) =>
      line.join(' | ').match(/ago \| a component does not work \| component stores\/CAS\/fast, state Failed/),
    ),
  )
  t.notMatch(html, new RegExp(data))
})
