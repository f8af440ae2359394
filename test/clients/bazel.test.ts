import { createHash } from 'node:crypto'
import { mkdir, readFile, readlink, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Bazel, bazelRelease, type Invocation } from './bazel.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { startServer } from './server.js'

t.setTimeout(420_000)

/** Debian's Bazel 4.2.3 does not know its release and says `no_version`. */
const program = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const release = await bazelRelease(program)
if (release === undefined || !/^(4\.2\.|no_version)/.test(release)) {
  const found = release === undefined ? `no ${program}` : `${program} is ${release}`
  t.plan(0, `needs Bazel 4.2 and found ${found}: apt-get install bazel-bootstrap, or name one in REMEXEC_TEST_BAZEL_4`)
  process.exit()
}

/** How many processes `bazel test //...` takes in the workspace. */
const allProcesses = 34

const folder = await scratchFolder(t)
const workspace = await copyFixture('workspace', folder)
const bazel = new Bazel(program, folder, workspace)
t.teardown(() => bazel.shutdown())
const dataFolder = join(folder, 'data')
/** Every server lives until the whole file has ended, whichever test started it. */
const suite = t
let server = await startServer(suite, dataFolder)

const executor = () => `--remote_executor=${server.uri}`
const done = (t: Test, { code, output }: Invocation) => t.equal(code, 0, 'exit code') || t.comment(output, server.log())
const text = (path: string) => readFile(bazel.output(path), 'utf8')

/** The sum of the 64 MiB that data/pattern.cc writes. */
const largeSum = () => {
  const words = new Uint32Array(16 * 1024 * 1024)
  let state = 1
  for (let at = 0; at < words.length; at++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[at] = state
  }
  return createHash('sha256').update(words).digest('hex')
}
const largeSha256 = largeSum()

const checkOutputs = async (t: Test) => {
  const large = await readFile(bazel.output('data/large.bin'))
  t.equal(large.length, 64 * 1024 * 1024)
  t.equal(createHash('sha256').update(large).digest('hex'), largeSha256, 'the 64 MiB')
  t.equal(await text('data/large_sum.txt'), `${largeSha256}\n`, 'the 64 MiB as an input')
  t.equal(await text('data/poem_words.txt'), '25\n', 'a tool that was built remotely')
  t.equal(await text('data/empty.txt'), '')
  t.equal(await text('tree/listing.txt'), './by-name/deep/a.txt\n./by-name/deep/b.txt\n./empty.txt\n./show.sh\ntree\n')
  t.equal(await text('tree/pages/by-name/deep/a.txt'), 'the first page\n')
  t.equal((await stat(bazel.output('tree/pages/show.sh'))).mode & 0o100, 0o100, 'executable')
  t.equal(await readlink(bazel.output('tree/linked_pages/first.txt')), 'by-name/deep/a.txt')
  t.equal(await readlink(bazel.output('tree/linked_pages/pages')), 'by-name/deep')
  t.equal(await readlink(bazel.output('links/pair_link.txt')), 'pair.txt')
  t.equal(await text('links/through.txt'), 'linked\npair\npair\n')
}

t.test('the first build runs everything remotely', async (t) => {
  const invocation = await bazel.run('test', executor(), '//...')
  done(t, invocation)
  t.same(invocation.ran, { remote: allProcesses })
  t.match(invocation.output, /Executed 2 out of 2 tests: 2 tests pass/)
  await checkOutputs(t)
})

t.test('a clean build takes everything from the cache', async (t) => {
  await bazel.clean()
  const invocation = await bazel.run('test', executor(), '//...')
  done(t, invocation)
  t.same(invocation.ran, { 'remote cache hit': allProcesses })
  t.match(invocation.output, /Executed 0 out of 2 tests: 2 tests pass/)
  await checkOutputs(t)
})

t.test('a restarted server still has everything', async (t) => {
  t.equal(await server.stop(), 143, 'SIGTERM is a clean end')
  server = await startServer(suite, dataFolder)
  await bazel.clean()
  const invocation = await bazel.run('test', executor(), '//...')
  done(t, invocation)
  t.same(invocation.ran, { 'remote cache hit': allProcesses })
  await checkOutputs(t)
})

t.test('after a change of a source only the actions that depend on it run', async (t) => {
  const source = join(workspace, 'text/count.cc')
  const before = await readFile(source, 'utf8')
  await writeFile(source, before.replace('++words;', 'words += 1;\n  if (words == 25) return 26;'))
  const changed = await bazel.runLogged('test', executor(), '//...')
  done(t, changed)
  const outputs = changed.spawns
    .filter(({ runner }) => runner === 'remote')
    .flatMap((spawn) => spawn.outputs)
    .map((path) => path.replace(/^bazel-out\/[^/]+\/(bin|testlogs)\//, ''))
  for (const path of ['text/libtext.a', 'text/libtext.so', 'text/count', 'text/count_test', 'data/poem_words.txt']) {
    t.ok(outputs.includes(path), `${path} is made anew`)
  }
  t.notOk(
    outputs.some((path) => /^(plain|tree|links)\//.test(path) || /large|main/.test(path)),
    'the rest is not',
  )
  t.equal(await text('data/poem_words.txt'), '26\n')

  await writeFile(source, before)
  const restored = await bazel.run('test', executor(), '//...')
  done(t, restored)
  t.same(Object.keys(restored.ran), ['remote cache hit'], 'the old results are still there')
  t.equal(await text('data/poem_words.txt'), '25\n')
})

t.test('minimal downloads leave outputs on the server until an action here reads one', async (t) => {
  await bazel.clean()
  // This Bazel refuses to leave links on the server.
  const targets = ['//...', '-//links/...', '-//tree:linked_pages']
  const minimal = await bazel.run('test', executor(), '--remote_download_minimal', '--', ...targets)
  done(t, minimal)
  t.same(Object.keys(minimal.ran), ['remote cache hit'])
  await t.rejects(stat(bazel.output('data/large.bin')), { code: 'ENOENT' }, 'not downloaded')

  const local = await bazel.run('build', executor(), '--remote_download_minimal', '//manual:local_sum')
  done(t, local)
  t.notOk(local.ran['remote'], 'the reader runs here')
  t.equal(await text('manual/local_sum.txt'), `${largeSha256}\n`)
})

t.test('instances: any name is served, from one cache', async (t) => {
  const build = (name: string) =>
    bazel.run(
      'build',
      executor(),
      `--remote_instance_name=${name}`,
      '--action_env=REMEXEC_INSTANCE=1',
      '//plain:upper',
      '//plain:two_outputs',
    )
  await bazel.clean()
  const first = await build('projects/some/default_instance')
  done(t, first)
  t.same(first.ran, { remote: 2 }, 'a variable of their own makes these new actions')
  await bazel.clean()
  const second = await build('main')
  done(t, second)
  t.same(second.ran, { 'remote cache hit': 2 })

  const impossible = await build('main/blobs')
  t.not(impossible.code, 0)
  t.match(impossible.output, /INVALID_ARGUMENT.*main\/blobs/, 'names the instance')
  t.match(impossible.output, /blobs is reserved/, 'and what is wrong with it')
})

t.test('a failing action shows its exit code and its output, each time', async (t) => {
  for (const attempt of ['first', 'second']) {
    const { code, output } = await bazel.run('build', executor(), '//manual:failing')
    t.equal(code, 1, `${attempt} attempt`)
    t.match(output, /\(Exit 7\)/)
    t.match(output, /^said on stdout$/m)
    t.match(output, /^said on stderr$/m)
  }
})

t.test('a failing test fails and a flaky one is tried again', async (t) => {
  const flakyFolder = join(folder, 'flaky')
  await mkdir(flakyFolder)
  const flags = [executor(), '--test_output=errors', `--test_env=FLAKY_DIR=${flakyFolder}`]
  const { code, output } = await bazel.run('test', ...flags, '//manual:failing_test', '//manual:flaky_test')
  t.equal(code, 3, 'some tests failed')
  t.match(output, /this test fails on purpose/)
  t.match(output, /\/\/manual:failing_test +FAILED/)
  t.match(output, /\/\/manual:flaky_test +FLAKY, failed in 1 out of 2/)
  t.match(output, /2 remote|[3-9] remote/)
})

t.test('cache only: results of local actions are uploaded, and found by the next build', async (t) => {
  const cache = await startServer(t, join(folder, 'cache-only-data'))
  const flags = [`--remote_cache=${cache.uri}`, '--spawn_strategy=local']
  // Without the 64 MiB, whose way is the same.
  const targets = ['//plain/...', '//text/...', '//tree/...']
  await bazel.clean()
  const first = await bazel.run('test', ...flags, ...targets)
  t.equal(first.code, 0) || t.comment(first.output, cache.log())
  t.same(Object.keys(first.ran), ['local'])
  t.ok((first.ran['local'] ?? 0) > 10)
  await bazel.clean()
  const second = await bazel.run('test', ...flags, ...targets)
  t.equal(second.code, 0) || t.comment(second.output, cache.log())
  t.same(second.ran, { 'remote cache hit': first.ran['local'] })
  t.equal(await text('tree/pages/by-name/deep/a.txt'), 'the first page\n')
})
