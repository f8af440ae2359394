import t from 'tap'
import { missingOf, type Store } from '../../../../src/blobs/store.js'
import { BytesInFlight } from '../../../../src/ledger/bytes-in-flight.js'
import { Ledger } from '../../../../src/ledger/ledger.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { type Call, internalCall } from '../../../../src/rpc/call.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { PushedFeed } from '../../../../src/stream/blob/pushed-feed.js'
import { drawnBytes } from '../../../drawn.js'
import { until } from '../../../until.js'
import { openFilesystem } from './open.js'
import { openUsedByThread } from './used-by-thread.js'

const MIB = 1024 * 1024
const policy = { max_bytes: 8 * MIB }

/** Calls of clients, each address with one connection. */
const callsFrom = (ledger = new Ledger()) => {
  const callOf = (address: string, more: Partial<Call> = {}): Call => ({
    ...internalCall(),
    held: { ledger, holder: ledger.connection(address).holder },
    ...more,
  })
  return callOf
}

/** An upload that stays open. */
const open = (store: Store, call: Call, sizeBytes = 7 * MIB) => {
  const feed = new PushedFeed()
  const bytes = drawnBytes(sizeBytes)
  const digest = Digest.of(bytes, digestFunctions.SHA256)
  let failure: { readonly code?: number; readonly message?: string } | undefined
  const over = store.put(digest, Blob.ofFeed(feed), call).catch((error: { code: number }) => {
    failure = error
  })
  let at = 0
  return {
    digest,
    over,
    failure: () => failure,
    send: async (sentBytes: number): Promise<void> => {
      for (const end = at + sentBytes; at < end && failure === undefined; at += 64 * 1024)
        await Promise.race([feed.push(bytes.subarray(at, at + 64 * 1024)), over])
    },
    finish: () => feed.finish(),
    giveUp: async () => {
      feed.discard()
      await over
    },
  }
}

t.test('uploads in progress: one address has as much as the largest blob, and another still has room', async (t) => {
  const { store, tempFiles, close } = await openFilesystem(t.testdir(), { policy })
  t.teardown(close)
  const from = callsFrom()
  const uploads = [open(store, from('1.1.1.1')), open(store, from('1.1.1.1')), open(store, from('1.1.1.1'))]
  for (const upload of uploads) await upload.send(3 * MIB)
  const [one, second, third] = uploads as [ReturnType<typeof open>, ReturnType<typeof open>, ReturnType<typeof open>]
  await third.over
  t.match(third.failure(), {
    code: 8,
    message: /address of this client hold \d+ bytes, expected at most 8388608 \(from max_bytes of the store\)/,
  })
  t.equal((await tempFiles()).length, 2, 'nothing is left of what was refused')
  const other = open(store, from('2.2.2.2'), 2 * MIB)
  await other.send(2 * MIB)
  other.finish()
  await other.over
  t.equal(other.failure(), undefined)
  t.same(await missingOf(store, [other.digest], internalCall()), [])
  // All clients together have a third more than the store.
  const more = open(store, from('3.3.3.3'))
  await more.send(7 * MIB)
  await more.over
  t.match(more.failure(), { code: 8, message: /of all clients hold \d+ bytes, expected at most 11186176/ })
  // Each way to end gives the room back.
  await second.giveUp()
  await one.send(4 * MIB)
  one.finish()
  await one.over
  t.equal(one.failure(), undefined)
  const alone = open(store, from('1.1.1.1'), 8 * MIB)
  await alone.send(8 * MIB)
  alone.finish()
  await alone.over
  t.equal(alone.failure(), undefined, 'the largest blob fits when nothing else is in progress')
})

t.test('an idle upload of the same address gives way, and none of others', async (t) => {
  const { store, close } = await openFilesystem(t.testdir(), { policy })
  t.teardown(close)
  const from = callsFrom()
  const ledger = new Ledger()
  const mine = { ledger, holder: ledger.connection('1.1.1.1').holder }
  const idle = open(store, from('', { held: mine }))
  await idle.send(5 * MIB)
  const asked: unknown[] = []
  const giveWay = async (address?: unknown): Promise<boolean> => {
    asked.push(address)
    if (asked.length > 1) return false
    await idle.giveUp()
    return true
  }
  const upload = open(store, from('', { held: mine, giveWay }))
  await upload.send(7 * MIB)
  upload.finish()
  await upload.over
  t.equal(upload.failure(), undefined)
  t.same(asked, [mine.holder.parent])
})

t.test('work of the server itself is counted, and not refused', async (t) => {
  const { store, close } = await openFilesystem(t.testdir(), { policy })
  t.teardown(close)
  const uploads = Array.from({ length: 3 }, () => open(store, internalCall()))
  for (const upload of uploads) await upload.send(7 * MIB)
  t.same(
    uploads.map(({ failure }) => failure()),
    [undefined, undefined, undefined],
  )
  const client = open(store, callsFrom()('1.1.1.1'))
  await client.send(MIB)
  await client.over
  t.match(client.failure(), { code: 8 })
  for (const upload of uploads) await upload.giveUp()
})

t.test('a reserved file counts until it is adopted or removed', async (t) => {
  const { store, files, close } = await openFilesystem(t.testdir(), { policy })
  t.teardown(close)
  const from = callsFrom()
  const { inFlight } = await files.reserve(from('1.1.1.1'))
  await inFlight.growTo(6 * MIB)
  await t.rejects(Promise.resolve(inFlight.growTo(9 * MIB)), { code: 8 })
  const upload = open(store, from('1.1.1.1'))
  await upload.send(3 * MIB)
  await upload.over
  t.match(upload.failure(), { code: 8 })
  inFlight.release()
  inFlight.release()
  const again = open(store, from('1.1.1.1'), 7 * MIB)
  await again.send(7 * MIB)
  again.finish()
  await again.over
  t.equal(again.failure(), undefined)
})

t.test('a disk that has less free than max_bytes is not filled', async (t) => {
  let freeBytes = 4 * MIB
  const all = new BytesInFlight({ maxBlobBytes: 8 * MIB, freeBytes: async () => freeBytes })
  await all.look()
  const from = callsFrom()
  const one = all.begin(from('1.1.1.1'))
  t.equal(one.growTo(3 * MIB), undefined)
  await t.rejects(Promise.resolve(one.growTo(3 * MIB + 1)), { message: /at most 3145728 \(from free on the disk/ })
  freeBytes = MIB
  await all.look()
  const other = all.begin(from('2.2.2.2'))
  t.equal(other.growTo(MIB), undefined, 'what is free is for those that have less')
  await t.rejects(Promise.resolve(all.begin(from('3.3.3.3')).growTo(4096)), { code: 8 })
  one.release()
  other.release()
  t.equal(all.heldBytes, 0)
})

t.test('uploads on all threads count together', async (t) => {
  const { reading, close, tempFiles } = await openUsedByThread(t.testdir(), { policy })
  t.teardown(close)
  const first = new Ledger({}, {})
  const { buffer } = first
  const second = new Ledger({}, { ...(buffer && { buffer }) })
  const accepted = first.connection('1.1.1.1')
  const one = open(reading, { ...internalCall(), held: { ledger: first, holder: accepted.holder } })
  await one.send(5 * MIB)
  const moved = second.connection('1.1.1.1', accepted.row)
  const two = open(reading, { ...internalCall(), held: { ledger: second, holder: moved.holder } })
  await two.send(5 * MIB)
  await two.over
  t.match(two.failure(), { code: 8, message: /address of this client/ })
  await one.giveUp()
  await until(async () => (await tempFiles()).length === 0)
  const again = open(reading, { ...internalCall(), held: { ledger: second, holder: moved.holder } })
  await again.send(7 * MIB)
  again.finish()
  await again.over
  t.equal(again.failure(), undefined)
})
