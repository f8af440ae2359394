import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { codec } from '../../src/proto/codec.js'
import { type Program, root, serve } from '../cli/program.js'
import { collect as received, TestClient } from '../server/client.js'
import { buildAction, EXECUTION, ExecutionStage, Reader, responseOf, stageOf } from '../service/execution-harness.js'
import { type Blob, blobOf, CAS, wire } from '../service/harness.js'
import { type Collector, collect, type ReceivedSpan } from './collector.js'

// For changes in: src/otlp, src/server/http, src/rpc, src/store/contract, src/scheduler, src/worker/attempt, src/service/execution

const DEFAULT = `${root}deploy/recipes/machine/remexec.json5`
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = '00f067aa0ba902b7'

/** The configuration of `npm start`, with a worker, exporting spans at once. */
const start = async (t: Test, env: NodeJS.ProcessEnv, { data = t.testdir(), config = DEFAULT } = {}) => {
  const program = serve(t, config, data, {
    ...{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_METRICS_EXPORTER: 'none', OTEL_BSP_SCHEDULE_DELAY: '20' },
    ...env,
  })
  const [, address = ''] = await program.hears(/grpc:\/\/([^ "]+)"?[ ,].*public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  return { program, client, address }
}

const traced = (flags = '01'): { metadata: Metadata } => {
  const metadata = new Metadata()
  metadata.set('traceparent', `00-${TRACE}-${CALLER}-${flags}`)
  metadata.set('tracestate', 'theirs=1')
  return { metadata }
}

const findMissing = (client: TestClient, blob: Blob, sent: { metadata?: Metadata } = {}) =>
  client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: [wire(blob.digest)] }, sent).response

/** The names from a span up to its call. */
const ancestry = (span: ReceivedSpan, all: readonly ReceivedSpan[]): string[] => {
  const above = all.find(({ id, trace }) => id === span.parent && trace === span.trace)
  return above === undefined ? [span.name] : [span.name, ...ancestry(above, all)]
}

const ends = async (program: Program): Promise<void> => {
  program.child.kill('SIGTERM')
  await program.ended
}

const has = (name: string) => (collector: Collector) => collector.spans.some((span) => span.name === name)

for (const protocol of ['grpc', 'http/protobuf'] as const) {
  t.test(`a call and its store accesses join the client's trace (${protocol})`, async (t) => {
    const { collector, ...addresses } = await collect(t)
    const { client } = await start(t, {
      OTEL_EXPORTER_OTLP_ENDPOINT: protocol === 'grpc' ? addresses.grpc : addresses.http,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test',
    })
    await findMissing(client, blobOf('absent'), traced())
    const call = `${CAS}/FindMissingBlobs`
    await collector.until(has(call))
    const { spans } = collector
    const server = spans.find(({ name }) => name === call)
    t.match(server, { kind: 2, trace: TRACE, parent: CALLER, state: 'theirs=1', status: 0 })
    t.match(server?.attributes, { 'rpc.system': 'grpc', 'rpc.service': CAS, 'rpc.method': 'FindMissingBlobs' })
    const tiers = spans.filter(({ name }) => name.startsWith('find_missing ')).map((span) => ancestry(span, spans))
    t.same(tiers.sort(), [
      ['find_missing CAS', call],
      ['find_missing CAS/fast', 'find_missing CAS', call],
    ])
    t.ok(
      spans.every(({ trace, tookNs }) => trace === TRACE && tookNs >= 0),
      'in one trace',
    )
    t.ok(collector.isGzip, 'compressed')
    t.match(collector.resource, { 'service.name': 'remexec', 'deployment.environment': 'test' })
  })
}

t.test('an action is traced from its call through queue and worker into the stores', async (t) => {
  const { collector, grpc } = await collect(t)
  const { client } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: grpc, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' })
  const input = blobOf('an input')
  const built = buildAction({
    command: { arguments: ['cp', 'in', 'out'], outputPaths: ['out'] },
    root: { files: [{ name: 'in', digest: wire(input.digest) }] },
  })
  const blobs = [built.action, built.command, built.root, input]
  const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  const { messages } = await received(
    client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) }, traced()),
  )
  t.equal(responseOf(messages.at(-1)).result?.exitCode, 0)

  const execute = `${EXECUTION}/Execute`
  await collector.until((its) => has(execute)(its) && has('attempt')(its))
  const spans = collector.spans.filter(({ trace }) => trace === TRACE)
  const chain = (name: string) => {
    const span = spans.find((one) => one.name === name)
    return span && ancestry(span, spans)
  }
  t.same(chain('queue'), ['queue', execute])
  t.same(chain('attempt'), ['attempt', execute])
  t.same(chain('fetch inputs'), ['fetch inputs', 'attempt', execute])
  t.same(chain('run'), ['run', 'attempt', execute])
  t.same(chain('upload outputs'), ['upload outputs', 'attempt', execute])
  t.same(chain('write AC'), ['write AC', 'action cache', execute])
  const ancestries = spans.map((span) => ancestry(span, spans).join(' < '))
  t.ok(ancestries.includes(`find_missing CAS/fast < find_missing CAS < upload outputs < attempt < ${execute}`))
  const attempt = spans.find(({ name }) => name === 'attempt')
  t.equal(attempt?.attributes['remexec.digest'], built.digest.key)
  const call = spans.find(({ name }) => name === execute)
  t.match(call?.attributes['remexec.operation'], /operations\//, 'found by what the log calls it')
  t.equal(call?.parent, CALLER)
  t.not(collector.spans.find(({ name }) => name === `${CAS}/BatchUpdateBlobs`)?.trace, TRACE, 'a call of its own')
})

t.test("a call that joins another client's run has its own trace, with a link to the run", async (t) => {
  const { collector, grpc } = await collect(t)
  const folder = t.testdir({ data: {} })
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: grpc, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
  const { client } = await start(t, env, { data: `${folder}/data` })
  execFileSync('mkfifo', [`${folder}/go`])
  const built = buildAction({ command: { arguments: ['/bin/sh', '-c', `read line < ${folder}/go`] } })
  const requests = [built.action, built.command, built.root].map(({ digest, bytes }) => ({
    digest: wire(digest),
    data: bytes,
  }))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  const asked = { actionDigest: wire(built.digest) }
  const executing = (operation: Parameters<typeof stageOf>[0]) => stageOf(operation) === ExecutionStage.EXECUTING
  const first = new Reader(client.serverStream(`${EXECUTION}/Execute`, asked, traced()))
  await first.until(executing)
  const second = new Reader(client.serverStream(`${EXECUTION}/Execute`, asked))
  await second.until(executing)
  writeFileSync(`${folder}/go`, 'now\n')
  for (const reader of [first, second]) t.equal(responseOf((await reader.rest()).at(-1)).result?.exitCode, 0)

  const calls = (its: Collector) => its.spans.filter(({ name }) => name === `${EXECUTION}/Execute`)
  await collector.until((its) => calls(its).length === 2)
  const [begun, joined] = calls(collector).sort((a) => (a.trace === TRACE ? -1 : 1))
  t.match(begun, { trace: TRACE, links: [] })
  t.not(joined?.trace, TRACE)
  t.same(joined?.links, [{ trace: TRACE, id: begun?.id }])
})

t.test('calls the client does not sample are not traced, and an invalid header starts a trace', async (t) => {
  const { collector, http } = await collect(t)
  const { client, program } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: http })
  await findMissing(client, blobOf('absent'), traced('00'))
  const metadata = new Metadata()
  metadata.set('traceparent', `00-${TRACE}-00`)
  await findMissing(client, blobOf('absent'), { metadata })
  await ends(program)
  const calls = collector.spans.filter(({ name }) => name === `${CAS}/FindMissingBlobs`)
  t.equal(calls.length, 1)
  t.match(calls[0], { parent: '' })
  t.not(calls[0]?.trace, TRACE)
})

t.test('a ratio sampler traces a share of the calls', async (t) => {
  const { collector, http } = await collect(t)
  const sampler = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0' }
  const { client, program } = await start(t, { OTEL_EXPORTER_OTLP_ENDPOINT: http, ...sampler })
  await findMissing(client, blobOf('absent'))
  await findMissing(client, blobOf('absent'), traced())
  await ends(program)
  t.strictSame([...new Set(collector.spans.map(({ trace }) => trace))], [TRACE], 'only what the client wants traced')
})

/** Without chunks. */
const TEAM = 'deploy/recipes/team/remexec.json5'

t.test('a miss is no error, an unimplemented call is one', async (t) => {
  const { collector, http } = await collect(t)
  const { client, program } = await start(
    t,
    { OTEL_EXPORTER_OTLP_ENDPOINT: http, REMEXEC_HOST: '127.0.0.1' },
    { config: TEAM },
  )
  const AC = 'build.bazel.remote.execution.v2.ActionCache'
  const absent = { actionDigest: wire(blobOf('absent').digest) }
  await t.rejects(client.unary(`${AC}/GetActionResult`, absent).response, { code: 5 })
  await t.rejects(client.unary(`${CAS}/SplitBlob`, { blobDigest: wire(blobOf('absent').digest) }).response, {
    code: 12,
  })
  await ends(program)
  const statuses = Object.fromEntries(collector.spans.map(({ name, status }) => [name, status]))
  t.match(statuses, { [`${AC}/GetActionResult`]: 0, 'read AC': 0, [`${CAS}/SplitBlob`]: 2 })
})

t.test('a grpc store passes the trace and the configured headers to the other server', async (t) => {
  const { collector, http } = await collect(t)
  const folder = t.testdir({ back: {}, front: {} })
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: http }
  const back = await start(t, env, { data: `${folder}/back` })
  const requestMetadata = 'build.bazel.remote.execution.v2.requestmetadata-bin'
  const endpoints = [{ address: `grpc://${back.address}` }]
  const server = {
    name: 'public',
    listener: { http: { socket_address: '127.0.0.1:0' } },
    services: { cas: [{ cas_store: 'BACK' }], bytestream: [{ cas_store: 'BACK' }] },
  }
  const grpc = { endpoints, store_type: 'cas', forward_headers: [requestMetadata] }
  const config = `${folder}/front.json`
  writeFileSync(config, JSON.stringify({ stores: [{ name: 'BACK', grpc }], servers: [server] }))
  const front = await start(t, env, { data: `${folder}/front`, config })
  const sent = traced()
  const invocation = codec('build.bazel.remote.execution.v2.RequestMetadata').encode({
    ...{ toolInvocationId: 'abc', targetId: '//a:b' },
  })
  sent.metadata.set(requestMetadata, Buffer.from(invocation))
  await findMissing(front.client, blobOf('absent'), sent)
  const call = `${CAS}/FindMissingBlobs`
  await collector.until(({ spans }) => spans.filter(({ name }) => name === call).length === 2)
  const behind = collector.spans.find(({ name, parent }) => name === call && parent !== CALLER)
  t.same(behind && ancestry(behind, collector.spans), [call, 'find_missing BACK', call])
  t.match(behind?.attributes, { 'remexec.invocation': 'abc', 'remexec.target': '//a:b' })
})

t.test('a request of an HTTP cache and its store accesses join the trace of the client', async (t) => {
  const { collector, grpc } = await collect(t)
  const memory = { memory: { eviction_policy: { max_bytes: '10mb' } } }
  const services = {
    cas: { main: { cas_store: 'CAS' } },
    ac: { main: { ac_store: 'AC' } },
    http_cache: { '/c': { kind: 'opaque', instance_name: 'main' } },
  }
  const listener = { http: { socket_address: '127.0.0.1:0' } }
  const data = t.testdir()
  const config = `${data}/remexec.json`
  writeFileSync(
    config,
    JSON.stringify({ stores: { CAS: memory, AC: memory }, servers: { public: { listener, services } } }),
  )
  const { address } = await start(
    t,
    { OTEL_EXPORTER_OTLP_ENDPOINT: grpc, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { data, config },
  )
  const headers = { traceparent: `00-${TRACE}-${CALLER}-01`, tracestate: 'theirs=1' }
  const put = await fetch(`http://${address}/c/key`, { method: 'PUT', headers, body: Buffer.alloc(10_000) })
  t.equal(put.status, 200)
  await collector.until(has('PUT /c'))
  const { spans } = collector
  const server = spans.find(({ name }) => name === 'PUT /c')
  t.match(server, { kind: 2, trace: TRACE, parent: CALLER, state: 'theirs=1', status: 0 })
  t.match(server?.attributes, { 'http.request.method': 'PUT', 'http.route': '/c' })
  const below = spans.map((span) => ancestry(span, spans)).filter((names) => names.length > 1)
  t.ok(below.length >= 2, 'body and entry') || t.comment(below)
  t.ok(below.every((names) => names.at(-1) === 'PUT /c'))
})

for (const protocol of ['grpc', 'http/protobuf'] as const) {
  t.test(`traces and metrics can go to different collectors (${protocol})`, async (t) => {
    const [ofAll, ofTraces] = [await collect(t), await collect(t)]
    const isGrpc = protocol === 'grpc'
    const { client, program } = await start(t, {
      OTEL_METRICS_EXPORTER: 'otlp',
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
      OTEL_EXPORTER_OTLP_ENDPOINT: isGrpc ? ofAll.grpc : ofAll.http,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=all',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: isGrpc ? ofTraces.grpc : `${ofTraces.http}/v1/traces`,
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=of%20traces',
    })
    await findMissing(client, blobOf('absent'), traced())
    await ends(program)
    t.ok(has(`${CAS}/FindMissingBlobs`)(ofTraces.collector))
    t.same([...ofTraces.collector.metrics.keys()], [])
    t.equal(ofTraces.collector.headers['x-key'], 'of traces')
    t.same(ofAll.collector.spans, [])
    t.ok(ofAll.collector.metrics.has('svc_rpc_duration'))
    t.equal(ofAll.collector.headers['x-key'], 'all')
  })
}

t.test('nothing is traced by default', async (t) => {
  const { collector, http } = await collect(t)
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: http, OTEL_TRACES_EXPORTER: '', OTEL_METRICS_EXPORTER: 'otlp' }
  const { client, program } = await start(t, env)
  await findMissing(client, blobOf('absent'), traced())
  await ends(program)
  t.same(collector.spans, [])
  t.ok(collector.requests > 0, 'its metrics were sent')
})
