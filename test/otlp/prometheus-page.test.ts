import { spawnSync } from 'node:child_process'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { otlpSettings } from '../../src/otlp/settings.js'
import { hashOf } from '../../src/security/identity/credential.js'
import { findClient } from '../clients/recipe/recipe.js'
import { TestClient } from '../server/client.js'
import { blobOf, CAS, wire } from '../service/harness.js'

const promtool = await findClient('REMEXEC_TEST_PROMTOOL', 'promtool')
const TOKEN = 'a-token-for-who-administers'

const serve = async (t: Test, metrics: object | undefined, more: object = {}) => {
  const text = JSON.stringify({
    stores: { CAS: { memory: { eviction_policy: { max_bytes: '1mb' } } }, AC: { noop: {} } },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: { '*': { cas_store: 'CAS' } }, ac: { '*': { ac_store: 'AC' } }, ...(metrics && { metrics }) },
      },
    },
    ...more,
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const otlp = otlpSettings({ OTEL_RESOURCE_ATTRIBUTES: 'svc.instance_name=team-server,cloud.region=x' }).settings
  const running = await assemble(config, { clock: systemClock, log: silentLog, otlp })
  t.teardown(() => running.close())
  const address = running.addresses[0]?.address ?? ''
  return { address, page: `http://${address}/metrics` }
}

t.test('the page has what OTLP has, with the names of the specification, and Prometheus takes it', async (t) => {
  const { address, page } = await serve(t, {})
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const { digest, bytes } = blobOf(Buffer.alloc(700))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest: wire(digest), data: bytes }] }).response
  await client.unary(`${CAS}/BatchReadBlobs`, { digests: [wire(digest)] }).response

  const answer = await fetch(page)
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  const text = await answer.text()
  const seriesOf = (name: string, ...labels: readonly string[]) => {
    const line = text.split('\n').find((line) => line.startsWith(`${name}{`) && labels.every((it) => line.includes(it)))
    return line === undefined ? undefined : Number(line.split(' ').at(-1))
  }
  const hits = ['cache_type="CAS"', 'cache_operation_name="read"', 'cache_operation_result="hit"']
  t.equal(seriesOf('svc_cache_operations_total', ...hits), 1)
  t.equal(seriesOf('svc_cache_size', 'cache_type="CAS"'), 700)
  t.equal(seriesOf('svc_cache_operation_duration_count', 'cache_type="CAS"', '"read"'), 1)
  t.equal(seriesOf('svc_cache_operation_duration_bucket', 'cache_type="CAS"', '"read"', 'le="+Inf"'), 1)
  t.equal(seriesOf('svc_rpc_duration_count', 'rpc_method="BatchReadBlobs"', 'rpc_code="OK"'), 1)
  t.equal(seriesOf('svc_execution_completed_count_total', 'execution_result="success"'), 0)
  t.equal(seriesOf('svc_execution_active_count', 'execution_stage="queued"'), undefined, 'there is no queue here')
  t.match(text, /^svc_execution_retry_count_total\{/m)
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  t.ok(samples.length > 50)
  t.same(
    samples.filter((line) => !line.includes('svc_instance_name="team-server"') || line.includes('region')),
    [],
    'the part of the fleet is a label, other attributes are not',
  )
  t.test('promtool', { skip: promtool === undefined && 'needs promtool' }, async (t) => {
    const { stdout, stderr } = spawnSync(promtool ?? '', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    // Its other advice is about names that the specification fixes.
    const advice = `${stdout}${stderr}`
      .split('\n')
      .filter((line) => !/should (have|not have) |should not include|^$/.test(line))
    t.same(advice, [])
    const broken = spawnSync(promtool ?? '', ['check', 'metrics'], { input: `${text}svc{ 1\n`, encoding: 'utf8' })
    t.not(broken.status, 0)
    t.match(broken.stderr, /error while linting/)
  })
})

t.test('the page is compressed for clients that accept gzip', async (t) => {
  const { page } = await serve(t, {})
  for (const [accepted, encoding] of [
    ['gzip', 'gzip'],
    ['deflate, gzip;q=0.5', 'gzip'],
    ['identity', null],
    ['gzip;q=0', null],
  ] as const) {
    const answer = await fetch(page, { headers: { 'accept-encoding': accepted } })
    t.equal(answer.headers.get('content-encoding'), encoding, accepted)
    t.match(await answer.text(), /^# HELP /)
  }
})

t.test('each tenant has numbers of its own, if configured', async (t) => {
  const { address, page } = await serve(t, {}, { global: { metrics_instance_names: true } })
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const ask = (instanceName: string) =>
    client.unary(`${CAS}/FindMissingBlobs`, { instanceName, blobDigests: [wire(blobOf(Buffer.from('x')).digest)] })
      .response
  for (const tenant of ['red', 'red', 'blue']) await ask(tenant)
  const { bytes, digest } = blobOf(Buffer.alloc(9))
  const { hash } = wire(digest) as { hash: string }
  const resourceName = `blue/uploads/6f1c9d1e-9c1b-4a57-9d2b-3c1f2a4b5c6d/blobs/${hash}/9`
  const { call, response } = client.clientStream('google.bytestream.ByteStream/Write')
  call.end({ resourceName, data: bytes, finishWrite: true })
  await response
  const text = await (await fetch(page)).text()
  t.match(text, /^svc_rpc_duration_count\{.*rpc_method="Write".*instance_name="blue".* 1$/m, 'named in a resource name')
  for (const [tenant, calls] of Object.entries({ red: 2, blue: 1 })) {
    t.match(text, new RegExp(`^svc_rpc_duration_count\\{.*instance_name="${tenant}".* ${calls}$`, 'm'))
  }
})

t.test('without the service there is no page', async (t) => {
  const { page } = await serve(t, undefined)
  t.equal((await fetch(page)).status, 404)
})

t.test('with security the page needs administer, unless it is for everybody', async (t) => {
  const security = {
    identity: { tokens: [{ name: 'ann', sha256: hashOf(TOKEN) }] },
    access: [{ names: ['ann'], may: ['administer'] }],
  }
  const { page } = await serve(t, {}, { security })
  t.equal((await fetch(page)).status, 401)
  t.equal((await fetch(page, { headers: { authorization: `Bearer ${TOKEN}` } })).status, 200)
  const open = await serve(t, { anonymous: true }, { security })
  t.equal((await fetch(open.page)).status, 200)
  t.equal((await fetch(`http://${open.address}/`)).status, 404)
})
