import t from 'tap'
import type { ReportMessage } from '../../src/assembly/thread-calls.js'
import { ToOwner } from '../../src/assembly/to-owner.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { internalCall } from '../../src/rpc/call.js'
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

t.test('the copy of a small blob counts until the owner has answered, whatever it says', async (t) => {
  const { owner, commit, asked, heldBytes } = asking()
  const [stored, refused] = [commit(bytesOf(1000, 'a')), commit(bytesOf(2000, 'b'))]
  t.equal(heldBytes(), 3000)
  const [first = 0, second = 0] = asked()
  owner.answered([{ id: first }])
  await stored
  t.equal(heldBytes(), 2000)
  owner.answered([{ id: second, failure: { code: 8, message: 'no room', details: [] } }])
  await t.rejects(refused, { code: 8, message: 'no room' })
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

t.test('what waits is told in one message, and blobs lie one behind the other', async (t) => {
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
  const [{ questions, bytes, uses } = { questions: [], bytes: new Uint8Array(), uses: [] }] = reports
  t.same(
    questions.map(([, question]) => {
      if (question.about !== 'commit' || 'path' in question.written) throw new Error('a small blob is committed')
      const { offset, length } = question.written
      return Buffer.from(bytes.subarray(offset, offset + length))
    }),
    blobs,
  )
  t.same(uses, [['CAS', Int32Array.of(7)]])
  owner.flush()
  await new Promise(setImmediate)
  t.equal(reports.length, 1, 'nothing more is told')
  other.touched('build')
  await new Promise(setImmediate)
  t.match(reports, [{}, { touched: ['build'], uses: [], questions: [] }], 'and nothing twice')
})
