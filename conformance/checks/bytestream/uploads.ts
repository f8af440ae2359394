import { EMPTY_DIGEST } from '../../exam/exam.js'
import { LargeBlob } from '../../material/large-blob.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'
import { expectAbsent, expectCommitted, send } from './write.js'

const needs = ['bytestream', 'cas'] as const
const EMPTY = Buffer.alloc(0)
/** Size in MiB of the largest uploaded blob. */
const LARGE_BYTES = 32 << 20

/** Presence, concurrency, sizes and interrupted uploads. */
/** A server ends a call that it no longer needs within this time. */
const SOON_MS = 200

export const byteStreamUploadChecks: readonly Check[] = [
  {
    id: 'BSW-13',
    sends: 'The first chunk of a 4 MiB blob that is present already, then silence; OK at once with the full size.',
    needs,
    run: async (exam) => {
      const data = exam.random(4 << 20)
      expectCommitted(exam, await exam.write(data), data.length)
      const upload = exam.open(methods.write, { deadlineMs: 5_000 })
      const resourceName = exam.uploadName(exam.digest(data))
      await upload.send({ resourceName, writeOffset: 0, data: data.subarray(0, 1_000) })
      expectCommitted(exam, await upload.outcome, data.length)
    },
  },
  {
    id: 'BSW-14',
    isBulky: true,
    sends: 'A present blob of 8 MiB from a client that sends all of it regardless of the answer; the client sees OK.',
    needs,
    run: async (exam) => {
      const data = exam.random(8 << 20)
      expectCommitted(exam, await exam.write(data), data.length)
      expectCommitted(exam, await exam.write(data, { chunkBytes: 16 << 10 }), data.length)
    },
  },
  {
    id: 'BSW-15',
    sends: 'Half a blob on one stream, the whole on another, then the rest on the first; both end OK.',
    needs,
    run: async (exam) => {
      const data = exam.random(200_000)
      const slow = exam.open(methods.write)
      const resourceName = exam.uploadName(exam.digest(data))
      await slow.send({ resourceName, writeOffset: 0, data: data.subarray(0, 100_000) })
      expectCommitted(exam, await exam.write(data), data.length)
      // A server that has the blob by now may end the first upload. Data sent after that end fails in the client,
      // whatever the server answered.
      await Promise.race([slow.outcome, new Promise((resolve) => setTimeout(resolve, SOON_MS))])
      if (!slow.hasEnded) await slow.send({ writeOffset: 100_000, data: data.subarray(100_000), finishWrite: true })
      slow.halfClose()
      expectCommitted(exam, await slow.outcome, data.length)
    },
  },
  {
    id: 'BSW-16',
    sends: 'Ten different blobs at once with the same uuid; all are committed.',
    needs,
    run: async (exam) => {
      const uuid = exam.uuid()
      const blobs = Array.from({ length: 10 }, () => exam.random(50_000))
      const outcomes = await Promise.all(
        blobs.map((data) => exam.write(data, { resourceName: exam.uploadName(exam.digest(data), { uuid }) })),
      )
      for (const outcome of outcomes) expectCommitted(exam, outcome, 50_000)
      exam.expectEqual(await exam.missing(blobs.map((data) => exam.digest(data))), [], 'what is missing afterwards')
    },
  },
  {
    id: 'BSW-17',
    sends: 'Empty messages first, in the middle, and as the finishing one; the blob is committed.',
    needs,
    run: async (exam) => {
      const data = exam.random(1_000)
      const resourceName = exam.uploadName(exam.digest(data))
      const outcome = await send(exam, [
        { resourceName, writeOffset: 0, data: EMPTY },
        { writeOffset: 0, data: data.subarray(0, 500) },
        { writeOffset: 500, data: EMPTY },
        { writeOffset: 500, data: data.subarray(500) },
        { writeOffset: 1_000, data: EMPTY, finishWrite: true },
      ])
      expectCommitted(exam, outcome, data.length)
    },
  },
  {
    id: 'BSW-18',
    sends: 'The empty blob as one message without data; OK, committed_size 0.',
    needs,
    run: async (exam) => {
      const resourceName = exam.uploadName(EMPTY_DIGEST)
      const outcome = await send(exam, [{ resourceName, writeOffset: 0, data: EMPTY, finishWrite: true }])
      expectCommitted(exam, outcome, 0)
    },
  },
  {
    id: 'BSW-19',
    isBulky: true,
    sends: 'Chunks of 1 byte, 16 KiB, 1 MiB and of nearly the announced batch limit; all uploads are committed.',
    needs,
    run: async (exam) => {
      // The last KiB leaves room for the other fields of the message: GEN-03 judges messages of the limit and above.
      const limit = (exam.capabilities.cacheCapabilities?.maxBatchTotalSizeBytes || 4 << 20) - 1_024
      const largest = Math.min(limit, 8 << 20)
      const cases = [
        [1, 200],
        [16 << 10, 100 << 10],
        [1 << 20, 3 << 20],
        [largest, largest + 1],
      ] as const
      for (const [chunkBytes, sizeBytes] of cases) {
        expectCommitted(exam, await exam.write(exam.random(sizeBytes), { chunkBytes }), sizeBytes)
      }
    },
  },
  {
    id: 'BSW-20',
    isBulky: true,
    deadlineMs: 60_000,
    sends: 'A blob of 32 MiB, unless a smaller limit is announced; committed and present.',
    needs,
    run: async (exam) => {
      const most = exam.capabilities.cacheCapabilities?.maxCasBlobSizeBytes || Number.POSITIVE_INFINITY
      if (LARGE_BYTES > most) exam.notApplicable(`the server accepts blobs of up to ${most} bytes`)
      const blob = new LargeBlob(LARGE_BYTES)
      const upload = exam.open(methods.write, { deadlineMs: 55_000 })
      for (const { at, bytes, isLast } of blob.pieces()) {
        if (upload.hasEnded) break
        const resourceName = at === 0 ? exam.uploadName(blob.digest) : ''
        await upload.send({ resourceName, writeOffset: at, data: bytes, finishWrite: isLast })
      }
      upload.halfClose()
      expectCommitted(exam, await upload.outcome, blob.sizeBytes)
      exam.expectTrue(await exam.missing([blob.digest]), [], 'what is missing afterwards')
    },
  },
  {
    id: 'BSW-21',
    sends: 'A name whose size is above max_cas_blob_size_bytes; refused.',
    needs,
    run: async (exam) => {
      const most = exam.capabilities.cacheCapabilities?.maxCasBlobSizeBytes ?? 0
      if (most === 0) exam.notApplicable('the server announces no largest blob')
      const resourceName = exam.uploadName({ hash: exam.digest(exam.random(1)).hash, sizeBytes: most + 1 })
      const outcome = await send(exam, [{ resourceName, writeOffset: 0, data: exam.random(10), finishWrite: true }])
      exam.expectCode(outcome, 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'BSW-23',
    sends: 'An upload and, after its OK, FindMissingBlobs and a download on another connection; both find the blob.',
    needs,
    run: async (exam) => {
      const client = exam.connect()
      await exam.connected(client)
      const data = exam.random(100_000)
      expectCommitted(exam, await exam.write(data), data.length)
      exam.expectEqual(await exam.missing([exam.digest(data)], { client }), [], 'what the other connection misses')
      const outcome = await exam.read(exam.readName(exam.digest(data)), { client })
      exam.expectCode(outcome, 'OK')
      exam.expectBytes(outcome.data, data, 'the download')
    },
  },
  {
    id: 'BSW-24',
    sends: 'A download name as the name of an upload; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      const data = exam.random(100)
      exam.expectCode(await exam.write(data, { resourceName: exam.readName(exam.digest(data)) }), 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'BSW-25',
    sends: 'A stream without any message; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      exam.expectCode(await exam.call(methods.write, []), 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'BSW-26',
    sends: 'Twenty uploads of one blob that are cancelled, then a complete one; it is committed.',
    needs,
    run: async (exam) => {
      const data = exam.random(300_000)
      const digest = exam.digest(data)
      const resourceName = exam.uploadName(digest)
      for (let broken = 0; broken < 20; broken++) {
        const upload = exam.open(methods.write)
        const name = broken % 2 === 0 ? resourceName : exam.uploadName(digest)
        await upload.send({ resourceName: name, writeOffset: 0, data: data.subarray(0, 100_000) })
        upload.cancel()
        await upload.outcome
      }
      await expectAbsent(exam, digest)
      expectCommitted(exam, await exam.write(data), data.length)
    },
  },
]
