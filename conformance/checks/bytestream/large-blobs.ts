import type { Need } from '../../exam/candidate.js'
import { type Exam, REFUSALS } from '../../exam/exam.js'
import { Comparer, LargeBlob } from '../../material/large-blob.js'
import { honoursOffset } from '../../material/reading.js'
import { decompressor, framed } from '../../material/zstd.js'
import type { Output } from '../../proto/codec.js'
import type { Check } from '../../requirements/check.js'
import type { Outcome } from '../../wire/client.js'
import * as methods from '../../wire/methods.js'
import { expectCommitted } from './write.js'

const needs: readonly Need[] = ['bytestream', 'cas']
const ZSTD = 'compressed-blobs/zstd'
const MIB = 1 << 20
/** Sizes at which a server fails that buffers a whole blob, a message, or a fixed amount. */
const SIZES_MIB = [5, 9, 33, 129]
const CALL_MS = 60_000

type Chunk = Output<'google.bytestream.ReadResponse'>

/** Fresh blobs of every size that the server accepts. */
const blobsFor = (exam: Exam): LargeBlob[] => {
  const most = exam.capabilities.cacheCapabilities?.maxCasBlobSizeBytes || Number.POSITIVE_INFINITY
  const sizes = SIZES_MIB.map((mib) => mib * MIB + 3).filter((sizeBytes) => sizeBytes <= most)
  if (sizes.length === 0) exam.notApplicable(`the server accepts blobs of up to ${most} bytes`)
  return sizes.map((sizeBytes) => new LargeBlob(sizeBytes))
}

/** Whether the server takes a blob of this size. A refusal is the finding of BSR-17. */
const isTaken = (exam: Exam, outcome: Outcome<unknown>, { sizeBytes }: LargeBlob): boolean => {
  if (!REFUSALS.has(outcome.code)) return true
  exam.chose(`refuses ${sizeBytes} bytes; see BSR-17`)
  return false
}

const writeWhole = async (exam: Exam, blob: LargeBlob): Promise<void> => {
  const upload = exam.open(methods.write, { deadlineMs: CALL_MS })
  for (const { at, bytes, isLast } of blob.pieces()) {
    if (upload.hasEnded) break
    const resourceName = at === 0 ? exam.uploadName(blob.digest) : ''
    await upload.send({ resourceName, writeOffset: at, data: bytes, finishWrite: isLast })
  }
  upload.halfClose()
  expectCommitted(exam, await upload.outcome, blob.sizeBytes)
}

const writeCompressed = async (exam: Exam, blob: LargeBlob): Promise<boolean> => {
  const upload = exam.open(methods.write, { deadlineMs: CALL_MS })
  let sentBytes = 0
  for (const data of framed(blob.pieces())) {
    if (upload.hasEnded) break
    const resourceName = sentBytes === 0 ? exam.uploadName(blob.digest, { form: ZSTD }) : ''
    await upload.send({ resourceName, writeOffset: sentBytes, data })
    sentBytes += data.length
  }
  await upload.send({ writeOffset: sentBytes, data: Buffer.alloc(0), finishWrite: true })
  upload.halfClose()
  const outcome = await upload.outcome
  if (!isTaken(exam, outcome, blob)) return false
  exam.expectCode(outcome, 'OK')
  return true
}

const expectSame = (exam: Exam, comparer: Comparer, blob: LargeBlob, what: string): void => {
  const { differsAt, reachedBytes } = comparer
  exam.expectTrue(differsAt ?? 'no byte', 'no byte', `the first other byte in ${what}`)
  exam.expectTrue(reachedBytes, blob.sizeBytes, `the end of ${what}`)
}

const readFrom = async (exam: Exam, blob: LargeBlob, offset: number): Promise<void> => {
  const comparer = new Comparer(blob, offset)
  const outcome = await exam.read(exam.readName(blob.digest), {
    offset,
    deadlineMs: CALL_MS,
    mostResponseBytes: blob.sizeBytes + MIB,
    onResponse: ({ data }: Chunk) => void comparer.push(data),
  })
  exam.expectCode(outcome, 'OK')
  expectSame(exam, comparer, blob, `the download of ${blob.sizeBytes} bytes from ${offset}`)
}

const readCompressed = async (exam: Exam, blob: LargeBlob, offset: number): Promise<void> => {
  const comparer = new Comparer(blob, offset)
  const decoder = decompressor((bytes) => comparer.push(bytes))
  let failure: string | undefined
  const attempt = (step: () => void): undefined => {
    try {
      if (failure === undefined) step()
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error)
    }
  }
  const outcome = await exam.read(exam.readName(blob.digest, { form: ZSTD }), {
    offset,
    deadlineMs: CALL_MS,
    mostResponseBytes: blob.sizeBytes + MIB,
    onResponse: ({ data }: Chunk) => attempt(() => decoder.push(data)),
  })
  exam.expectCode(outcome, 'OK')
  attempt(() => decoder.end())
  exam.expect(failure === undefined, 'a download that decompresses', failure ?? '')
  expectSame(exam, comparer, blob, `the decompressed download of ${blob.sizeBytes} bytes from ${offset}`)
}

/** More than 1 MiB before the end, at an offset that is not aligned. */
const lateIn = ({ sizeBytes }: LargeBlob): number => sizeBytes - MIB - 4_097

export const largeBlobChecks: readonly Check[] = [
  {
    id: 'BSR-17',
    isBulky: true,
    deadlineMs: 120_000,
    sends: 'Blobs of 5, 9, 33 and 129 MiB; each comes back whole, and from near its end.',
    needs,
    run: async (exam) => {
      const offsets = await honoursOffset(exam)
      for (const blob of blobsFor(exam)) {
        await writeWhole(exam, blob)
        exam.expectEqual(await exam.missing([blob.digest]), [], 'what is missing afterwards')
        for (const offset of offsets ? [0, lateIn(blob)] : [0]) await readFrom(exam, blob, offset)
      }
    },
  },
  {
    id: 'CMP-21',
    isBulky: true,
    deadlineMs: 120_000,
    sends: 'Zstd uploads of 5, 9, 33 and 129 MiB; each comes back plain, and as zstd whole and from near its end.',
    needs: [...needs, 'compressor:zstd'],
    run: async (exam) => {
      const [plain, packed] = [await honoursOffset(exam), await honoursOffset(exam, ZSTD)]
      for (const blob of blobsFor(exam)) {
        if (!(await writeCompressed(exam, blob))) continue
        await readFrom(exam, blob, plain ? lateIn(blob) : 0)
        for (const offset of packed ? [0, lateIn(blob)] : [0]) await readCompressed(exam, blob, offset)
      }
    },
  },
]
