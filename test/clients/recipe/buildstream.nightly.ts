/**
 * BuildStream 2 with artifacts and sources at the server: the index is the Remote Asset API, the content the CAS. Each home
 * folder is a machine that has built nothing. The element only imports files, so no command runs.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, type Outcome, run } from '../process.js'
import { scratchFolder } from '../scratch.js'
import { startServer } from '../server.js'
import { recipeOf } from './recipe.js'

// For changes in: docs/clients.md, src/service/asset, src/assembly/assets.ts

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BUILDSTREAM'] ?? 'bst'
const release = await run(program, ['--version'], '/', cleanEnv('/')).then(
  ({ output }) => output.trim(),
  (error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  },
)
if (!release?.startsWith('2.')) {
  t.plan(0, `needs BuildStream 2 and found ${release}: name its bst in REMEXEC_TEST_BUILDSTREAM`)
  process.exit()
}

const folder = await scratchFolder(t)
const project = join(folder, 'project')
await mkdir(join(project, 'elements'), { recursive: true })
await mkdir(join(project, 'files', 'deep'), { recursive: true })
await writeFile(join(project, 'project.conf'), "name: hello\nmin-version: '2.0'\nelement-path: elements\n")
const ELEMENT = 'kind: import\nsources:\n- kind: local\n  path: files\n'
await writeFile(join(project, 'elements', 'hello.bst'), ELEMENT)
await writeFile(join(project, 'files', 'hello.txt'), 'hello\n')
await writeFile(join(project, 'files', 'deep', 'large'), Buffer.alloc(5_000_000, 'x'))

const memory = { memory: { eviction_policy: { max_bytes: '200mb' } } }
const config = join(folder, 'config.json')
await writeFile(
  config,
  JSON.stringify({
    stores: { CAS: memory, AC: memory },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: { main: { cas_store: 'CAS' } },
          ac: { main: { ac_store: 'AC' } },
          fetch: { main: { fetch_store: 'AC' } },
          push: { main: { push_store: 'AC' } },
        },
      },
    },
  }),
)
const server = await startServer(t, join(folder, 'data'), { config })

const settings = join(folder, 'buildstream.conf')
await writeFile(settings, await recipeOf('BuildStream', 'yaml', server))

const bst = async (home: string, ...args: readonly string[]): Promise<Outcome> => {
  await mkdir(join(folder, home), { recursive: true })
  const options = ['--no-interactive', '--no-colors', '-c', settings]
  return run(program, [...options, ...args], project, cleanEnv(join(folder, home)))
}

t.test('an artifact that one machine built is pulled by another', async (t) => {
  const first = await bst('one', 'build', 'hello.bst')
  t.equal(first.code, 0, first.output)
  t.match(first.output, /Pushed artifact/)
  t.match(first.output, /Pushed source/)
  const second = await bst('two', 'build', 'hello.bst')
  t.equal(second.code, 0, second.output)
  t.match(second.output, /Pulled artifact/)
  t.match(second.output, /Build Queue:\s+processed 0/)
  const out = join(folder, 'out')
  t.match(await bst('two', 'artifact', 'checkout', 'hello.bst', '--directory', out), { code: 0 })
  t.equal(await readFile(join(out, 'hello.txt'), 'utf8'), 'hello\n')
  t.equal((await readFile(join(out, 'deep', 'large'))).length, 5_000_000)
})

t.test('sources that one machine fetched are pulled by another', async (t) => {
  const third = await bst('three', 'source', 'fetch', 'hello.bst')
  t.equal(third.code, 0, third.output)
  t.match(third.output, /Pulled source/)
})

t.test('what the server does not have is built, and pushed', async (t) => {
  await writeFile(join(project, 'files', 'hello.txt'), 'changed\n')
  const changed = await bst('two', 'build', 'hello.bst')
  t.equal(changed.code, 0, changed.output)
  t.match(changed.output, /Build Queue:\s+processed 1/)
  t.match(changed.output, /Pushed artifact/)
})
