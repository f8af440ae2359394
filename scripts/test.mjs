// Runs test files, compiled once for all of them: node scripts/test.mjs [OPTION...] [FILE or FOLDER...]. A folder: all
// files NAME.test.ts below it. Without either: the folder test.
//   --reporter NAME     of tap: base on a terminal, otherwise tap
//   --timeout SECONDS   for a file: 600. Only for one that never ends
//   --jobs COUNT        files at a time: two more than processors, because many wait. With 1 each check is printed at once, not when its file has ended
//   --grep TEXT         only tests whose title matches this regular expression
//   --as-given          files in this order: otherwise those that take longest come first
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import t from 'tap'
import { buildTests, builtOf } from './build-tests.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    'as-given': { type: 'boolean', default: false },
    grep: { type: 'string' },
    jobs: { type: 'string', default: String(availableParallelism() + 2) },
    reporter: { type: 'string', default: process.stdout.isTTY ? 'base' : 'tap' },
    timeout: { type: 'string', default: '600' },
  },
})
const named = positionals.map((path) => relative(root, resolve(path)))
process.chdir(root)

const isFolder = (path) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
const testsBelow = (folder) =>
  readdirSync(folder, { recursive: true })
    .map((path) => `${folder}/${path}`)
    .filter((path) => path.endsWith('.test.ts'))
/** Those that take long begin first, so that none still runs when all others have ended. */
const longest = readFileSync('test/longest-first.txt', 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
const rank = (file) => (longest.includes(file) ? longest.indexOf(file) : longest.length)
const files = (named.length > 0 ? named : ['test']).flatMap((path) => (isFolder(path) ? testsBelow(path) : [path]))
if (!values['as-given']) files.sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))

const absent = [...longest, ...files].filter((file) => !existsSync(file))
if (absent.length > 0) {
  console.error(`no such test file: ${absent.join(', ')}`)
  process.exit(2)
}
try {
  await buildTests()
} catch (error) {
  console.error(error.message)
  process.exit(1)
}

// One listener for each file that runs.
process.setMaxListeners(0)
t.setTimeout(0)
t.jobs = Number(values.jobs)
if (values.reporter !== 'tap') {
  const reporter = spawn('node_modules/.bin/tap', ['--reporter', values.reporter, '-'], { stdio: ['pipe', 1, 2] })
  t.pipe(reporter.stdin)
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => t.endAll())

// A test fails if a buffer is written to, or given back again, after its owner gave it back (src/base/reused-buffers.ts).
const env = {
  REMEXEC_CHECK_BUFFERS: '1',
  ...process.env,
  TAP_TIMEOUT: values.timeout,
  ...(values.grep !== undefined && { TAP_GREP: `/${values.grep}/` }),
}
// tap would have every process of a test load what measures coverage. Threads that collect garbage take time of other files.
const ownOptions = `NODE_OPTIONS=${process.env.NODE_OPTIONS ?? ''}`
await Promise.all(
  files.map((file) =>
    t.spawn('env', [ownOptions, process.execPath, '--single-threaded-gc', builtOf(file)], {
      at: null,
      buffered: t.jobs > 1,
      env,
      name: file,
      stack: '',
      timeout: Number(values.timeout) * 1000,
    }),
  ),
)
t.end()
if (!t.passing()) process.exitCode = 1
