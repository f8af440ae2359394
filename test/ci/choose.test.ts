import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'

const root = fileURLToPath(new URL('../..', import.meta.url))
const program = join(root, '.ci', 'choose.mjs')

const choose = (cwd: string, ...args: readonly string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], { cwd, encoding: 'utf8' })
  return { status, stderr, files: stdout.split('\n').filter((line) => line !== '') }
}

/** A repository with these files in its first commit, and functions that change it. */
const repository = (t: Test, files: Readonly<Record<string, string>>) => {
  const folder = t.testdir({})
  const git = (...args: readonly string[]) => {
    const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false']
    const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd: folder, encoding: 'utf8' })
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`)
  }
  const write = (path: string, text: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const commit = () => {
    git('add', '.')
    git('commit', '-q', '-m', 'change')
  }
  git('init', '-q')
  for (const [path, text] of Object.entries(files)) write(path, text)
  commit()
  return { folder, write, commit }
}

t.test('each nightly file names rooms that exist', async (t) => {
  const { files } = choose(root, 'nightly')
  for (const file of files) t.match(readFileSync(join(root, file), 'utf8'), /^\/\/ For changes in: \S/m, file)
  t.match(choose(root, 'changed', 'HEAD'), { status: 0, stderr: '' })
})

t.test('no file is both or neither: those that npm test runs, and the nightly ones', async (t) => {
  const { files } = choose(root, 'tests')
  t.ok(files.includes('test/ci/choose.test.ts'))
  t.strictSame(
    files.filter((file) => file.includes('nightly.')),
    [],
  )
  t.match(readFileSync(join(root, '.taprc'), 'utf8'), '- test/**/*.test.ts\n')
})

const rooms = {
  '.ci/servers': 'bring_REMEXEC_TEST_SERVER() { :; }\n',
  'src/store/kinds/grpc/kind.ts': '',
  'src/store/kinds/grpc_web/kind.ts': '',
  'src/rpc/call.ts': '',
  'src/cli.ts': '',
  'test/help.ts': "export const server = process.env['REMEXEC_TEST_SERVER'] ?? process.env['REMEXEC_TEST_SIZE']",
  'test/wide.ts': "export { server } from './help.js'",
  'test/a.test.ts': '',
  'test/b.nightly.ts': "import './wide.js'\n// For changes in: src/store/kinds/grpc, src/cli.ts\n",
  'test/c.nightly.ts': '// For changes in: src/rpc/\n// For changes in: src/cli.ts\n',
}

t.test('a change runs the nightly files whose rooms it touches', async (t) => {
  const { folder, write, commit } = repository(t, rooms)
  t.strictSame(choose(folder, 'tests').files, ['test/a.test.ts'])
  t.strictSame(choose(folder, 'nightly').files, ['test/b.nightly.ts', 'test/c.nightly.ts'])
  const cases = {
    'src/store/kinds/grpc/kind.ts': ['test/b.nightly.ts'],
    'src/store/kinds/grpc_web/kind.ts': [],
    'src/rpc/call.ts': ['test/c.nightly.ts'],
    'src/cli.ts': ['test/b.nightly.ts', 'test/c.nightly.ts'],
    'test/help.ts': ['test/b.nightly.ts'],
    'test/c.nightly.ts': ['test/c.nightly.ts'],
    'test/a.test.ts': [],
  }
  for (const [path, expected] of Object.entries(cases)) {
    const text = rooms[path as keyof typeof rooms] ?? ''
    write(path, `${text}\n// changed\n`)
    t.strictSame(choose(folder, 'changed', 'HEAD').files, expected, `${path}, not committed`)
    write(path, text)
  }
  write('src/store/kinds/grpc/new.ts', '')
  t.strictSame(choose(folder, 'changed', 'HEAD').files, ['test/b.nightly.ts'], 'a file more')
  write('src/cli.ts', 'changed')
  commit()
  write('src/rpc/call.ts', 'changed')
  commit()
  t.strictSame(choose(folder, 'changed').files, ['test/c.nightly.ts'], 'in the last commit')
  t.strictSame(
    choose(folder, 'changed', 'HEAD~2').files,
    ['test/b.nightly.ts', 'test/c.nightly.ts'],
    'since an earlier one',
  )
})

t.test('a nightly file without rooms, or with one that has moved, is an error', async (t) => {
  const { folder, write } = repository(t, rooms)
  write('test/d.nightly.ts', '// For changes in: src/gone, src/rpc\n')
  t.match(choose(folder, 'changed', 'HEAD'), { status: 1, stderr: /test\/d\.nightly\.ts names rooms .*: src\/gone/ })
  write('test/d.nightly.ts', '')
  t.match(choose(folder, 'changed', 'HEAD'), { status: 1, stderr: /test\/d\.nightly\.ts names no room/ })
})

t.test('a base that does not exist is an error, not an empty choice', async (t) => {
  const { folder } = repository(t, rooms)
  t.match(choose(folder, 'changed'), { status: 1, stderr: /HEAD~1/ })
})

t.test('the tools of a file are the variables that it and its imports read, and that .ci/bring knows', async (t) => {
  const { folder } = repository(t, rooms)
  t.strictSame(choose(folder, 'tools', 'test/b.nightly.ts').files, ['REMEXEC_TEST_SERVER'])
  t.strictSame(choose(folder, 'tools', 'test/a.test.ts', 'test/c.nightly.ts').files, [])
  t.strictSame(choose(folder, 'without-tools', 'test/a.test.ts', 'test/b.nightly.ts').files, ['test/a.test.ts'])
})

t.test('every variable that a test names as a program is one that .ci/bring brings', async (t) => {
  const { files } = choose(root, 'tools', ...choose(root, 'tests').files, ...choose(root, 'nightly').files)
  t.ok(files.length > 20, files.join(', '))
  const named = spawnSync('git', ['grep', '-hoE', 'needs [^\'"`]*REMEXEC_TEST_[A-Z0-9_]+', 'test'], {
    cwd: root,
    encoding: 'utf8',
  })
  const unknown = (named.stdout.match(/REMEXEC_TEST_\w+/g) ?? []).filter((variable) => !files.includes(variable))
  // A picture that is not a program, given by hand.
  t.strictSame(new Set(unknown), new Set(['REMEXEC_TEST_FASTCDC_PICTURE']))
})
