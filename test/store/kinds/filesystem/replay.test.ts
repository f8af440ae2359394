import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { ABSENT, BlobIndex } from '../../../../src/store/index/blob-index.js'
import type { RecordKind } from '../../../../src/store/kinds/filesystem/records/record.js'
import type { WalkedRecord } from '../../../../src/store/kinds/filesystem/records/walk-records.js'
import { Replay } from '../../../../src/store/kinds/filesystem/recover/replay.js'
import { digestOf } from '../../blobs.js'

const DIGESTS = 3
const digests = Array.from({ length: DIGESTS }, (_, number) => digestOf(Buffer.from(`blob ${number}`)))

interface Written {
  readonly number: number
  readonly kind: RecordKind
  readonly isWhole: boolean
  readonly copies: number
}

const history = fc.array(
  fc.record<Written>({
    number: fc.nat(DIGESTS - 1),
    kind: fc.constantFrom('bytes', 'file', 'removal'),
    isWhole: fc.boolean(),
    copies: fc.nat(2),
  }),
  { maxLength: 12 },
)

const shuffled = fc.tuple(history, fc.infiniteStream(fc.nat())).map(([written, keys]) => {
  const records = written.flatMap(({ number, kind, isWhole, copies }, sequence) =>
    Array.from({ length: copies + 1 }, (_, copy): WalkedRecord => {
      const digest = digests[number] ?? digestOf(Buffer.alloc(0))
      const head = { kind, digest, storedBytes: sequence + 1, writtenMs: 1000, checksum: 0, sequence }
      const location = 100 * sequence + copy
      return {
        head,
        bytes: Buffer.alloc(0),
        isWhole: kind !== 'bytes' || isWhole,
        location,
        length: 64,
        isCopy: copy > 0,
      }
    }),
  )
  const order = new Map(records.map((record) => [record, keys.next().value as number]))
  return { written, records: records.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0)) }
})

t.test('the newest record of a digest decides, whatever the order of records and copies', async (t) => {
  const policy = { max_bytes: 0, evict_bytes: 0, max_count: 0, max_seconds: 0 }
  const holds = fc.property(shuffled, ({ written, records }) => {
    const index = new BlobIndex({ policy, clock: new ManualClock(1_000_000) })
    const replay = new Replay(index, 0, new Set())
    for (const record of records) replay.apply(record)
    replay.finish()
    for (const [number, digest] of digests.entries()) {
      const newest = written.findLastIndex((each) => each.number === number)
      const last = written[newest]
      const isThere = last !== undefined && last.kind !== 'removal' && (last.kind === 'file' || last.isWhole)
      const slot = index.find(digest)
      if ((slot !== ABSENT) !== isThere) throw new Error(`blob ${number} is ${isThere ? 'not ' : ''}there`)
      if (!isThere) continue
      if (index.storedBytesOf(slot) !== newest + 1 || Math.floor(index.extraOf(slot) / 100) !== newest)
        throw new Error(`blob ${number} is that of record ${index.extraOf(slot)}, expected ${newest}`)
      if (index.isInline(slot) !== (last.kind === 'bytes')) throw new Error(`blob ${number} is of the wrong kind`)
    }
  })
  t.doesNotThrow(() => fc.assert(holds, { numRuns: 2000 }))
})

t.test('a copied record known to the checkpoint changes only its location, a known removal nothing', async (t) => {
  const policy = { max_bytes: 0, evict_bytes: 0, max_count: 0, max_seconds: 0 }
  const clock = new ManualClock(1_000_000)
  const index = new BlobIndex({ policy, clock })
  const [first, second] = digests.map((digest) => index.insert(digest, 10, 'bytes'))
  const replay = new Replay(index, 50, new Set())
  const record = (number: number, kind: RecordKind, sequence: number): WalkedRecord => {
    const digest = digests[number] ?? digestOf(Buffer.alloc(0))
    const head = { kind, digest, storedBytes: kind === 'removal' ? 0 : 10, writtenMs: 1000, checksum: 0, sequence }
    return { head, bytes: Buffer.alloc(0), isWhole: true, location: sequence, length: 64, isCopy: true }
  }
  replay.apply(record(0, 'bytes', 7))
  replay.apply(record(1, 'removal', 8))
  replay.apply(record(2, 'removal', 60))
  replay.finish()
  t.equal(index.extraOf(first ?? ABSENT), 7)
  t.equal(index.find(digests[1] ?? digestOf(Buffer.alloc(0))), second)
  t.equal(index.count, 2)
  t.equal(replay.copyCount, 3)
})
