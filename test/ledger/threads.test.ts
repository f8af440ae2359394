import { once } from 'node:events'
import type { Worker } from 'node:worker_threads'
import t from 'tap'
import { Ledger } from '../../src/ledger/ledger.js'
import { startThread } from '../built.js'

const BOUND = 100
const ANOTHER = { trees: BOUND, windows: BOUND } as const

/** Ledgers as two threads of a process have them. */
const pair = (): readonly [Ledger, Ledger] => {
  const first = new Ledger(ANOTHER, {})
  const { buffer } = first
  if (buffer === undefined) throw new Error('a ledger for threads has shared memory')
  return [first, new Ledger(ANOTHER, { buffer })]
}

t.test('the bound of a kind is that of all threads together', async (t) => {
  const [one, other] = pair()
  const mine = one.connection('1.1.1.1').holder
  const theirs = other.connection('2.2.2.2', 1).holder
  const held = one.kinds.trees.reserveOrThrow(mine, 50)
  t.ok(other.kinds.trees.take(theirs, 50))
  t.notOk(other.kinds.trees.take(other.connection('3.3.3.3', 2).holder, 1), 'nothing is left')
  t.equal(one.kinds.trees.limitedCount, 1, 'every thread sees it')
  t.equal(one.kinds.trees.heldBytes, 100)
  held.release()
  t.ok(other.kinds.trees.take(other.connection('3.3.3.3', 2).holder, 1))
})

t.test('an address has its share on all threads together', async (t) => {
  const [one, other] = pair()
  const accepted = one.connection('1.1.1.1')
  t.ok(one.kinds.trees.take(accepted.holder, 50), 'a connection may hold half')
  const moved = other.connection('1.1.1.1', accepted.row).holder
  t.ok(other.kinds.trees.take(moved, 25))
  t.notOk(other.kinds.trees.take(moved, 1), 'an address may hold three quarters')
  one.kinds.trees.give(accepted.holder, 50)
  t.ok(other.kinds.trees.take(moved, 25))
})

t.test('a row is used again only when nobody holds bytes in it', async (t) => {
  const [one, other] = pair()
  const first = one.connection('1.1.1.1')
  const moved = other.connection('1.1.1.1', first.row).holder
  other.kinds.trees.take(moved, 10)
  first.close()
  t.not(one.connection('2.2.2.2').row, first.row, 'a call of the other thread still holds bytes')
  other.kinds.trees.give(moved, 10)
  t.equal(one.connection('3.3.3.3').row, first.row)
})

t.test('who waits for room gets what another thread gives back', async (t) => {
  const [one, other] = pair()
  const held = one.kinds.windows.reserveOrThrow(one.connection('1.1.1.1').holder, 50)
  const more = one.kinds.windows.reserveOrThrow(one.connection('2.2.2.2').holder, 50)
  const waiting = other.kinds.windows.whenRoom(other.connection('3.3.3.3', 3).holder, 10, new AbortController().signal)
  held.release()
  // Keeps the loop alive: a thread does not stay for those who wait.
  const alive = setInterval(() => {}, 1000)
  t.equal((await waiting).sizeBytes, 10)
  clearInterval(alive)
  more.release()
})

t.test('threads that reserve at the same time never hold more than the bound, and lose nothing', async (t) => {
  const ledger = new Ledger({}, {})
  const start = (): Worker =>
    startThread(new URL('taking-thread.ts', import.meta.url), {
      workerData: { buffer: ledger.buffer, bound: 2 },
    })
  const workers = [start(), start()]
  const aboves = await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]))
  t.same(aboves, [0, 0])
  t.equal(ledger.kinds.trees.heldBytes, 0)
})
