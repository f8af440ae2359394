import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Exam } from '../../../conformance/exam/exam.js'
import { Replay } from '../../../conformance/session/replay.js'
import { readSession } from '../../../conformance/session/session.js'
import { Bazel, bazelRelease } from '../../clients/bazel.js'
import { copyFixture, scratchFolder } from '../../clients/scratch.js'
import { startServer } from '../../clients/server.js'
import { needsBuildBox, startBuildBox } from './buildbox.js'
import { needsBuildGrid, startBuildGrid } from './buildgrid.js'
import { open, recording, useCache, useServer } from './recording.js'

// For changes in: conformance/session, conformance/record, src/service

// What clients said, recorded in front of other servers. Of what a client only caches, nothing that its actions rest on is ever
// uploaded; of what a server ran, it tells times, a worker and names of operations of its own.

t.setTimeout(180_000)
const ours = (await startServer(t, join(t.testdir(), 'data'))).uri

const bazel = process.env['REMEXEC_TEST_BAZEL_4'] ?? 'bazel'
const needsBazel = (await bazelRelease(bazel)) === undefined ? `needs ${bazel}, or one in REMEXEC_TEST_BAZEL_4` : false

/** Each server is asked twice: what the first replay stored must not answer the second. */
const replayTwice = async (t: Test, out: string, address: string): Promise<void> => {
  const session = readSession(out)
  for (const time of ['once', 'and again']) {
    await t.resolves(new Replay(session, new Exam(await open(t, address))).run(), `${address} ${time}`)
  }
}

const recordAClient = async (t: Test, upstream: string, use: typeof useCache): Promise<string> => {
  const out = join(t.testdir(), 'session')
  const recorder = await recording(t, upstream, '--client', 'Go SDK', out)
  await use(t, new Exam(await open(t, recorder.address)))
  await recorder.finish()
  t.same(recorder.notes, [], 'all of it can be salted')
  t.notMatch(readFileSync(join(out, 'session.json5'), 'utf8'), hostname(), 'and this machine is not named')
  return out
}

const recordBazel = async (t: Test, upstream: string): Promise<string> => {
  const folder = await scratchFolder(t)
  const client = new Bazel(bazel, folder, await copyFixture('sessions/workspace', folder))
  t.teardown(() => client.shutdown())
  const out = join(folder, 'session')
  const recorder = await recording(t, upstream, '--client', 'Bazel 4.2.3', out)
  const { code, output } = await client.run('build', `--remote_cache=${recorder.address}`, '//app:count')
  t.equal(code, 0) || t.comment(output)
  await recorder.finish()
  t.same(recorder.notes, [], 'all of it can be salted')
  return out
}

t.test('recorded in front of this server', async (t) => {
  await replayTwice(t, await recordAClient(t, ours, useCache), ours)
})

t.test('recorded in front of BuildGrid, replayed on it and on this server', { skip: needsBuildGrid }, async (t) => {
  const foreign = await startBuildGrid(t)
  const out = await recordAClient(t, foreign, useCache)
  await replayTwice(t, out, foreign)
  await replayTwice(t, out, ours)
})

t.test(
  'Bazel in front of BuildGrid, replayed on it and on this server',
  { skip: needsBuildGrid || needsBazel },
  async (t) => {
    const foreign = await startBuildGrid(t)
    const out = await recordBazel(t, foreign)
    await replayTwice(t, out, foreign)
    await replayTwice(t, out, ours)
  },
)

t.test('executed by BuildBox, replayed on it and on this server', { skip: needsBuildBox }, async (t) => {
  const foreign = await startBuildBox(t)
  const out = await recordAClient(t, foreign, useServer)
  await replayTwice(t, out, foreign)
  await replayTwice(t, out, ours)
})
