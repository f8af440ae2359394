import { brotliDecompressSync, inflateRawSync } from 'node:zlib'
import { Compressor } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Need } from '../../exam/candidate.js'
import { type Digest, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { Divergence } from '../../exam/finding.js'
import { decompress } from '../../material/zstd.js'
import type { Output } from '../../proto/codec.js'
import { codeName } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import type { Outcome } from '../../wire/client.js'
import * as methods from '../../wire/methods.js'

type Response = Output<'build.bazel.remote.execution.v2.BatchReadBlobsResponse'>
type Entry = Response['responses'][number]

/** BRB-01 reports a server without this method; the other rows are then skipped. */
const needs: readonly Need[] = ['cas', 'batch-read']

const read = (
  exam: Exam,
  digests: readonly Digest[],
  acceptableCompressors: readonly number[] = [],
): Promise<Outcome<Response>> =>
  exam.call(methods.batchReadBlobs, {
    instanceName: exam.instanceName,
    digests: [...digests],
    acceptableCompressors: [...acceptableCompressors],
  })

const entriesOf = (outcome: Outcome<Response>): readonly Entry[] => outcome.responses[0]?.responses ?? []

const entryFor = (outcome: Outcome<Response>, digest: Digest): Entry => {
  const entry = entriesOf(outcome).find((candidate) => candidate.digest?.hash === digest.hash)
  if (entry === undefined) throw new Divergence('an entry for each digest asked for', `none for ${digest.hash}`)
  return entry
}

const expectData = (exam: Exam, outcome: Outcome<Response>, data: Buffer): void => {
  const entry = entryFor(outcome, exam.digest(data))
  exam.expectEqual(codeName(entry.status?.code ?? 0), 'OK', "the entry's status")
  exam.expectBytes(entry.data, data, "the entry's data")
}

const decode = (entry: Entry): Buffer => {
  try {
    if (entry.compressor === Compressor.ZSTD) return decompress(entry.data)
    if (entry.compressor === Compressor.DEFLATE) return inflateRawSync(entry.data)
    if (entry.compressor === Compressor.BROTLI) return brotliDecompressSync(entry.data)
    return entry.data
  } catch (error) {
    throw new Divergence('data that decompresses', error instanceof Error ? error.message : String(error))
  }
}

const batchReadChecks: readonly Check[] = [
  {
    id: 'BRB-01',
    sends: 'Five stored digests, some of equal size; an entry with status and data for each.',
    needs: ['cas'],
    run: async (exam) => {
      const blobs = [16, 100, 100, 100, 5_000].map((size) => exam.random(size))
      const outcome = await read(exam, await exam.upload(...blobs))
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(entriesOf(outcome).length, 5, 'the number of entries')
      for (const blob of blobs) expectData(exam, outcome, blob)
    },
  },
  {
    id: 'BRB-02',
    sends: 'Two stored digests and an absent one; only that entry is NOT_FOUND.',
    needs,
    run: async (exam) => {
      const blobs = [exam.random(10), exam.random(20)]
      const absent = exam.digest(exam.random(30))
      const outcome = await read(exam, [...(await exam.upload(...blobs)), absent])
      exam.expectCode(outcome, 'OK')
      for (const blob of blobs) expectData(exam, outcome, blob)
      exam.expectEqual(codeName(entryFor(outcome, absent).status?.code ?? 0), 'NOT_FOUND', "the absent entry's status")
    },
  },
  {
    id: 'BRB-03',
    sends: 'A stored digest; the entry has a status message although it is OK.',
    needs,
    run: async (exam) => {
      const [digest] = await exam.upload(exam.random(40))
      const outcome = await read(exam, [digest ?? EMPTY_DIGEST])
      exam.expectCode(outcome, 'OK')
      const isThere = entryFor(outcome, digest ?? EMPTY_DIGEST).status !== null
      exam.observed('status present', isThere)
      exam.expect(isThere, 'an explicit status message in the entry', 'none')
    },
  },
  {
    id: 'BRB-04',
    isBulky: true,
    sends: 'Stored digests whose sizes exceed the announced limit by 1 MiB; INVALID_ARGUMENT.',
    needs,
    run: async (exam) => {
      const limit = exam.capabilities.cacheCapabilities?.maxBatchTotalSizeBytes ?? 0
      if (limit === 0) exam.notApplicable('the server announces no limit')
      if (limit > 16 << 20) exam.notApplicable('the announced limit is above 16 MiB')
      const part = Math.ceil((limit + (1 << 20)) / 8)
      const digests = await exam.upload(...Array.from({ length: 8 }, () => exam.random(part)))
      exam.expectCode(await read(exam, digests), 'INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED')
    },
  },
  {
    id: 'BRB-05',
    sends: 'The same digest twice; OK, answered once or twice.',
    needs,
    run: async (exam) => {
      const blob = exam.random(50)
      const [digest] = await exam.upload(blob)
      const outcome = await read(exam, [digest ?? EMPTY_DIGEST, digest ?? EMPTY_DIGEST])
      exam.expectCode(outcome, 'OK')
      expectData(exam, outcome, blob)
      exam.chose(`answers a repeated digest ${entriesOf(outcome).length} times`)
    },
  },
  {
    id: 'BRB-06',
    sends: 'The empty digest; OK without bytes.',
    needs,
    run: async (exam) => {
      const outcome = await read(exam, [EMPTY_DIGEST])
      exam.expectCode(outcome, 'OK')
      expectData(exam, outcome, Buffer.alloc(0))
    },
  },
  {
    id: 'BRB-07',
    sends: 'A stored digest with no acceptable compressor, then with zstd; the compressor used was allowed.',
    needs,
    run: async (exam) => {
      const blob = Buffer.from(exam.random(20_000).toString('hex'))
      const [digest = EMPTY_DIGEST] = await exam.upload(blob)
      for (const acceptable of [[], [Compressor.ZSTD]]) {
        const outcome = await read(exam, [digest], acceptable)
        exam.expectCode(outcome, 'OK')
        const entry = entryFor(outcome, digest)
        const allowed: readonly number[] = [Compressor.IDENTITY, ...acceptable]
        exam.expect(
          allowed.includes(entry.compressor),
          `a compressor of ${allowed.join(', ')}`,
          String(entry.compressor),
        )
        exam.expectBytes(decode(entry), blob, 'the decompressed data')
      }
    },
  },
  {
    id: 'BRB-08',
    sends: 'Stored digests with every compressor acceptable; the decoded data matches the digests.',
    needs,
    run: async (exam) => {
      const blobs = [exam.random(1_000), Buffer.alloc(30_000, `text ${exam.uuid()} `), exam.random(16)]
      const all = [Compressor.ZSTD, Compressor.DEFLATE, Compressor.BROTLI]
      const outcome = await read(exam, await exam.upload(...blobs), all)
      exam.expectCode(outcome, 'OK')
      for (const blob of blobs) exam.expectBytes(decode(entryFor(outcome, exam.digest(blob))), blob, 'the data')
    },
  },
  {
    id: 'BRB-09',
    sends: 'A 63-digit hash; INVALID_ARGUMENT for the call or the entry.',
    needs,
    run: async (exam) => {
      const outcome = await read(exam, [{ hash: 'b'.repeat(63), sizeBytes: 3 }])
      if (exam.expectCode(outcome, 'OK', 'INVALID_ARGUMENT') === 'INVALID_ARGUMENT') return
      exam.expectEqual(codeName(entriesOf(outcome)[0]?.status?.code ?? 0), 'INVALID_ARGUMENT', "the entry's status")
    },
  },
  {
    id: 'BRB-10',
    sends: 'No digests; OK without entries.',
    needs,
    run: async (exam) => {
      const outcome = await read(exam, [])
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(entriesOf(outcome).length, 0, 'the number of entries')
    },
  },
]

/** Why a server without BatchReadBlobs breaks no must: ByteStream.Read gives the same. */
const NO_BATCHES = 'no text says that every server implements BatchReadBlobs'

export const batchReadBlobsChecks: readonly Check[] = batchReadChecks.map((check) => ({
  ...check,
  mayLack: NO_BATCHES,
}))
