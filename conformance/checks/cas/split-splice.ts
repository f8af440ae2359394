import { ChunkingFunction } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Need } from '../../exam/candidate.js'
import { type Digest, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { readBlob } from '../../material/action.js'
import { fastCdcLengths } from '../../material/fast-cdc.js'
import { knownContent, knownLengths, SALT_BYTES } from '../../material/fast-cdc-vectors.js'
import { honoursLimit, honoursOffset } from '../../material/reading.js'
import { repMaxLengths } from '../../material/rep-max-cdc.js'
import { Code } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import * as methods from '../../wire/methods.js'

const splits: readonly Need[] = ['cas', 'bytestream', 'split']
const splices: readonly Need[] = ['cas', 'bytestream', 'splice']

const split = (exam: Exam, blobDigest: Digest, chunkingFunction = 0) =>
  exam.call(methods.splitBlob, { instanceName: exam.instanceName, blobDigest, chunkingFunction })

const splice = (exam: Exam, blobDigest: Digest | null, chunkDigests: readonly Digest[]) =>
  exam.call(methods.spliceBlob, { instanceName: exam.instanceName, blobDigest, chunkDigests })

/** The answer to SplitBlob, if it is attributed to the function, has that function's boundaries. */
const expectCuts = (
  exam: Exam,
  outcome: Awaited<ReturnType<typeof split>>,
  chunkingFunction: number,
  expected: () => readonly number[],
): void => {
  exam.expectCode(outcome, 'OK')
  const [answer] = outcome.responses
  if (answer?.chunkingFunction === chunkingFunction) {
    const lengths = answer.chunkDigests.map(({ sizeBytes }) => sizeBytes)
    exam.expectEqual(lengths, expected(), 'the sizes of the chunks')
  } else exam.chose('cuts by another function')
}

/** Stores three chunks, and returns the digest of their concatenation, which is not stored. */
const chunked = async (exam: Exam) => {
  const parts = [exam.random(70_000), exam.random(90_000), exam.random(50_000)]
  const whole = Buffer.concat(parts)
  return { whole, digest: exam.digest(whole), chunks: await exam.upload(...parts) }
}

/** Of a blob whose chunks end at 70,000, 160,000 and 210,000. */
const PARTS = [
  [69_999, 70_001],
  [70_000, 160_000],
  [1, 209_999],
  [209_000, 210_000],
] as const

export const splitSpliceChecks: readonly Check[] = [
  {
    id: 'SPL-01',
    sends: 'SplitBlob and SpliceBlob; each is UNIMPLEMENTED exactly if its flag is not set.',
    needs: ['cas'],
    run: async (exam) => {
      const { splitBlobSupport = false, spliceBlobSupport = false } = exam.capabilities.cacheCapabilities ?? {}
      const digest = exam.digest(exam.random(10))
      const answers = [await split(exam, digest), await splice(exam, digest, [digest])]
      const served = answers.map(({ code }) => code !== Code.UNIMPLEMENTED)
      exam.expectEqual(served, [splitBlobSupport, spliceBlobSupport], 'whether SplitBlob and SpliceBlob are served')
    },
  },
  {
    id: 'SPL-02',
    isBulky: true,
    sends: 'SplitBlob of 6 MiB; the chunks are all in the CAS and make up the blob.',
    needs: splits,
    run: async (exam) => {
      const data = exam.random(6 << 20)
      const [digest = EMPTY_DIGEST] = await exam.upload(data)
      const outcome = await split(exam, digest)
      if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') {
        exam.notApplicable('the server splits only spliced blobs')
      }
      const chunks = outcome.responses[0]?.chunkDigests ?? []
      exam.expectEqual(await exam.missing(chunks), [], 'the chunks that are missing')
      const parts: Buffer[] = []
      for (const chunk of chunks) parts.push(await readBlob(exam, chunk))
      exam.expectBytes(Buffer.concat(parts), data, 'the concatenation')
      exam.chose(`cuts 6 MiB into ${chunks.length} chunks`)
    },
  },
  {
    id: 'SPL-03',
    sends: 'SplitBlob of an absent blob; NOT_FOUND.',
    needs: splits,
    run: async (exam) => {
      exam.expectCode(await split(exam, exam.digest(exam.random(10))), 'NOT_FOUND')
    },
  },
  {
    id: 'SPL-04',
    sends:
      'SpliceBlob of three stored chunks, twice with others; the blob is readable, and the response has its digest.',
    needs: splices,
    run: async (exam) => {
      for (const _ of [1, 2]) {
        const { whole, digest, chunks } = await chunked(exam)
        const outcome = await splice(exam, digest, chunks)
        exam.expectCode(outcome, 'OK')
        exam.expectDigest(outcome.responses[0]?.blobDigest, digest, 'blob_digest in the response')
        exam.expectBytes(await readBlob(exam, digest), whole, 'the blob')
      }
    },
  },
  {
    id: 'SPL-05',
    sends: 'SpliceBlob with an absent chunk; NOT_FOUND.',
    needs: splices,
    run: async (exam) => {
      const { chunks } = await chunked(exam)
      const absent = exam.random(1_000)
      const digest = { hash: exam.digest(absent).hash, sizeBytes: 211_000 }
      exam.expectCode(await splice(exam, digest, [...chunks, exam.digest(absent)]), 'NOT_FOUND')
    },
  },
  {
    id: 'SPL-06',
    sends: 'SpliceBlob with the chunks in another order; INVALID_ARGUMENT, and the blob is missing.',
    needs: splices,
    run: async (exam) => {
      const { digest, chunks } = await chunked(exam)
      exam.expectCode(await splice(exam, digest, [...chunks].reverse()), 'INVALID_ARGUMENT')
      exam.expectEqual((await exam.missing([digest])).length, 1, 'the number of missing blobs')
    },
  },
  {
    id: 'SPL-07',
    sends: 'SpliceBlob without blob_digest; refused.',
    needs: splices,
    run: async (exam) => {
      const { chunks } = await chunked(exam)
      exam.expectError(await splice(exam, null, chunks))
    },
  },
  {
    id: 'SPL-08',
    sends: 'SpliceBlob of a blob that is present; OK or ALREADY_EXISTS.',
    needs: splices,
    run: async (exam) => {
      const { whole, digest, chunks } = await chunked(exam)
      await exam.upload(whole)
      const code = exam.expectCode(await splice(exam, digest, chunks), 'OK', 'ALREADY_EXISTS')
      exam.chose(`answers ${code} to a splice of a present blob`)
    },
  },
  {
    id: 'SPL-09',
    sends: 'SpliceBlob, and SplitBlob where it is served, with chunking_function unset; accepted.',
    needs: splices,
    run: async (exam) => {
      const { digest, chunks } = await chunked(exam)
      exam.expectCode(await splice(exam, digest, chunks), 'OK')
      if (exam.capabilities.cacheCapabilities?.splitBlobSupport !== true) return
      exam.expectCode(await split(exam, digest, ChunkingFunction.UNKNOWN), 'OK', 'NOT_FOUND')
    },
  },
  {
    id: 'SPL-10',
    isBulky: true,
    sends: 'SplitBlob by FAST_CDC_2020 of known content; chunks attributed to that function have its boundaries.',
    needs: splits,
    run: async (exam) => {
      const params = exam.capabilities.cacheCapabilities?.fastCdc2020Params
      const average = params?.avgChunkSizeBytes ?? exam.notApplicable('the server does not announce FAST_CDC_2020')
      const seed = params?.seed ?? 0
      const known = knownLengths(average, seed)
      const data = known
        ? knownContent(average, exam.random(SALT_BYTES))
        : exam.random(Math.min(average * 8, 8 << 20) + 3)
      const [digest = EMPTY_DIGEST] = await exam.upload(data)
      const outcome = await split(exam, digest, ChunkingFunction.FAST_CDC_2020)
      const expected = () => known ?? fastCdcLengths(data, average, seed)
      expectCuts(exam, outcome, ChunkingFunction.FAST_CDC_2020, expected)
    },
  },
  {
    id: 'SPL-17',
    isBulky: true,
    sends: 'SplitBlob by REP_MAX_CDC; chunks attributed to that function have its boundaries.',
    needs: splits,
    run: async (exam) => {
      const params = exam.capabilities.cacheCapabilities?.repMaxCdcParams
      const min = params?.minChunkSizeBytes ?? exam.notApplicable('the server does not announce REP_MAX_CDC')
      const horizon = params?.horizonSizeBytes ?? 0
      // Two searches over the whole horizon and more, as far as that is no flood.
      const data = exam.random(Math.min(min * 16 + horizon * 2, 8 << 20) + 3)
      const [digest = EMPTY_DIGEST] = await exam.upload(data)
      const outcome = await split(exam, digest, ChunkingFunction.REP_MAX_CDC)
      expectCuts(exam, outcome, ChunkingFunction.REP_MAX_CDC, () => repMaxLengths(data, min, horizon))
    },
  },
  {
    id: 'SPL-14',
    isBulky: true,
    sends: 'SplitBlob of 6 MiB; no chunk is empty or larger than the parameters of the named function allow.',
    needs: splits,
    run: async (exam) => {
      const [digest = EMPTY_DIGEST] = await exam.upload(exam.random(6 << 20))
      const outcome = await split(exam, digest)
      if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') {
        exam.notApplicable('the server splits only spliced blobs')
      }
      const { chunkDigests = [], chunkingFunction = 0 } = outcome.responses[0] ?? {}
      const { fastCdc2020Params, repMaxCdcParams } = exam.capabilities.cacheCapabilities ?? {}
      const largest: Record<number, number | null | undefined> = {
        [ChunkingFunction.FAST_CDC_2020]: fastCdc2020Params && fastCdc2020Params.avgChunkSizeBytes * 4,
        [ChunkingFunction.REP_MAX_CDC]: repMaxCdcParams && repMaxCdcParams.minChunkSizeBytes * 2 - 1,
      }
      const most = largest[chunkingFunction] ?? exam.notApplicable('the server cuts by a function without parameters')
      const sizes = chunkDigests.map(({ sizeBytes }) => sizeBytes)
      const wrong = sizes.filter((sizeBytes) => sizeBytes === 0 || sizeBytes > most)
      exam.expectEqual(wrong, [], `the sizes of chunks that are 0 or above ${most}`)
    },
  },
  {
    id: 'SPL-15',
    sends: 'SpliceBlob of three stored chunks as a blob that is a byte longer; INVALID_ARGUMENT.',
    needs: splices,
    run: async (exam) => {
      const { digest, chunks } = await chunked(exam)
      const longer = { hash: digest.hash, sizeBytes: digest.sizeBytes + 1 }
      exam.expectCode(await splice(exam, longer, chunks), 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'SPL-16',
    sends:
      'SpliceBlob of three stored chunks; then FindMissingBlobs, and Reads of parts that begin and end in any chunk.',
    needs: splices,
    run: async (exam) => {
      const { whole, digest, chunks } = await chunked(exam)
      exam.expectCode(await splice(exam, digest, chunks), 'OK')
      exam.expectEqual(await exam.missing([digest]), [], 'the missing blobs')
      const [offsets, limits] = [await honoursOffset(exam), await honoursLimit(exam)]
      exam.expectBytes(await readBlob(exam, digest), whole, 'the blob')
      for (const [from, to] of offsets ? PARTS : []) {
        const { data, ...outcome } = await exam.read(exam.readName(digest), {
          offset: from,
          ...(limits ? { limit: to - from } : {}),
        })
        exam.expectCode(outcome, 'OK')
        const end = limits ? to : whole.length
        exam.expectBytes(data, whole.subarray(from, end), `the bytes from ${from} to ${end}`)
      }
    },
  },
  {
    id: 'SPL-12',
    sends: 'SplitBlob of 2 MiB; the reported function is announced, and the digests match the chunks.',
    needs: splits,
    run: async (exam) => {
      const data = exam.random(2 << 20)
      const [digest = EMPTY_DIGEST] = await exam.upload(data)
      const outcome = await split(exam, digest)
      if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') {
        exam.notApplicable('the server splits only spliced blobs')
      }
      const { chunkDigests = [], chunkingFunction = 0 } = outcome.responses[0] ?? {}
      const { fastCdc2020Params = null, repMaxCdcParams = null } = exam.capabilities.cacheCapabilities ?? {}
      const announced: Record<number, boolean> = {
        [ChunkingFunction.UNKNOWN]: true,
        [ChunkingFunction.FAST_CDC_2020]: fastCdc2020Params !== null,
        [ChunkingFunction.REP_MAX_CDC]: repMaxCdcParams !== null,
      }
      exam.expect(
        announced[chunkingFunction] === true,
        'a chunking function that is announced',
        String(chunkingFunction),
      )
      let at = 0
      for (const { hash, sizeBytes } of chunkDigests) {
        exam.expectEqual(hash, exam.digest(data.subarray(at, at + sizeBytes)).hash, `the SHA256 of the chunk at ${at}`)
        at += sizeBytes
      }
    },
  },
]
