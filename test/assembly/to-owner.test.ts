import t from 'tap'
import type { Question, ReportMessage } from '../../src/assembly/threads/thread-calls.js'
import { ToOwner } from '../../src/assembly/threads/to-owner.js'
import { systemClock } from '../../src/base/clock.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { requestFacts } from '../../src/proto/request-metadata.js'
import { type Call, internalCall } from '../../src/rpc/call.js'
import { Invocations } from '../../src/rpc/invocations.js'
import { addPacked } from '../../src/rpc/packed-records.js'
import { RequestRecords } from '../../src/rpc/request-records.js'
import { bytesOfDraft, readDrafts } from '../../src/store/kinds/filesystem/records/drafts.js'
import { bytesOf, digestOf } from '../store/blobs.js'

const BOUND = 10_000

const asking = () => {
  const reports: ReportMessage[] = []
  const owner = new ToOwner(
    (report) => reports.push(report),
    () => undefined,
  )
  const ledger = new Ledger({ requests: BOUND })
  const held = { ledger, holder: ledger.connection('1.1.1.1').holder }
  const call = { ...internalCall(), held }
  const commit = (bytes: Buffer): Promise<void> => owner.ofStore('CAS').commit(digestOf(bytes), bytes, call)
  /** The numbers of the questions since the last time. */
  const asked = (): number[] => {
    owner.flush()
    return reports.splice(0).flatMap(({ questions }) => questions.map(([id]) => id))
  }
  return { owner, commit, asked, heldBytes: () => ledger.kinds.requests.heldBytes }
}

const smallOf = (question: Question): readonly Buffer[] => {
  if (question.about !== 'commit_small') throw new Error('small blobs are committed')
  return readDrafts(question.packed).map(bytesOfDraft)
}

t.test('the copy of a small blob counts until the owner has answered, whatever it says', async (t) => {
  const { owner, commit, asked, heldBytes } = asking()
  const stored = commit(bytesOf(1000, 'a'))
  const [first = 0] = asked()
  const [also, refused] = [commit(bytesOf(500, 'b')), commit(bytesOf(2000, 'c'))]
  t.equal(heldBytes(), 3500)
  const [second = 0] = asked()
  owner.answered([{ id: first, value: [] }])
  await stored
  t.equal(heldBytes(), 2500)
  const failure = { code: 8, message: 'no room', details: [] } as const
  owner.answered([{ id: second, value: [{ at: 1, failure }] }])
  await also
  await t.rejects(refused, { code: 8, message: 'no room' })
  t.equal(heldBytes(), 0)
  const lost = commit(bytesOf(1000, 'd'))
  const [third = 0] = asked()
  owner.answered([{ id: third, failure }])
  await t.rejects(lost, { code: 8, message: 'no room' })
  t.equal(heldBytes(), 0)
})

t.test('a small blob whose copy has no room is refused and not sent', async (t) => {
  const { commit, asked, heldBytes } = asking()
  const waiting = commit(bytesOf(BOUND / 2, 'a'))
  await t.rejects(commit(bytesOf(1, 'b')), { code: 8 }, 'a connection may hold half')
  t.equal(asked().length, 1)
  t.equal(heldBytes(), BOUND / 2)
  waiting.catch(() => {})
})

t.test('what waits is told in one message, and the records of blobs lie one behind the other', async (t) => {
  const { owner } = asking()
  const reports: ReportMessage[] = []
  const other = new ToOwner(
    (report) => reports.push(report),
    () => Int32Array.of(7),
  )
  const blobs = [bytesOf(10, 'a'), bytesOf(0, 'b'), bytesOf(20, 'c')]
  for (const bytes of blobs) void other.ofStore('CAS').commit(digestOf(bytes), bytes, internalCall())
  other.ofStore('CAS').usesWait()
  await new Promise(setImmediate)
  t.equal(reports.length, 1)
  const [{ questions, uses } = { questions: [], uses: [] }] = reports
  t.same(
    questions.map(([, question]) => smallOf(question)),
    [blobs],
  )
  t.same(uses, [['CAS', Int32Array.of(7)]])
  owner.flush()
  await new Promise(setImmediate)
  t.equal(reports.length, 1, 'nothing more is told')
  other.touched('build')
  await new Promise(setImmediate)
  const { touched, uses: again, questions: asked } = reports[1] ?? {}
  t.same([touched, again, asked], [['build'], [], []], 'and nothing twice')
})

t.test('small blobs go together if they are for one store and one build', async (t) => {
  const reports: ReportMessage[] = []
  const owner = new ToOwner(
    (report) => reports.push(report),
    () => undefined,
  )
  const invocations = new Invocations(systemClock)
  const builds = ['x', 'y'].map((id) => internalCall({ invocation: invocations.touch(id) }))
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => bytesOf(10, text)) as [Buffer, Buffer, Buffer, Buffer]
  const [x = internalCall(), y = internalCall()] = builds
  const put = (path: string, bytes: Buffer, call: Call) => void owner.ofStore(path).commit(digestOf(bytes), bytes, call)
  put('CAS', a, x)
  put('CAS', b, y)
  put('AC', c, x)
  put('CAS', d, x)
  await new Promise(setImmediate)
  const told = reports.flatMap(({ questions }) =>
    questions.map(([, question]) => {
      if (question.about !== 'commit_small') throw new Error('only small blobs were put')
      return [question.path, question.invocation, smallOf(question)]
    }),
  )
  t.same(told, [
    ['CAS', 'x', [a, d]],
    ['CAS', 'y', [b]],
    ['AC', 'x', [c]],
  ])
})

t.test('records of requests wait for the next message, or until there are many', async (t) => {
  const reports: ReportMessage[] = []
  const owner = new ToOwner(
    (report) => reports.push(report),
    () => undefined,
  )
  const records = new RequestRecords(systemClock, requestFacts)
  const told = (): string[] => {
    for (const { records: packed } of reports.splice(0)) if (packed !== undefined) addPacked(records, packed)
    return [...records].map(({ instance, action }) => `${instance} ${action}`).reverse()
  }
  owner.record('größe/\u{1F980}', undefined, { action: 'a-1', outcome: 'hit', sizeBytes: 10 })
  await new Promise(setImmediate)
  t.same(told(), [])
  owner.touched('build')
  await new Promise(setImmediate)
  t.same(told(), ['größe/\u{1F980} a-1'], 'with the next message')
  owner.record('', undefined, { action: 'b-1', outcome: 'miss', reason: 'absent' })
  owner.record('main', undefined, { action: 'c-1', outcome: 'failed', reason: 'INTERNAL' })
  owner.flush()
  t.same(told().slice(1), [' b-1', 'main c-1'], 'when all is told')
  t.match([...records][1], { outcome: 'miss', reason: 'absent', sizeBytes: undefined })
  t.match([...records][2], { outcome: 'hit', sizeBytes: 10 })
  for (let count = 0; count < 1000; count++) owner.record('', undefined, { action: `d-${count}`, outcome: 'hit' })
  await new Promise(setImmediate)
  t.equal(told().length, 1003, 'many are told at once')
})
