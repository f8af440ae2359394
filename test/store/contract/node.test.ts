import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { turnMs } from '../../../src/base/turn-clock.js'
import type { OperationMeter, StoreMeter } from '../../../src/blobs/meter.js'
import type { SideBySide } from '../../../src/blobs/store.js'
import { StoreNode } from '../../../src/store/contract/node.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { WHOLE } from '../../../src/stream/path.js'
import { bytesOf, call, digestOf, get, put } from '../blobs.js'
import { ContractDouble } from '../double.js'

const tally = () => {
  let sum = 0
  return {
    add: (amount: number): void => {
      sum += amount
    },
    sum: () => sum,
  }
}

t.test('bytes are counted by the digest if a blob does not know its length', async (t) => {
  const [bytesIn, bytesOut, other] = [tally(), tally(), tally()]
  const operation: OperationMeter = {
    hit: other,
    miss: other,
    success: other,
    error: other,
    cancelled: other,
    took() {},
  }
  const meter: StoreMeter = { of: () => operation, bytes: { in: bytesIn, out: bytesOut } }
  const double = new ContractDouble({ serves: 'streams', knowsSizes: false })
  const node = new StoreNode(double, { path: 'CAS', meter })
  const bytes = bytesOf(100_000)
  const digest = digestOf(bytes)
  await put(node, digest, bytes)
  t.equal(bytesIn.sum(), 100_000)
  const counted = async (offset: number, limit: number): Promise<number> => {
    const before = bytesOut.sum()
    const read = await get(node, digest, { offset, limit })
    t.equal(bytesOut.sum() - before, read.length, `from ${offset}, at most ${limit}`)
    return read.length
  }
  t.equal(await counted(0, Number.POSITIVE_INFINITY), 100_000)
  t.equal(await counted(99_990, Number.POSITIVE_INFINITY), 10)
  t.equal(await counted(99_990, 4), 4)
  t.equal(await counted(-30, Number.POSITIVE_INFINITY), 30)
  t.equal(await counted(100_000, Number.POSITIVE_INFINITY), 0)
  t.same(await double.end(), [])
})

t.test('a read of several blobs that lie side by side counts each of them', async (t) => {
  const [bytes, hits, other] = [tally(), tally(), tally()]
  const operation: OperationMeter = {
    hit: hits,
    miss: other,
    success: other,
    error: other,
    cancelled: other,
    took() {},
  }
  const meter: StoreMeter = { of: () => operation, bytes: { in: other, out: bytes } }
  const run = ['one', 'two', 'three'].map((seed) => digestOf(bytesOf(5000, seed)))
  const store = new ContractDouble({ serves: 'bytes' })
  const sideBySide: SideBySide = {
    runs: (digests) => [digests.length],
    get: async (_run, { offset }) => (offset === 0 ? Blob.ofBytes(bytesOf(4000)) : undefined),
  }
  const node = new StoreNode(Object.assign(store, { sideBySide }), { path: 'CAS', meter })
  t.same(node.sideBySide?.runs(run), [3])
  t.equal(await node.sideBySide?.get(run, { offset: 1, limit: 4000 }, call), undefined)
  t.same([hits.sum(), bytes.sum()], [0, 0], 'each will be read by itself')
  const blob = await node.sideBySide?.get(run, { offset: 0, limit: 4000 }, call)
  blob?.discard()
  t.same([hits.sum(), bytes.sum(), other.sum()], [3, 4000, 0])
  t.equal(new StoreNode(new ContractDouble({ serves: 'bytes' }), { path: 'CAS' }).sideBySide, undefined)
})

t.test('the duration of an access that fails is that of the access', async (t) => {
  const tookMs: number[] = []
  const [errors, other] = [tally(), tally()]
  const operation: OperationMeter = {
    hit: other,
    miss: other,
    success: other,
    error: errors,
    cancelled: other,
    took: (ms) => tookMs.push(ms),
  }
  const double = new ContractDouble()
  double.refuses = { get: new StatusError('UNAVAILABLE', 'the disk is away') }
  const node = new StoreNode(double, { path: 'CAS', meter: { of: () => operation, bytes: { in: other, out: other } } })
  const sinceMs = turnMs()
  await t.rejects(node.get(digestOf(bytesOf(1000)), WHOLE, call), { message: 'CAS: the disk is away' })
  const elapsedMs = turnMs() - sinceMs
  t.equal(errors.sum(), 1)
  const [ms = Number.NaN, ...others] = tookMs
  t.ok(ms >= 0 && ms <= elapsedMs, `${ms} ms of ${elapsedMs}`)
  t.same(others, [])
})
