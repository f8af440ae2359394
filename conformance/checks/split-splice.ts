import { ChunkingFunction } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { readBlob } from '../action.js'
import type { Need } from '../candidate.js'
import type { Check } from '../check.js'
import { type Digest, EMPTY_DIGEST, type Exam } from '../exam.js'
import * as methods from '../methods.js'

const needs: readonly Need[] = ['cas', 'bytestream', 'split-splice']

const split = (exam: Exam, blobDigest: Digest, chunkingFunction = 0) =>
  exam.call(methods.splitBlob, { instanceName: exam.instanceName, blobDigest, chunkingFunction })

const splice = (exam: Exam, blobDigest: Digest | null, chunkDigests: readonly Digest[]) =>
  exam.call(methods.spliceBlob, { instanceName: exam.instanceName, blobDigest, chunkDigests })

/** Three chunks that are stored, and the digest of their concatenation, which is not. */
const chunked = async (exam: Exam) => {
  const parts = [exam.random(70_000), exam.random(90_000), exam.random(50_000)]
  const whole = Buffer.concat(parts)
  return { whole, digest: exam.digest(whole), chunks: await exam.upload(...parts) }
}

export const splitSpliceChecks: readonly Check[] = [
  {
    id: 'SPL-01',
    sends: 'SplitBlob and SpliceBlob on a server that announces neither; UNIMPLEMENTED.',
    needs: ['cas'],
    run: async (exam) => {
      const { splitBlobSupport = false, spliceBlobSupport = false } = exam.capabilities.cacheCapabilities ?? {}
      if (splitBlobSupport && spliceBlobSupport) exam.notApplicable('the server announces both')
      const digest = exam.digest(exam.random(10))
      if (!splitBlobSupport) exam.expectCode(await split(exam, digest), 'UNIMPLEMENTED')
      if (!spliceBlobSupport) exam.expectCode(await splice(exam, digest, [digest]), 'UNIMPLEMENTED')
    },
  },
  {
    id: 'SPL-02',
    isBulky: true,
    sends: 'SplitBlob of 6 MiB; the chunks are all in the CAS and make up the blob.',
    needs,
    run: async (exam) => {
      const data = exam.random(6 << 20)
      const [digest = EMPTY_DIGEST] = await exam.upload(data)
      const outcome = await split(exam, digest)
      if (exam.expectCode(outcome, 'OK', 'NOT_FOUND') === 'NOT_FOUND') {
        exam.notApplicable('the server splits only what was spliced')
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
    needs,
    run: async (exam) => {
      exam.expectCode(await split(exam, exam.digest(exam.random(10))), 'NOT_FOUND')
    },
  },
  {
    id: 'SPL-04',
    sends: 'SpliceBlob of three stored chunks; the blob is readable, and named by the response.',
    needs,
    run: async (exam) => {
      const { whole, digest, chunks } = await chunked(exam)
      const outcome = await splice(exam, digest, chunks)
      exam.expectCode(outcome, 'OK')
      const named = exam.present(outcome.responses[0]?.blobDigest, 'blob_digest in the response')
      exam.expectEqual(named.hash, digest.hash, 'the hash named')
      exam.expectBytes(await readBlob(exam, digest), whole, 'the blob')
    },
  },
  {
    id: 'SPL-05',
    sends: 'SpliceBlob with an absent chunk; NOT_FOUND.',
    needs,
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
    needs,
    run: async (exam) => {
      const { digest, chunks } = await chunked(exam)
      exam.expectCode(await splice(exam, digest, [...chunks].reverse()), 'INVALID_ARGUMENT')
      exam.expectEqual((await exam.missing([digest])).length, 1, 'the number of missing blobs')
    },
  },
  {
    id: 'SPL-07',
    sends: 'SpliceBlob without blob_digest; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      const { chunks } = await chunked(exam)
      exam.expectCode(await splice(exam, null, chunks), 'INVALID_ARGUMENT')
    },
  },
  {
    id: 'SPL-08',
    sends: 'SpliceBlob of a blob that is present; OK or ALREADY_EXISTS.',
    needs,
    run: async (exam) => {
      const { whole, digest, chunks } = await chunked(exam)
      await exam.upload(whole)
      const code = exam.expectCode(await splice(exam, digest, chunks), 'OK', 'ALREADY_EXISTS')
      exam.chose(`answers ${code} to a splice of a present blob`)
    },
  },
  {
    id: 'SPL-09',
    sends: 'SplitBlob and SpliceBlob with chunking_function unset; accepted.',
    needs,
    run: async (exam) => {
      const { digest, chunks } = await chunked(exam)
      exam.expectCode(await splice(exam, digest, chunks), 'OK')
      exam.expectCode(await split(exam, digest, ChunkingFunction.UNKNOWN), 'OK', 'NOT_FOUND')
    },
  },
  {
    id: 'SPL-10',
    isBulky: true,
    sends:
      'SplitBlob by FAST_CDC_2020, twice with other bytes in front; chunks between avg/4 and 4 avg, cut by content.',
    needs,
    run: async (exam) => {
      const params = exam.capabilities.cacheCapabilities?.fastCdc2020Params
      const average = params?.avgChunkSizeBytes ?? exam.notApplicable('the server does not announce FAST_CDC_2020')
      const common = exam.random(Math.min(average * 16, 8 << 20))
      const cuts: string[][] = []
      for (const head of [exam.random(1_000), exam.random(3_000)]) {
        const [digest = EMPTY_DIGEST] = await exam.upload(Buffer.concat([head, common]))
        const outcome = await split(exam, digest, ChunkingFunction.FAST_CDC_2020)
        exam.expectCode(outcome, 'OK')
        const chunks = outcome.responses[0]?.chunkDigests ?? []
        for (const { sizeBytes } of chunks.slice(0, -1)) {
          const holds = sizeBytes >= average / 4 && sizeBytes <= average * 4
          exam.expect(holds, `chunks of ${average / 4} to ${average * 4} bytes`, `one of ${sizeBytes}`)
        }
        cuts.push(chunks.map(({ hash }) => hash))
      }
      const shared = cuts[0]?.filter((hash) => cuts[1]?.includes(hash)) ?? []
      exam.expect(shared.length > 0, 'chunks that both blobs share', 'none')
    },
  },
]
