import { brotliDecompressSync, inflateRawSync } from 'node:zlib'
import type { Need } from '../../exam/candidate.js'
import { type Digest, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { Divergence } from '../../exam/finding.js'
import { brotli, rawDeflate, zstdFrame, zstdSkippable } from '../../material/content.js'
import { decompress, zstdBomb } from '../../material/zstd.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const needs: readonly Need[] = ['bytestream', 'cas', 'compressor:zstd']
const ZSTD = 'compressed-blobs/zstd'

/** Uploads `wire`, compressed bytes, as the blob of `digest`. */
const upload = (exam: Exam, digest: Digest, wire: Uint8Array, form = ZSTD) =>
  exam.write(wire, { resourceName: exam.uploadName(digest, { form }), chunkBytes: 64 << 10 })

const expectRefused = async (exam: Exam, digest: Digest, wire: Uint8Array, form = ZSTD): Promise<void> => {
  exam.expectCode(await upload(exam, digest, wire, form), 'INVALID_ARGUMENT')
  exam.expectEqual((await exam.missing([digest])).length, 1, 'the number of missing blobs after the refusal')
}

/** Bytes that compress to about half. */
const text = (exam: Exam, sizeBytes: number): Buffer => Buffer.from(exam.random(sizeBytes / 2).toString('hex'))

const decoded = (decode: (bytes: Buffer) => Buffer, wire: Buffer, what: string): Buffer => {
  try {
    return decode(wire)
  } catch (error) {
    throw new Divergence(`${what} to decompress`, error instanceof Error ? error.message : String(error))
  }
}

const unzstd = (wire: Buffer): Buffer => (wire.length === 0 ? wire : decompress(wire))

/** Uploads raw and reads compressed, then the reverse, with one compressor. */
const roundTrip = async (
  exam: Exam,
  name: string,
  encode: (bytes: Uint8Array) => Buffer,
  decode: (bytes: Buffer) => Buffer,
): Promise<void> => {
  const form = `compressed-blobs/${name}`
  const raw = text(exam, 200_000)
  await exam.upload(raw)
  const read = await exam.read(exam.readName(exam.digest(raw), { form }))
  exam.expectCode(read, 'OK')
  exam.expectBytes(decoded(decode, read.data, `the ${name} download`), raw, `the decompressed ${name} download`)
  const data = text(exam, 200_000)
  exam.expectCode(await upload(exam, exam.digest(data), encode(data), form), 'OK')
  const plain = await exam.read(exam.readName(exam.digest(data)))
  exam.expectBytes(plain.data, data, `the blob uploaded as ${name}`)
}

export const compressedBlobsChecks: readonly Check[] = [
  {
    id: 'CMP-01',
    sends:
      'Zstd uploads under .../compressed-blobs/zstd/{hash}/{size}, with and without trailing metadata; the blobs are there.',
    needs,
    run: async (exam) => {
      const data = text(exam, 300_000)
      exam.expectCode(await upload(exam, exam.digest(data), zstdFrame(data)), 'OK')
      exam.expectEqual(await exam.missing([exam.digest(data)]), [], 'what is missing afterwards')
      const more = text(exam, 1_000)
      const resourceName = `${exam.uploadName(exam.digest(more), { form: ZSTD })}/some/file.txt`
      exam.expectCode(await exam.write(zstdFrame(more), { resourceName }), 'OK')
      exam.expectEqual(await exam.missing([exam.digest(more)]), [], 'what is missing of an upload with metadata')
    },
  },
  {
    id: 'CMP-02',
    sends: 'A zstd frame whose content does not match the digest; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      await expectRefused(exam, exam.digest(exam.random(1_000)), zstdFrame(exam.random(1_000)))
    },
  },
  {
    id: 'CMP-03',
    sends: 'The first bytes of a zstd upload of a present blob, then silence; OK at once with committed_size -1.',
    needs,
    run: async (exam) => {
      const data = text(exam, 2 << 20)
      const wire = zstdFrame(data)
      exam.expectCode(await upload(exam, exam.digest(data), wire), 'OK')
      const again = exam.open(methods.write, { deadlineMs: 5_000 })
      const resourceName = exam.uploadName(exam.digest(data), { form: ZSTD })
      await again.send({ resourceName, writeOffset: 0, data: wire.subarray(0, 100) })
      const outcome = await again.outcome
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses[0]?.committedSize, -1, 'committed_size')
    },
  },
  {
    id: 'CMP-04',
    sends: 'A whole zstd upload; committed_size is the number of compressed bytes, or -1.',
    needs,
    run: async (exam) => {
      const data = text(exam, 100_000)
      const wire = zstdFrame(data)
      const outcome = await upload(exam, exam.digest(data), wire)
      exam.expectCode(outcome, 'OK')
      const committed = outcome.responses[0]?.committedSize
      const told = committed === wire.length ? 'compressed size' : String(committed)
      exam.observed('committed size of a compressed upload', told)
      exam.expect(committed === wire.length || committed === -1, `${wire.length} or -1`, String(committed))
    },
  },
  {
    id: 'CMP-05',
    sends: 'A second message whose offset counts uncompressed bytes; an error.',
    needs,
    run: async (exam) => {
      const data = text(exam, 100_000)
      const wire = zstdFrame(data)
      const resourceName = exam.uploadName(exam.digest(data), { form: ZSTD })
      const outcome = await exam.call(methods.write, [
        { resourceName, writeOffset: 0, data: wire.subarray(0, 1_000) },
        { writeOffset: 2_000, data: wire.subarray(1_000), finishWrite: true },
      ])
      exam.expectError(outcome)
    },
  },
  {
    id: 'CMP-06',
    sends: 'Two frames of different levels with a skippable one between; the whole blob is committed.',
    needs,
    run: async (exam) => {
      const data = text(exam, 200_000)
      const halves = [zstdFrame(data.subarray(0, 90_000), 1), zstdFrame(data.subarray(90_000), 15)] as const
      const wire = Buffer.concat([halves[0], zstdSkippable(exam.random(30)), halves[1]])
      exam.expectCode(await upload(exam, exam.digest(data), wire), 'OK')
      exam.expectBytes((await exam.read(exam.readName(exam.digest(data)))).data, data, 'the blob')
    },
  },
  {
    id: 'CMP-07',
    sends: 'A truncated frame, one with a flipped byte, one with trailing garbage; an error each.',
    needs,
    run: async (exam) => {
      const data = text(exam, 50_000)
      const wire = zstdFrame(data)
      const flipped = Buffer.from(wire)
      flipped[wire.length >> 1] = (flipped[wire.length >> 1] ?? 0) ^ 0xff
      for (const bytes of [wire.subarray(0, wire.length - 10), flipped]) {
        exam.expectError(await upload(exam, exam.digest(data), bytes))
        exam.expectEqual((await exam.missing([exam.digest(data)])).length, 1, 'the number of missing blobs afterwards')
      }
      exam.expectError(await upload(exam, exam.digest(data), Buffer.concat([wire, Buffer.from('garbage behind it')])))
    },
  },
  {
    id: 'CMP-08',
    isBulky: true,
    sends: 'A few KiB that expand to 256 MiB, declared as 10 bytes; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      const digest = { hash: exam.digest(exam.random(10)).hash, sizeBytes: 10 }
      await expectRefused(exam, digest, zstdBomb(256))
    },
  },
  {
    id: 'CMP-09',
    sends: 'Uploads and downloads as compressed-blobs/xz and compressed-blobs/identity; each is refused.',
    needs: ['bytestream', 'cas'],
    run: async (exam) => {
      for (const form of ['compressed-blobs/xz', 'compressed-blobs/identity']) {
        const data = exam.random(100)
        exam.expectError(await upload(exam, exam.digest(data), data, form))
        const [digest] = await exam.upload(data)
        const read = await exam.read(exam.readName(digest ?? EMPTY_DIGEST, { form }))
        exam.expectError(read)
      }
    },
  },
  {
    id: 'CMP-10',
    sends: 'A zstd download of a stored blob; it decompresses to the blob.',
    needs,
    run: async (exam) => {
      const data = text(exam, 500_000)
      await exam.upload(data)
      const outcome = await exam.read(exam.readName(exam.digest(data), { form: ZSTD }))
      exam.expectCode(outcome, 'OK')
      exam.expectBytes(decoded(unzstd, outcome.data, 'the download'), data, 'the decompressed download')
      exam.chose(`sends ${outcome.data.length} bytes for ${data.length} of hex text`)
    },
  },
  {
    id: 'CMP-11',
    sends: 'Zstd downloads from offsets 1, the middle and the last byte; they decompress to the rest of the blob.',
    needs,
    run: async (exam) => {
      const data = text(exam, 300_000)
      await exam.upload(data)
      for (const offset of [1, 150_000, data.length - 1]) {
        const outcome = await exam.read(exam.readName(exam.digest(data), { form: ZSTD }), { offset })
        exam.expectCode(outcome, 'OK')
        exam.expectBytes(decoded(unzstd, outcome.data, 'the download'), data.subarray(offset), `from ${offset} on`)
      }
    },
  },
  {
    id: 'CMP-12',
    sends: 'A zstd download with read_limit 10; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      const data = text(exam, 1_000)
      await exam.upload(data)
      const outcome = await exam.read(exam.readName(exam.digest(data), { form: ZSTD }), { limit: 10 })
      exam.expectCode(outcome, 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'CMP-13',
    sends: 'Zstd downloads from offset -1 and from one past the size; OUT_OF_RANGE.',
    needs,
    run: async (exam) => {
      const data = text(exam, 1_000)
      await exam.upload(data)
      for (const offset of [-1, data.length + 1]) {
        const outcome = await exam.read(exam.readName(exam.digest(data), { form: ZSTD }), { offset })
        exam.expectCode(outcome, 'OUT_OF_RANGE')
      }
    },
  },
  {
    id: 'CMP-14',
    sends: 'A blob uploaded raw and read as zstd, and one uploaded as zstd and read raw; the same bytes come.',
    needs,
    run: (exam) => roundTrip(exam, 'zstd', zstdFrame, unzstd),
  },
  {
    id: 'CMP-15',
    sends: 'A zstd download of an absent blob; NOT_FOUND.',
    needs,
    run: async (exam) => {
      exam.expectCode(await exam.read(exam.readName(exam.digest(exam.random(9)), { form: ZSTD })), 'NOT_FOUND')
    },
  },
  {
    id: 'CMP-16',
    sends: 'Zstd downloads of the empty blob and from the offset that is the size; OK, nothing or an empty frame.',
    needs,
    run: async (exam) => {
      const data = text(exam, 1_000)
      await exam.upload(data)
      const reads = [
        await exam.read(exam.readName(EMPTY_DIGEST, { form: ZSTD })),
        await exam.read(exam.readName(exam.digest(data), { form: ZSTD }), { offset: data.length }),
      ]
      for (const outcome of reads) {
        exam.expectCode(outcome, 'OK')
        exam.expectEqual(decoded(unzstd, outcome.data, 'the download').length, 0, 'the decompressed length')
      }
    },
  },
  {
    id: 'CMP-17',
    sends: 'Raw deflate (RFC 1951) both ways; the same bytes come.',
    needs: ['bytestream', 'cas', 'compressor:deflate'],
    run: (exam) => roundTrip(exam, 'deflate', rawDeflate, (wire) => inflateRawSync(wire)),
  },
  {
    id: 'CMP-18',
    sends: 'Brotli both ways; the same bytes come.',
    needs: ['bytestream', 'cas', 'compressor:brotli'],
    run: (exam) => roundTrip(exam, 'brotli', brotli, (wire) => brotliDecompressSync(wire)),
  },
  {
    id: 'CMP-19',
    sends: 'QueryWriteStatus with the name of a finished zstd upload; complete.',
    needs,
    run: async (exam) => {
      const data = text(exam, 10_000)
      const resourceName = exam.uploadName(exam.digest(data), { form: ZSTD })
      exam.expectCode(await exam.write(zstdFrame(data), { resourceName }), 'OK')
      const outcome = await exam.call(methods.queryWriteStatus, { resourceName })
      if (outcome.code === 12) exam.notApplicable('the server does not implement QueryWriteStatus')
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses[0]?.complete, true, 'complete')
    },
  },
  {
    id: 'CMP-20',
    sends: 'A raw and a zstd upload of one blob with interleaved messages; both end OK.',
    needs,
    run: async (exam) => {
      const data = text(exam, 200_000)
      const wire = zstdFrame(data)
      const raw = exam.open(methods.write)
      const packed = exam.open(methods.write)
      const digest = exam.digest(data)
      await raw.send({ resourceName: exam.uploadName(digest), writeOffset: 0, data: data.subarray(0, 100_000) })
      const resourceName = exam.uploadName(digest, { form: ZSTD })
      await packed.send({ resourceName, writeOffset: 0, data: wire.subarray(0, 1_000) })
      await raw.send({ writeOffset: 100_000, data: data.subarray(100_000), finishWrite: true })
      await packed.send({ writeOffset: 1_000, data: wire.subarray(1_000), finishWrite: true })
      raw.halfClose()
      packed.halfClose()
      for (const outcome of await Promise.all([raw.outcome, packed.outcome])) exam.expectCode(outcome, 'OK')
      exam.expectBytes((await exam.read(exam.readName(digest))).data, data, 'the blob')
    },
  },
]
