import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Bazel, bazelRelease, type Invocation } from './bazel.js'
import { copyFixture, scratchFolder } from './scratch.js'
import { startServer } from './server.js'

// For changes in: src/reapi, src/service/execution, src/worker/output, fixtures/workspace

t.setTimeout(900_000)

const program = process.env['REMEXEC_TEST_BAZEL_2'] ?? 'bazel-2.1.0'
const release = await bazelRelease(program)
if (!release?.startsWith('2.1.')) {
  const found = release === undefined ? `no ${program}` : `${program} is ${release}`
  t.plan(
    0,
    `needs Bazel 2.1 and found ${found}: npm install @bazel/bazel-linux_x64@2.1.0 and name it in REMEXEC_TEST_BAZEL_2`,
  )
  process.exit()
}

/** This release reads the workspace but for the rule in links/, whose call has another form here. */
const targets = ['//data/...', '//plain/...', '//text/...', '//tree/...']

const folder = await scratchFolder(t)
const bazel = new Bazel(program, folder, await copyFixture('workspace', folder))
t.teardown(() => bazel.shutdown())
const server = await startServer(t, join(folder, 'data'))

const done = (t: Test, { code, output }: Invocation) => t.equal(code, 0, 'exit code') || t.comment(output, server.log())
const text = (path: string) => readFile(bazel.output(path), 'utf8')

const checkOutputs = async (t: Test) => {
  t.equal((await readFile(bazel.output('data/large.bin'))).length, 64 * 1024 * 1024)
  t.equal(await text('data/poem_words.txt'), '25\n')
  t.equal(await text('plain/rest.txt'), 'BETA\nGAMMA\n')
  t.equal(await text('plain/said.txt'), 'said by a script\n')
  t.equal(await text('tree/listing.txt'), './by-name/deep/a.txt\n./by-name/deep/b.txt\n./empty.txt\n./show.sh\ntree\n')
}

t.test('an old Bazel runs remotely, then takes everything from the cache', async (t) => {
  const first = await bazel.run('test', `--remote_executor=${server.uri}`, ...targets)
  done(t, first)
  t.same(Object.keys(first.ran), ['remote'])
  t.match(first.output, /Executed 2 out of 2 tests: 2 tests pass/)
  await checkOutputs(t)

  await bazel.clean()
  const second = await bazel.run('test', `--remote_executor=${server.uri}`, ...targets)
  done(t, second)
  t.same(second.ran, { 'remote cache hit': first.ran['remote'] })
  await checkOutputs(t)
})

t.test('it shows a failing action', async (t) => {
  const { code, output } = await bazel.run('build', `--remote_executor=${server.uri}`, '//manual:failing')
  t.equal(code, 1)
  t.match(output, /\(Exit 7\)/)
  t.match(output, /^said on stderr$/m)
})
