import { appendFile, open, readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t from 'tap'
import { Code, StatusError } from '../../../../../src/base/status-error.js'
import { silentLog } from '../../../../../src/log/log.js'
import { offsetIn } from '../../../../../src/store/kinds/filesystem/records/location.js'
import { CURRENT_FORMAT, headBytesOf } from '../../../../../src/store/kinds/filesystem/records/record.js'
import { RecordLog } from '../../../../../src/store/kinds/filesystem/records/record-log.js'
import { walkRecords } from '../../../../../src/store/kinds/filesystem/records/walk-records.js'
import { bytesOf, digestOf } from '../../../blobs.js'

const SEGMENT_BYTES = 64 * 1024

const openLog = (folder: string, isSynced = false): Promise<RecordLog> =>
  RecordLog.open({ folder, segmentBytes: SEGMENT_BYTES, isSynced, log: silentLog })

const blob = (number: number, sizeBytes = 1000 + number) => {
  const bytes = bytesOf(sizeBytes, `blob ${number}`)
  return { bytes, digest: digestOf(bytes) }
}

const append = async (log: RecordLog, number: number, signal?: AbortSignal): Promise<number> => {
  const { bytes, digest } = blob(number)
  const head = { kind: 'bytes' as const, digest, storedBytes: bytes.length, writtenMs: number, checksum: crc32(bytes) }
  let location = -1
  const placed = (at: number): void => {
    location = at
  }
  await log.append({ ...head, bytes, onLocated: placed, ...(signal && { call: { signal } }) })
  return location
}

const walk = async (log: RecordLog): Promise<{ number: number; isWhole: boolean }[]> => {
  const found: { number: number; isWhole: boolean }[] = []
  for (const segment of log.segments) {
    await walkRecords(segment, 0, (records) => {
      for (const { head, isWhole } of records) found.push({ number: head.writtenMs, isWhole })
    })
  }
  return found
}

const numbers = (count: number): number[] => Array.from({ length: count }, (_, number) => number)

t.test('appended records are read back, from any segment, and by the next run', async (t) => {
  for (const isSynced of [false, true]) {
    const folder = t.testdir()
    const log = await openLog(folder, isSynced)
    const locations = await Promise.all(numbers(300).map((number) => append(log, number)))
    t.ok((await readdir(folder)).length > 4, 'several segments')
    await log.close()
    const again = await openLog(folder, isSynced)
    for (const number of [0, 1, 150, 299]) {
      const { bytes, digest } = blob(number)
      t.ok((await again.read(locations[number] ?? 0, digest, bytes.length))?.equals(bytes))
      t.equal(await again.read(locations[number] ?? 0, blob(number + 1).digest, bytes.length), undefined, 'of another')
      t.match(await again.readHead(locations[number] ?? 0, digest), { writtenMs: number, checksum: crc32(bytes) })
    }
    t.same(
      (await walk(again)).map(({ number }) => number),
      numbers(300),
    )
    await again.close()
  }
})

t.test('a damaged record is skipped, and later records are found', async (t) => {
  const lastBytesOfARecord = { at: 39_129, length: 1 }
  const damage = fc.record({ at: fc.integer({ min: 64, max: 60_000 }), length: fc.integer({ min: 1, max: 3000 }) })
  await fc.assert(
    fc.asyncProperty(damage, async ({ at, length }) => {
      const folder = t.testdir()
      const log = await openLog(folder)
      const locations = await Promise.all(numbers(50).map((number) => append(log, number)))
      await log.close()
      const [name = ''] = await readdir(folder)
      const bytes = await readFile(join(folder, name))
      const before = Buffer.from(bytes)
      bytes.fill(0xa5, Math.min(at, bytes.length), Math.min(at + length, bytes.length))
      await writeFile(join(folder, name), bytes)
      const again = await openLog(folder)
      const whole = (await walk(again)).filter(({ isWhole }) => isWhole).map(({ number }) => number)
      for (const number of numbers(50)) {
        const { bytes: expected, digest } = blob(number)
        const read = await again.read(locations[number] ?? 0, digest, expected.length)
        const begin = offsetIn(locations[number] ?? 0)
        const end = begin + headBytesOf(digest, CURRENT_FORMAT) + expected.length
        const isHurt =
          end > at && begin < at + length && !bytes.subarray(begin, end).equals(before.subarray(begin, end))
        if (isHurt ? read !== undefined : !read?.equals(expected)) throw new Error(`${number} is hurt: ${isHurt}`)
        if (isHurt === whole.includes(number)) throw new Error(`${number} hurt ${isHurt}, walked [${whole}]`)
      }
      await again.close()
    }),
    { numRuns: 40, examples: [[lastBytesOfARecord]] },
  )
})

t.test('a log truncated anywhere continues after its last complete record', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 64, max: 55_000 }), fc.boolean(), async (at, hasRubbish) => {
      const folder = t.testdir()
      const log = await openLog(folder)
      await Promise.all(numbers(30).map((number) => append(log, number)))
      await log.close()
      const [name = ''] = await readdir(folder)
      await truncate(join(folder, name), at)
      if (hasRubbish) await appendFile(join(folder, name), bytesOf(5000))
      const again = await openLog(folder)
      const [segment] = again.segments
      if (segment === undefined) throw new Error('the segment is there')
      const left = (await walk(again)).map(({ number }) => number)
      await again.resume(segment, await walkRecords(segment, 0, () => {}))
      await append(again, 99)
      const found = (await walk(again)).map(({ number }) => number)
      if (found.join() !== [...left, 99].join()) throw new Error(`[${found}] after [${left}]`)
      if (left.join() !== numbers(left.length).join()) throw new Error(`[${left}] is no beginning`)
      await again.close()
    }),
    { numRuns: 40 },
  )
})

t.test('bytes of a client that look like a record are not read as one', async (t) => {
  const folder = t.testdir()
  const source = await openLog(join(folder, 'source'))
  await append(source, 1)
  const [segment] = source.segments
  if (segment === undefined) throw new Error('something was written')
  const record = (await readFile(segment.path)).subarray(segment.firstOffset)
  await source.close()

  // A client that knows the layout uploads a forged record, aligned to 64 bytes; the head before it is damaged.
  const forged = Buffer.concat([Buffer.alloc(48), record])
  const digest = digestOf(forged)
  const log = await openLog(join(folder, 'log'))
  const head = { kind: 'bytes' as const, digest, storedBytes: forged.length, writtenMs: 2, checksum: crc32(forged) }
  await log.append({ ...head, bytes: forged, onLocated: () => {} })
  const [target] = log.segments
  if (target === undefined) throw new Error('something was written')
  const file = await open(target.path, 'r+')
  await file.write(Buffer.alloc(16), 0, 16, target.firstOffset)
  await file.close()
  t.same(await walk(log), [])
  await log.close()
})

t.test('a failed write rejects each of its records, leaves nothing, and the next one works', async (t) => {
  const folder = t.testdir()
  const log = await openLog(folder)
  await append(log, 0)
  const { active } = log
  if (active === undefined) throw new Error('something was written')
  const { write } = active
  active.write = async (bytes, offset) => {
    await write.call(active, bytes.subarray(0, 500), offset)
    throw Object.assign(new Error('full'), { code: 'ENOSPC' })
  }
  const failed = await Promise.allSettled([append(log, 1), append(log, 2)])
  t.same(
    failed.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  active.write = write
  await append(log, 3)
  t.same(
    (await walk(log)).map(({ number }) => number),
    [0, 3],
  )
  await log.close()
})

t.test('a record that its owner has no room for rejects alone, and the others of its batch are appended', async (t) => {
  const log = await openLog(t.testdir())
  const { bytes, digest } = blob(1)
  const head = { kind: 'bytes' as const, digest, storedBytes: bytes.length, writtenMs: 1, checksum: crc32(bytes) }
  const noRoom = (): void => {
    throw new StatusError('RESOURCE_EXHAUSTED', 'no memory')
  }
  const [before, failed, after] = await Promise.allSettled([
    append(log, 0),
    log.append({ ...head, bytes, onLocated: noRoom }),
    append(log, 2),
  ])
  t.match([before.status, failed, after.status], ['fulfilled', { reason: { code: 8 } }, 'fulfilled'])
  await append(log, 3)
  t.same(
    (await walk(log)).map(({ number }) => number),
    [0, 1, 2, 3],
  )
  await log.close()
})

t.test('an append cancelled before its write is CANCELLED, and one after close is rejected', async (t) => {
  const folder = t.testdir()
  const log = await openLog(folder)
  const controller = new AbortController()
  const appended = append(log, 0, controller.signal)
  controller.abort()
  await t.rejects(appended, { code: Code.CANCELLED })
  await append(log, 1)
  await log.close()
  const error = await append(log, 2).catch((thrown: unknown) => thrown)
  t.ok(error instanceof StatusError && error.code === Code.UNAVAILABLE)
})

t.test('a segment with a damaged header and first record loses only its own blobs', async (t) => {
  const folder = t.testdir()
  const log = await openLog(folder)
  await Promise.all(numbers(150).map((number) => append(log, number)))
  await log.close()
  const [first = ''] = (await readdir(folder)).sort()
  const file = await open(join(folder, first), 'r+')
  await file.write(Buffer.alloc(100, 'rubbish'), 0, 100, 8)
  await file.close()
  const again = await openLog(folder)
  const left = (await walk(again)).map(({ number }) => number)
  t.ok(left.length > 50 && left.length < 150)
  t.equal(left.at(-1), 149)
  await again.close()
})
