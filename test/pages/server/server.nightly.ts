import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { DEFAULT, serve } from '../../cli/program.js'
import { TestClient } from '../../server/client.js'
import { blobOf, CAS, wire } from '../../service/harness.js'

// For changes in: src/pages

/** Name of the machine's browser; undefined if there is none. */
const named = process.env['REMEXEC_TEST_CHROMIUM'] ?? 'chromium'
const browser = [named, 'chromium-browser', 'google-chrome'].find((name) => {
  try {
    execFileSync(name, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})

t.test(
  'a browser shows the numbers of stored and requested blobs',
  { skip: browser === undefined && 'no chromium' },
  async (t) => {
    const server = serve(t, DEFAULT, t.testdir())
    const [, address = ''] = await server.hears(/serving grpc:\/\/([^"\s]+)"?.*public/)
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const kept = blobOf(Buffer.alloc(2048, 'x'))
    await client.unary(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest: wire(kept.digest), data: kept.bytes }] })
      .response
    const digests = [kept, kept, kept, blobOf(Buffer.from('absent'))].map(({ digest }) => wire(digest))
    for (const digest of digests) await client.unary(`${CAS}/BatchReadBlobs`, { digests: [digest] }).response

    const options = ['--headless', '--no-sandbox', '--disable-gpu', '--virtual-time-budget=2000', '--dump-dom']
    const show = async (page: string): Promise<string> =>
      (await promisify(execFile)(browser ?? '', [...options, `http://${address}/${page}`], { timeout: 60_000 })).stdout
    const rowsOf = (html: string): readonly string[][] =>
      [...html.matchAll(/<tr>(.*?)<\/tr>/g)].map(([, row = '']) =>
        [...row.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/g)].map(([, cell = '']) => cell.replace(/<[^>]*>/g, '')),
      )
    const stores = await show('stores')
    const rows = rowsOf(stores)
    const store = rows.find(([name, share]) => name === 'CAS' && share?.endsWith(' %'))
    t.match(store, ['CAS', '75.0 %', '3', '1', '0', '2 kB', '6.1 kB'])
    t.match(rows.find(([name]) => name === 'fast')?.[1], /^2\.\d kB of /)
    t.match(
      rowsOf(await show('server')).find(([name]) => name === 'workers/worker_0'),
      ['workers/worker_0', /Ok|Initializing/],
    )
    t.match(stores, /http-equiv="refresh"/)
  },
)
