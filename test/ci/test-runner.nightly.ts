/** The program that `npm test` runs, over test files that fail in each of the ways a test file can fail. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

// For changes in: scripts, package-lock.json, tsconfig.json

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs these test files as `npm test` does, in a checkout that has no others. */
const run = (t: Test, files: Readonly<Record<string, string>>, ...args: readonly string[]) => {
  const folder = t.testdir({ scripts: { build: {} }, test: { 'longest-first.txt': '# none\n', ...files } })
  for (const folderOfOthers of ['src', 'conformance', 'bench']) mkdirSync(join(folder, folderOfOthers))
  for (const path of ['package.json', 'tsconfig.json', 'scripts/test.mjs', 'scripts/build-tests.mjs', 'scripts/tap']) {
    cpSync(join(root, path), join(folder, path), { recursive: true })
  }
  for (const path of ['node_modules', 'scripts/build/node_modules']) symlinkSync(join(root, path), join(folder, path))
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('TAP'))
  const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.mjs', ...args], {
    cwd: folder,
    encoding: 'utf8',
    env: Object.fromEntries(own),
  })
  return { status, stdout, stderr }
}

const PASSES = `import t from 'tap'
t.test('passes', async (t) => { t.ok(true) })
`
const FAILS = `import t from 'tap'

interface OnlyATypeOfTwoLines {
  readonly found: boolean
}
t.test('fails', async (t) => {
  const { found }: OnlyATypeOfTwoLines = { found: false }
  t.ok(found, 'what is found')
})
`

t.test('files that pass', async (t) => {
  const { status, stdout } = run(t, { 'a.test.ts': PASSES, 'b.test.ts': PASSES, 'other.ts': 'process.exit(1)' })
  t.equal(status, 0)
  t.match(stdout, /^ok 1 - test\/a\.test\.ts # time=.*^ok 2 - test\/b\.test\.ts # time=/ms)
})

t.test('a failing check names its file and its line in the source', async (t) => {
  const { status, stdout } = run(t, { 'a.test.ts': PASSES, 'b.test.ts': FAILS })
  t.equal(status, 1)
  t.match(stdout, /^ok 1 - test\/a\.test\.ts.*^ {4}not ok 1 - fails.*^not ok 2 - test\/b\.test\.ts/ms)
  t.match(stdout, /not ok 1 - what is found\n.*?fileName: test\/b\.test\.ts\n *lineNumber: 8\n/s)
})

t.test('a file that throws, ends early, or takes too long fails', async (t) => {
  const { status, stdout } = run(
    t,
    {
      'ends.test.ts': `${PASSES}t.test('never ends', () => new Promise(() => {}))\n`,
      'late.test.ts': `${PASSES}t.test('late', () => new Promise((done) => setTimeout(done, 60_000)))\n`,
      'throws.test.ts': `${PASSES}throw new Error('thrown at the top')\n`,
      'without.test.ts': `import './missing.js'\n`,
    },
    // The others have this long to start.
    '--timeout=10',
  )
  t.equal(status, 1)
  for (const file of ['ends', 'late', 'throws', 'without'])
    t.match(stdout, new RegExp(`^not ok \\d - test/${file}.test`, 'm'))
  t.match(stdout, 'thrown at the top')
})

t.test('an error that nobody catches fails the test that runs', async (t) => {
  const lines = [
    `t.test('calls', async (t) => { setImmediate(() => { throw new Error('of a callback') }); await new Promise(() => {}) })`,
    `t.test('outer', async (t) => {`,
    `  t.test('rejects', async () => { Promise.reject(new Error('of a promise')); await new Promise(() => {}) })`,
    `  t.test('goes on', async (t) => { t.ok(true) })`,
    `})`,
  ]
  const { status, stdout } = run(t, { 'a.test.ts': `${PASSES}${lines.join('\n')}\n` })
  t.equal(status, 1)
  t.match(stdout, /^ {8}not ok 1 - of a callback\n.*^ {4}not ok 2 - calls # time=/ms)
  t.match(stdout, /^ {12}not ok 1 - of a promise\n.*^ {8}not ok 1 - rejects # time=.*^ {8}ok 2 - goes on # time=/ms)
})

t.test('an error of code that was made from text has a stack, too', async (t) => {
  const made = `t.test('made', async (t) => { t.match(new Function('return new Error("of text")')().stack, 'of text') })`
  const { status } = run(t, { 'a.test.ts': `${PASSES}${made}\n` })
  t.equal(status, 0)
})

t.test('a file that cannot be compiled fails the run, with its line', async (t) => {
  const { status, stdout, stderr } = run(
    t,
    { 'a.test.ts': PASSES, 'b.test.ts': `${PASSES}\nconst = 1\n` },
    'test/a.test.ts',
  )
  t.match({ status, stdout }, { status: 1, stdout: '' })
  t.match(stderr, /test\/b\.test\.ts:4:6: ERROR/)
})

t.test('a file that does not exist fails the run', async (t) => {
  const { status, stderr } = run(t, { 'a.test.ts': PASSES }, 'test/b.test.ts')
  t.match({ status, stderr }, { status: 2, stderr: 'no such test file: test/b.test.ts' })
})

t.test('a reporter of tap', async (t) => {
  const { status, stdout } = run(t, { 'a.test.ts': PASSES, 'b.test.ts': FAILS }, '--reporter=terse')
  t.equal(status, 1)
  t.match(stdout, 'what is found')
})
