import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Candidate } from '../../../conformance/exam/candidate.js'
import { openCandidate } from '../../../conformance/exam/candidate.js'
import { Exam } from '../../../conformance/exam/exam.js'
import { mutations } from '../../../conformance/mutate/mutations.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import { runChecks } from '../../../conformance/run/runner.js'
import { Replay } from '../../../conformance/session/replay.js'
import { readSessions } from '../../../conformance/session/session.js'
import { checkOf, sessions } from '../../../conformance/session/session-checks.js'
import { untolerated } from '../../../conformance/session/tolerance.js'
import { startServer } from '../../clients/server.js'

// For changes in: conformance, src/proto

t.setTimeout(240_000)

/** One session compiles with what the worker has: this machine's gcc and its gold linker. */
const compiles = spawnSync('gcc', ['-fuse-ld=gold', '-Wl,--version', '-x', 'c', '/dev/null']).status === 0
const isHere = (id: string): boolean => compiles || id !== 'SES-bazel-4.2-cpp'

const upstream = (await startServer(t, join(t.testdir(), 'data'))).uri

const open = async (t: Test, address: string, parts: { readonly instanceName?: string } = {}): Promise<Candidate> => {
  const candidate = await openCandidate({
    address,
    instanceName: '',
    properties: [],
    headers: {},
    tls: {},
    ...parts,
  })
  t.teardown(() => candidate.client.close())
  return candidate
}

/** What came of every session, by its folder's name; '' when it passed. */
const replayAll = async (candidate: Candidate, names?: readonly string[]): Promise<Record<string, string>> => {
  const outcomes: Record<string, string> = {}
  const chosen = readSessions().filter(({ id }) => names?.includes(id.slice('SES-'.length)) ?? isHere(id))
  for (const session of chosen) {
    outcomes[session.id] = await new Replay(session, new Exam(candidate), ['metadata.stage']).run().then(
      () => '',
      (error) => `${error.name}: ${error.message}`,
    )
  }
  return outcomes
}

const passed = Object.fromEntries(sessions.filter(({ id }) => isHere(id)).map(({ id }) => [id, '']))

t.test('this server answers every client as it was answered when it was recorded', async (t) => {
  t.same(await replayAll(await open(t, upstream)), passed)
})

t.test('a server that already has the blobs of a session passes, and so does another instance name', async (t) => {
  t.same(await replayAll(await open(t, upstream, { instanceName: 'main' })), passed)
})

t.test('sessions beside each other', async (t) => {
  const candidate = await open(t, upstream)
  const told: string[] = []
  const chosen = sessions.filter(({ id }) => id !== 'SES-siso' && isHere(id)).map(checkOf)
  const results = await runChecks(chosen, candidate, {
    concurrency: 4,
    missing: (need) => (need === 'compressor:zstd' ? 'not announced' : undefined),
    isAlive: () => Promise.resolve(true),
    onResult: ({ requirement }) => told.push(requirement.id),
  })
  t.same([...told].sort(), results.map(({ requirement }) => requirement.id).sort())
  t.notOk(told.includes('SES-siso'), 'what is not selected is not run')
  for (const { requirement, verdict, reason } of results) {
    const needsZstd = sessions.find(({ id }) => id === requirement.id)?.needs.includes('compressor:zstd')
    t.equal(verdict, needsZstd ? 'skip' : 'pass', `${requirement.id} ${reason}`)
  }
})

/** What a broken server does, a session that must notice, and the words it says so with. */
const noticed: readonly [mutation: string, session: string, text: RegExp][] = [
  ['read-flips-byte', 'bazel-4.2-genrules', /ByteStream\/Read: data/],
  ['read-truncated-with-ok', 'moon-plain', /Read/],
  ['write-committed-size-off-by-one', 'bazel-2.1-genrules', /committedSize/],
  ['exit-code-lost', 'bazel-4.2-failing-action', /response\.result\.exitCode/],
  ['stdout-lost', 'bazel-4.2-failing-action', /response\.result\.stdout/],
  ['missing-reports-a-stranger', 'bazel-4.2-cache-only', /FindMissingBlobs: missingBlobDigests/],
  ['batch-read-status-left-out', 'pants', /BatchReadBlobs: responses\[.*\.status/],
  ['batch-read-flips-byte', 'siso', /BatchReadBlobs: data/],
  ['execution-metadata-missing', 'buck2', /response\.result\.executionMetadata/],
  ['output-executable-always', 'recc', /outputFiles\[upper\.txt\]\.isExecutable/],
  ['capabilities-no-digest-function', 'reclient', /digestFunctions/],
]

t.test('a session finds responses that its client could not use', async (t) => {
  for (const [name, session, text] of noticed) {
    const mutation = mutations.find((each) => each.name === name)
    if (!t.ok(mutation, `there is a mutation ${name}`) || mutation === undefined) continue
    const proxy = await MutatingProxy.listen(upstream, mutation)
    const candidate = await open(t, proxy.address)
    const { [`SES-${session}`]: outcome } = await replayAll(candidate, [session])
    t.match(outcome, /^Divergence: /, `${name}: ${session}`)
    t.match(outcome, text, `${name}: ${session}`)
    candidate.client.close()
    await proxy.close()
  }
})

t.test('one answer is right for one client and wrong for another', async (t) => {
  const proxy = await MutatingProxy.listen(
    upstream,
    mutations.find(({ name }) => name === 'batch-read-status-left-out'),
  )
  t.teardown(() => proxy.close())
  const outcomes = await replayAll(await open(t, proxy.address), ['pants', 'moon-plain', 'reclient'])
  t.match(outcomes['SES-pants'], /"OK"; found "absent"/)
  t.equal(outcomes['SES-moon-plain'], '')
  t.equal(outcomes['SES-reclient'], '')
})

t.test('a path that must be exact tolerates no difference', (t) => {
  const differences = [{ path: 'response.status.message', expected: 'a', found: 'b' }]
  t.same(untolerated(differences, 'Siso', 'x/Execute', []), [])
  t.same(untolerated(differences, 'Siso', 'x/Execute', ['response.status.message']), differences)
  t.end()
})
