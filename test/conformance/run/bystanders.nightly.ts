import t, { type Test } from 'tap'
import { isAlive, openCandidate } from '../../../conformance/exam/candidate.js'
import type { Exam } from '../../../conformance/exam/exam.js'
import { lawfulVariants } from '../../../conformance/mutate/lawful.js'
import { instead, type Mutation } from '../../../conformance/mutate/mutation.js'
import { mutations } from '../../../conformance/mutate/mutations.js'
import { MutatingProxy } from '../../../conformance/mutate/proxy/proxy.js'
import type { ReportDocument } from '../../../conformance/report/document.js'
import type { Check } from '../../../conformance/requirements/check.js'
import { type Result, runChecks } from '../../../conformance/run/runner.js'
import { findMissingBlobs } from '../../../conformance/wire/methods.js'
import { conformance } from '../program.js'
import { startServer } from '../server.js'

// For changes in: conformance

// A fault is reported by the row it concerns and by no bystander, and a busy machine is no fault of the server.

t.setTimeout(180_000)
const upstream = await startServer(t)

const behind = async (t: Test, mutation: Mutation | undefined): Promise<string> => {
  const proxy = await MutatingProxy.listen(upstream, mutation as Mutation)
  t.teardown(() => proxy.close())
  return proxy.address
}

/** By the mutation: the rows that are run, and those of them that may say something. */
const CASES: readonly (readonly [name: string, only: string, blamed: readonly string[]])[] = [
  [
    'output-symlinks-end-the-run',
    'OUT-01,OUT-08,OUT-09,OUT-10,ACG-12,ACG-13,WAI-01,WAI-03,WAI-04,OPS-05',
    ['OUT-08', 'OUT-09'],
  ],
  ['batch-update-anonymous-entries', 'BUB', ['BUB-01']],
  ['digest-size-not-part-of-key', 'DIG', ['DIG-02']],
  ['execution-metadata-missing', 'EXE-46,EXE-47,EXE-53,EXE-54', ['EXE-46']],
]

for (const [name, only, blamed] of CASES) {
  t.test(`${name} is told by ${blamed.join(' and ')} alone`, async (t) => {
    const mutation = mutations.find((each) => each.name === name)
    const properties = ['--property', 'OSFamily=Linux']
    const address = await behind(t, mutation)
    const { stdout } = await conformance(address, '--quiet', '--format', 'json', '--only', only, ...properties)
    const { results } = JSON.parse(stdout) as ReportDocument
    const found = results.filter(({ verdict }) => !['pass', 'chosen', 'skip'].includes(verdict))
    t.same(
      found.map(({ id }) => id),
      blamed,
      found.map(({ id, reason }) => `${id} ${reason}`).join('; '),
    )
  })
}

t.test(
  'clients that would not talk to the server, and what only older ones use, are no reason to blame it',
  async (t) => {
    const address = await behind(
      t,
      lawfulVariants.find(({ name }) => name === 'starts-at-2.3'),
    )
    const only = 'CMD-07,OUT-09,SES-bazel-2.1-genrules,SES-bazel-4.2-genrules,SES-bazel-7.7-buildgrid,SES-siso,SES-recc'
    const { code, stdout } = await conformance(address, '--quiet', '--format', 'json', '--only', only)
    t.equal(code, 0)
    const { results } = JSON.parse(stdout) as ReportDocument
    const told = Object.fromEntries(results.map(({ id, verdict, reason }) => [id, `${verdict}: ${reason}`]))
    for (const id of ['SES-bazel-2.1-genrules', 'SES-bazel-4.2-genrules', 'SES-bazel-7.7-buildgrid']) {
      t.match(told[id], /^skip: Bazel \S+ rejects a server that announces 2\.3 to \S+: it speaks up to 2\.[01]$/)
    }
    for (const id of ['CMD-07', 'OUT-09', 'SES-siso']) {
      t.match(
        told[id],
        /^skip: the lowest version that the server announces is 2\.3; this is for clients below 2\.1$/,
        id,
      )
    }
    t.equal(told['SES-recc'], 'pass: ')
  },
)

const TOLD = { address: '', instanceName: '', properties: [], headers: {}, tls: {} }

const examined = async (t: Test, address: string, run: Check['run'], asksLateAgain: boolean): Promise<Result> => {
  const candidate = await openCandidate({ ...TOLD, address })
  t.teardown(() => candidate.client.close())
  const [result] = await runChecks([{ id: 'FMB-01', sends: 'Something.', run }], candidate, {
    concurrency: 1,
    missing: () => undefined,
    isAlive: () => isAlive(candidate),
    onResult: () => {},
    asksLateAgain,
  })
  return result as Result
}

/** Late that many times, then in time. */
const late =
  (times: number) =>
  async (exam: Exam): Promise<void> =>
    exam.expectInTime(--times < 0, 'an answer at once', 'one after 9 s')

t.test('a row with a late response runs again alone, and that run decides', async (t) => {
  const once = await examined(t, upstream, late(1), true)
  t.equal(once.verdict, 'pass')
  t.match(once.reason, /late beside other rows, and in time when this row ran alone/, 'and the report says so')
  t.equal((await examined(t, upstream, late(2), true)).verdict, 'fail', 'late again')
  t.equal((await examined(t, upstream, late(1), false)).verdict, 'fail', 'where nothing is asked again')
})

t.test('so is one of whose calls one was not answered before its deadline', async (t) => {
  let silences = 1
  const tamper = () => instead(findMissingBlobs, () => (silences-- > 0 ? 'silence' : undefined))
  const address = await behind(t, { name: 'silent-once', breaks: '', caughtBy: [], tamper })
  const asks = async (exam: Exam): Promise<void> => {
    const request = { instanceName: '', blobDigests: [exam.digest(exam.random(5))] }
    exam.expectCode(await exam.call(findMissingBlobs, request, { deadlineMs: 300 }), 'OK')
  }
  const result = await examined(t, address, asks, true)
  t.equal(result.verdict, 'pass', result.reason)
})

t.test('a wrong response in time is not asked for again', async (t) => {
  let asked = 0
  const result = await examined(
    t,
    upstream,
    async (exam) => {
      exam.expect(asked++ > 0, 'OK', 'INTERNAL')
    },
    true,
  )
  t.equal(result.verdict, 'fail')
  t.equal(asked, 1)
})
