import { MessageChannel } from 'node:worker_threads'
import t, { type Test } from 'tap'
import type { RefusedBlob, ServingToOwner } from '../../src/assembly/threads/thread-calls.js'
import { ToOwner } from '../../src/assembly/threads/to-owner.js'
import { systemClock } from '../../src/base/clock.js'
import { StatusError } from '../../src/base/status-error.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { requestFacts } from '../../src/proto/request-metadata.js'
import { type Call, internalCall } from '../../src/rpc/call.js'
import { Invocations } from '../../src/rpc/invocations.js'
import { addPacked } from '../../src/rpc/packed-records.js'
import { RequestRecords } from '../../src/rpc/request-records.js'
import { ThreadChannel } from '../../src/server/threads/channel.js'
import { bytesOfDraft, readDrafts } from '../../src/store/kinds/filesystem/records/drafts.js'
import { bytesOf, digestOf } from '../store/blobs.js'
import { until } from '../until.js'

const BOUND = 10_000

interface Asked {
  readonly path: string
  readonly invocation: string | undefined
  readonly small: readonly Buffer[]
  readonly answer: (refused: readonly RefusedBlob[]) => void
  readonly fail: (error: Error) => void
}

/** What a thread tells, the owner that hears it, and the questions that it has not answered. */
const telling = (t: Test, takeUsed: () => Int32Array | undefined = () => undefined) => {
  const { port1, port2 } = new MessageChannel()
  t.teardown(() => port1.close())
  let messages = 0
  port2.on('message', () => {
    messages += 1
  })
  const channel = new ThreadChannel<ServingToOwner>(port1)
  const told: unknown[] = []
  const asked: Asked[] = []
  const records = new RequestRecords(systemClock, requestFacts)
  const note =
    (kind: string) =>
    (...values: readonly unknown[]): void =>
      void told.push([kind, ...values])
  const notAsked = async (): Promise<never> => {
    throw new Error('nothing is asked but to keep small blobs')
  }
  const owner = new ThreadChannel<object>(port2)
  owner.hear<ServingToOwner>({
    ...{ log: note('log'), metrics: note('metrics'), audited: note('audited'), touched: note('touched') },
    ...{ counted: note('counted'), used: note('used'), claimed: note('claimed') },
    records: (packed) => addPacked(records, packed),
    commitSmall: (path, packed, { invocation }) =>
      new Promise((answer, fail) => {
        asked.push({ path, invocation, small: readDrafts(packed).map(bytesOfDraft), answer, fail })
      }),
    ...{ commit: notAsked, damaged: notAsked, keepPart: notAsked, sizeOfPart: notAsked, takePart: notAsked },
  })
  channel.hear<object>({})
  return { channel, toOwner: new ToOwner(channel, takeUsed), told, asked, records, messages: () => messages }
}

/** Resolves with the next question. */
const nextOf = async (asked: Asked[]): Promise<Asked> => {
  await until(() => asked.length > 0)
  return asked.shift() as Asked
}

const committing = (t: Test) => {
  const { toOwner, asked } = telling(t)
  const ledger = new Ledger({ requests: BOUND })
  const held = { ledger, holder: ledger.connection('1.1.1.1').holder }
  const call = { ...internalCall(), held }
  const commit = (bytes: Buffer): Promise<void> => toOwner.ofStore('CAS').commit(digestOf(bytes), bytes, call)
  return { commit, asked, heldBytes: () => ledger.kinds.requests.heldBytes }
}

t.test('the copy of a small blob counts until the owner has answered, whatever it says', async (t) => {
  const { commit, asked, heldBytes } = committing(t)
  const stored = commit(bytesOf(1000, 'a'))
  const first = await nextOf(asked)
  const [also, refused] = [commit(bytesOf(500, 'b')), commit(bytesOf(2000, 'c'))]
  t.equal(heldBytes(), 3500)
  const second = await nextOf(asked)
  first.answer([])
  await stored
  t.equal(heldBytes(), 2500)
  const failure = { code: 8, message: 'no room', details: [], cause: undefined } as const
  second.answer([{ at: 1, failure }])
  await also
  await t.rejects(refused, { code: 8, message: 'no room' })
  t.equal(heldBytes(), 0)
  const lost = commit(bytesOf(1000, 'd'))
  const third = await nextOf(asked)
  third.fail(new StatusError('RESOURCE_EXHAUSTED', 'no room'))
  await t.rejects(lost, { code: 8, message: 'no room' })
  t.equal(heldBytes(), 0)
})

t.test('a small blob whose copy has no room is refused and not sent', async (t) => {
  const { commit, asked, heldBytes } = committing(t)
  const waiting = commit(bytesOf(BOUND / 2, 'a'))
  await t.rejects(commit(bytesOf(1, 'b')), { code: 8 }, 'a connection may hold half')
  const { small, answer } = await nextOf(asked)
  t.equal(small.length, 1)
  t.equal(heldBytes(), BOUND / 2)
  answer([])
  await waiting
})

t.test('what waits is told in one message, and the records of blobs lie one behind the other', async (t) => {
  const { channel, toOwner, told, asked, messages } = telling(t, () => Int32Array.of(7))
  const blobs = [bytesOf(10, 'a'), bytesOf(0, 'b'), bytesOf(20, 'c')]
  const store = toOwner.ofStore('CAS')
  const stored = Promise.all(blobs.map((bytes) => store.commit(digestOf(bytes), bytes, internalCall())))
  store.usesWait()
  const call = internalCall({ invocation: new Invocations(systemClock).touch('x') })
  for (const slot of [3, 4, 3]) store.claim(slot, { ...call, keepForMs: 5 })
  const { small, answer } = await nextOf(asked)
  t.same(small, blobs)
  const claimed = ['claimed', 'CAS', { invocation: 'x', keepForMs: 5 }, Int32Array.of(3, 4)]
  t.same(told, [['used', 'CAS', Int32Array.of(7)], claimed])
  t.equal(messages(), 1)
  answer([])
  await stored
  channel.flush()
  channel.send('touched', 'build')
  await until(() => messages() > 1)
  t.same(told.slice(2), [['touched', 'build']], 'and nothing twice')
  t.equal(messages(), 2)
})

t.test('small blobs go together if they are for one store and one build', async (t) => {
  const { toOwner, asked } = telling(t)
  const invocations = new Invocations(systemClock)
  const builds = ['x', 'y'].map((id) => internalCall({ invocation: invocations.touch(id) }))
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((text) => bytesOf(10, text)) as [Buffer, Buffer, Buffer, Buffer]
  const [x = internalCall(), y = internalCall()] = builds
  const put = (path: string, bytes: Buffer, call: Call) =>
    void toOwner.ofStore(path).commit(digestOf(bytes), bytes, call)
  put('CAS', a, x)
  put('CAS', b, y)
  put('AC', c, x)
  put('CAS', d, x)
  await until(() => asked.length === 3)
  t.same(
    asked.map(({ path, invocation, small }) => [path, invocation, small]),
    [
      ['CAS', 'x', [a, d]],
      ['CAS', 'y', [b]],
      ['AC', 'x', [c]],
    ],
  )
})

t.test('records of requests wait for the next message, or until there are many', async (t) => {
  const { channel, toOwner, told, records, messages } = telling(t)
  const known = (): string[] => [...records].map(({ instance, action }) => `${instance} ${action}`).reverse()
  toOwner.record('größe/\u{1F980}', undefined, { action: 'a-1', outcome: 'hit', sizeBytes: 10 })
  toOwner.counted('build', 'hit')
  await new Promise(setImmediate)
  t.same([known(), messages()], [[], 0])
  channel.send('touched', 'build')
  await until(() => messages() > 0)
  t.same(known(), ['größe/\u{1F980} a-1'], 'with the next message')
  t.same(told, [
    ['touched', 'build'],
    ['counted', 'build', [1, 0, 0, 0, 0]],
  ])
  toOwner.record('', undefined, { action: 'b-1', outcome: 'miss', reason: 'absent' })
  toOwner.record('main', undefined, { action: 'c-1', outcome: 'failed', reason: 'INTERNAL' })
  channel.flush()
  await until(() => messages() > 1)
  t.same(known().slice(1), [' b-1', 'main c-1'], 'when all is told')
  t.match([...records][1], { outcome: 'miss', reason: 'absent', sizeBytes: undefined })
  t.match([...records][2], { outcome: 'hit', sizeBytes: 10 })
  for (let count = 0; count < 1000; count++) toOwner.record('', undefined, { action: `d-${count}`, outcome: 'hit' })
  await new Promise(setImmediate)
  channel.send('touched', 'later')
  await until(() => told.length > 2)
  t.same([known().length, messages()], [1003, 4], 'many are told at once')
  t.same(told.slice(2), [['touched', 'later']], 'and nothing twice')
  toOwner.record('', undefined, { action: 'e-1', outcome: 'hit' })
  await until(() => messages() > 4)
  t.equal(known().length, 1004, 'and few after a while')
})
