import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DEFAULT, serve } from '../cli/program.js'
import { cleanEnv, run } from '../clients/process.js'
import { findClient } from '../clients/recipe/recipe.js'
import { root } from '../clients/scratch.js'
import { TestClient } from '../server/client.js'
import { blobOf, CAS, wire } from '../service/harness.js'
import { found } from '../until.js'
import { ruleTests, type Sample, TROUBLES } from './rule-tests.js'

// For changes in: deploy/observability, src/metrics, src/otlp

const KIT = join(root, 'deploy/observability')
const collector = await findClient('REMEXEC_TEST_OTELCOL', 'otelcol')
const prometheus = await findClient('REMEXEC_TEST_PROMETHEUS', 'prometheus')
const promtool = await findClient('REMEXEC_TEST_PROMTOOL', 'promtool')
const needs = { 'the OpenTelemetry Collector': collector, prometheus, promtool }
const lacking = Object.entries(needs).flatMap(([name, path]) => (path === undefined ? [name] : []))
const skip = lacking.length > 0 && `needs ${lacking.join(', ')}`

/** An address without a listener. */
const freeAddress = (): Promise<string> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const bound = server.address()
      const port = typeof bound === 'object' ? bound?.port : 0
      server.close(() => resolve(`127.0.0.1:${port}`))
    })
  })

const background = (t: Test, program: string, args: readonly string[], env: NodeJS.ProcessEnv): void => {
  const child = spawn(program, args, { env: { PATH: process.env['PATH'], ...env }, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', resolve))
  t.teardown(() => {
    child.kill('SIGKILL')
    return ended
  })
}

/** What `ask` answers once it is what is wanted; asked again until then, for as long as the test may take. */
const eventually = <T>(ask: () => Promise<T | undefined>): Promise<T> =>
  found(() => ask().catch(() => undefined), `${ask}`)

/** Three reads of four are hits, from now on until the test ends. */
const traffic = async (t: Test, client: TestClient): Promise<void> => {
  const kept = blobOf(Buffer.alloc(2000, 'k'))
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest: wire(kept.digest), data: kept.bytes }] })
    .response
  const digests = [kept, kept, kept, blobOf(Buffer.from('absent'))].map(({ digest }) => wire(digest))
  const timer = setInterval(() => {
    client.unary(`${CAS}/BatchReadBlobs`, { digests: digests.slice(0, 1) }).response.catch(() => {})
    for (const digest of digests.slice(1))
      client.unary(`${CAS}/BatchReadBlobs`, { digests: [digest] }).response.catch(() => {})
  }, 100)
  t.teardown(() => clearInterval(timer))
}

const samplesOf = (text: string): readonly Sample[] =>
  text.split('\n').flatMap((line) => {
    const [, series, value] = /^(svc_[^{ ]+(?:\{.*\})?) ([-+.\deE]+)$/.exec(line) ?? []
    return series === undefined ? [] : [{ series, value: Number(value) }]
  })

const panels = JSON.parse(readFileSync(join(KIT, 'dashboard.json'), 'utf8')).panels as {
  title: string
  targets: { expr: string }[]
}[]

/** Have nothing to show while nothing was evicted, ran or failed. */
const MAY_BE_EMPTY = /^(Retention|Calls that failed|Action stages)/

t.test('collector, rules and dashboard work on the metrics of a real run', { skip }, async (t) => {
  const folder = t.testdir()
  const [grpc, http, scraped, served] = await Promise.all([freeAddress(), freeAddress(), freeAddress(), freeAddress()])
  background(t, collector ?? '', ['--config', join(KIT, 'collector.yaml')], {
    COLLECTOR_GRPC: grpc,
    COLLECTOR_HTTP: http,
    COLLECTOR_PROMETHEUS: scraped,
  })
  const server = serve(t, DEFAULT, folder, {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://${grpc}`,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_METRIC_EXPORT_INTERVAL: '500',
  })
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=public/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  await traffic(t, client)

  const config = readFileSync(join(KIT, 'prometheus.yaml'), 'utf8')
    .replaceAll('15s', '1s')
    .replaceAll(/- (\S+-rules\.yaml)/g, (_line, name: string) => `- ${join(KIT, name)}`)
    .replace('127.0.0.1:9464', scraped)
  writeFileSync(join(folder, 'prometheus.yaml'), config)
  const options = [`--config.file=${folder}/prometheus.yaml`, `--storage.tsdb.path=${folder}/tsdb`]
  background(t, prometheus ?? '', [...options, `--web.listen-address=${served}`], {})

  const samples = await eventually(async () => {
    const found = samplesOf(await (await fetch(`http://${scraped}/metrics`)).text())
    const hasRead = found.some(({ series, value }) => /read".*result="miss"/.test(series) && value > 0)
    return hasRead ? found : undefined
  })
  const names = new Set(samples.map(({ series }) => series.replace(/\{.*/s, '')))
  for (const name of ['svc_cache_operations_total', 'svc_cache_size', 'svc_execution_active_count']) {
    t.ok(names.has(name), `${name} is called so in Prometheus too`)
  }
  const alerts = [...readFileSync(join(KIT, 'alert-rules.yaml'), 'utf8').matchAll(/- alert: (\w+)/g)]
  t.same(alerts.map(([, name]) => name).sort(), Object.keys(TROUBLES).sort(), 'each alert is tried')
  const reads = samples.filter(({ series }) => /svc_cache_operations_total\{.*name="read"/.test(series))
  const steady = samples.map((sample) => {
    if (!reads.includes(sample) || !/cache_type="CAS"/.test(sample.series)) return sample
    return { ...sample, value: /"hit"/.test(sample.series) ? 3 : /"miss"/.test(sample.series) ? 1 : 0 }
  })
  writeFileSync(join(folder, 'rules-test.yaml'), ruleTests(KIT, steady))
  t.match(await run(promtool ?? '', ['test', 'rules', join(folder, 'rules-test.yaml')], folder, cleanEnv(folder)), {
    code: 0,
  })

  const query = async (expr: string) => {
    const answer = await fetch(`http://${served}/api/v1/query?query=${encodeURIComponent(expr)}`)
    return (await answer.json()) as { status: string; error?: string; data: { result: { value: [number, string] }[] } }
  }
  const found = await eventually(async () => {
    const { data } = await query('svc:cache_hit_rate{cache_type="CAS"}')
    const share = Number(data.result[0]?.value[1])
    return Math.abs(share - 0.75) < 0.05 ? share : undefined
  })
  t.ok(found, `the hit rate of three reads of four is ${found}`)
  for (const { title, targets } of panels) {
    for (const { expr } of targets) {
      const asked = expr.replaceAll(/\$(job|instance)/g, '.*').replaceAll('$__rate_interval', '1m')
      const { status, error, data } = await query(asked)
      t.equal(status, 'success', `${title}: ${expr} ${error ?? ''}`)
      if (!MAY_BE_EMPTY.test(title)) t.ok(data.result.length > 0, `${title} shows something`)
    }
  }
})
