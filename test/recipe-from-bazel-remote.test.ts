/** What the page says about flags of bazel-remote that have no equal. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import t from 'tap'
import { assemble } from '../src/assembly/main.js'
import { systemClock } from '../src/base/clock.js'
import { parseConfig } from '../src/config/load.js'
import { silentLog } from '../src/log/log.js'
import { root, serve } from './cli/program.js'
import { drawnBytes } from './drawn.js'
import { countersOf } from './metrics/page-counters.js'

const RECIPE = `${root}deploy/recipes/from-bazel-remote`
const MB = 1_000_000

const put = async (address: string, bytes: Buffer): Promise<number> => {
  const hash = createHash('sha256').update(bytes).digest('hex')
  return (await fetch(`http://${address}/cas/${hash}`, { method: 'PUT', body: new Uint8Array(bytes) })).status
}

t.test('--max_size_hard_limit: what is kept never exceeds max_bytes', async (t) => {
  const env = { REMEXEC_HOST: '127.0.0.1', REMEXEC_PORT: '0', REMEXEC_STATUS_PORT: '0' }
  const sizes = { REMEXEC_CAS_SIZE: '10mb', REMEXEC_CAS_EVICT: '1mb' }
  const server = serve(t, `${RECIPE}/remexec.json5`, t.testdir(), { ...env, ...sizes })
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+) server=http/)
  const kept: number[] = []
  for (let round = 0; round < 12; round++) {
    const answers = await Promise.all([0, 1, 2].map(() => put(address, drawnBytes(MB))))
    t.same(answers, [200, 200, 200])
    const { CurrSize } = (await (await fetch(`http://${address}/status`)).json()) as { CurrSize: number }
    kept.push(CurrSize)
  }
  t.ok(Math.max(...kept) > 5 * MB, 'the store was full')
  t.same(
    kept.filter((bytes) => bytes > 10 * MB),
    [],
  )
})

t.test('--max_proxy_blob_size: the stores of the page keep large blobs out of the bucket', async (t) => {
  const [, shown = ''] =
    /### Large blobs that stay out.*?```json5\n(.*?)```/s.exec(readFileSync(`${RECIPE}/README.md`, 'utf8')) ?? []
  const servers = `servers: [{ name: 'all', listener: { http: { socket_address: '127.0.0.1:0' } }, services: {
    cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], http_cache: { '/': { kind: 'bazel' } }, metrics: {},
  } }],`
  const text = shown
    .replaceAll('/var/lib/remexec', t.testdir())
    .replace(/experimental_cloud_object_store: \{.*?\}/, "memory: { eviction_policy: { max_bytes: '100mb' } }")
    .replace('stores: [', `${servers}\n  stores: [{ name: 'AC', memory: { eviction_policy: { max_bytes: '1mb' } } },`)
  const { config, problems } = parseConfig(text, 'page.json5', { env: {} })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  const running = await assemble(config, { clock: systemClock, log: silentLog })
  t.teardown(() => running.close())
  const address = running.addresses[0]?.address ?? ''
  for (const sizeBytes of [1000, 16 * 1024 * 1024]) t.equal(await put(address, drawnBytes(sizeBytes)), 200)
  t.match(await countersOf(address, 'svc_cache_operations_total', ['write']), {
    'DISK write success': 2,
    'CAS/lower_store/slow write success': 1,
  })
})
