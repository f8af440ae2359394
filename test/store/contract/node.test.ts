import t from 'tap'
import type { OperationMeter, StoreMeter } from '../../../src/store/contract/meter.js'
import { StoreNode } from '../../../src/store/contract/node.js'
import { bytesOf, digestOf, get, put } from '../blobs.js'
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
