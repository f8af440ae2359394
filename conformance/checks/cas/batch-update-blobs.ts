import { Compressor } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { type Digest, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { Divergence } from '../../exam/finding.js'
import { zstdFrame } from '../../material/content.js'
import { zstdBomb } from '../../material/zstd.js'
import type { Output } from '../../proto/codec.js'
import { Code, codeName } from '../../proto/status-code.js'
import type { Check } from '../../requirements/check.js'
import type { Outcome } from '../../wire/client.js'
import * as methods from '../../wire/methods.js'

interface Entry {
  readonly digest: Digest | null
  readonly data: Uint8Array
  readonly compressor?: number
}

type Response = Output<'build.bazel.remote.execution.v2.BatchUpdateBlobsResponse'>

/** The digests of the request, for answers without digests. */
const asked = new WeakMap<Outcome<Response>, readonly Entry[]>()

const update = async (exam: Exam, requests: readonly Entry[]): Promise<Outcome<Response>> => {
  const outcome = await exam.call(methods.batchUpdateBlobs, {
    instanceName: exam.instanceName,
    requests: [...requests],
  })
  asked.set(outcome, requests)
  return outcome
}

const entryOf = (exam: Exam, data: Uint8Array): Entry => ({ digest: exam.digest(data), data })

/**
 * The code of each entry by hash. Entries that repeat a digest agree or show the worse code. If no entry names its
 * blob, which BUB-01 reports, entries are in request order.
 */
const codes = (outcome: Outcome<Response>): Map<string, number> => {
  const found = new Map<string, number>()
  const entries = outcome.responses[0]?.responses ?? []
  const isNameless = entries.every(({ digest }) => !digest?.hash)
  for (const [at, { digest, status }] of entries.entries()) {
    const hash = (isNameless ? asked.get(outcome)?.[at]?.digest?.hash : digest?.hash) ?? ''
    found.set(hash, Math.max(found.get(hash) ?? 0, status?.code ?? 0))
  }
  return found
}

const expectEntry = (exam: Exam, outcome: Outcome<Response>, digest: Digest, code: keyof typeof Code): void => {
  const found = codes(outcome).get(digest.hash)
  if (found === undefined) throw new Divergence('an entry for each digest of the request', 'none')
  exam.expect(found === Code[code], `the entry's status to be ${code}`, codeName(found))
}

/** The server may reject the call or single entries; the blob must not be stored. */
const expectRefused = async (exam: Exam, entry: Entry & { digest: Digest }): Promise<void> => {
  const outcome = await update(exam, [entry])
  const code = exam.expectCode(outcome, 'OK', 'INVALID_ARGUMENT')
  if (code === 'OK') expectEntry(exam, outcome, entry.digest, 'INVALID_ARGUMENT')
  exam.expectEqual((await exam.missing([entry.digest])).length, 1, 'the number of missing blobs after the refusal')
}

export const batchUpdateBlobsChecks: readonly Check[] = [
  {
    id: 'BUB-01',
    sends: 'Three good blobs, twice; an entry with its digest and status OK comes back for each, and all are stored.',
    needs: ['cas'],
    run: async (exam) => {
      for (const _ of [1, 2]) {
        const blobs = [16, 100, 5_000].map((size) => exam.random(size))
        const digests = blobs.map((data) => exam.digest(data))
        const outcome = await update(
          exam,
          blobs.map((data) => entryOf(exam, data)),
        )
        exam.expectCode(outcome, 'OK')
        for (const digest of digests) expectEntry(exam, outcome, digest, 'OK')
        const named = outcome.responses[0]?.responses.map(({ digest }) => `${digest?.hash}/${digest?.sizeBytes}`)
        const sent = digests.map(({ hash, sizeBytes }) => `${hash}/${sizeBytes}`)
        exam.expectEqual(named?.sort(), sent.sort(), 'the digests of the entries')
        exam.expectEqual(await exam.missing(digests), [], 'what is missing after')
      }
    },
  },
  {
    id: 'BUB-02',
    sends: 'Two good blobs and one whose content does not match its digest; only that entry fails.',
    needs: ['cas'],
    run: async (exam) => {
      const good = [entryOf(exam, exam.random(50)), entryOf(exam, exam.random(60))]
      const wrong = exam.digest(exam.random(70))
      const outcome = await update(exam, [...good, { digest: wrong, data: exam.random(70) }])
      exam.expectCode(outcome, 'OK')
      for (const { digest } of good) if (digest !== null) expectEntry(exam, outcome, digest, 'OK')
      expectEntry(exam, outcome, wrong, 'INVALID_ARGUMENT')
      const all = [...good.flatMap(({ digest }) => digest ?? []), wrong]
      exam.expectEqual(await exam.missing(all), [`${wrong.hash}/70`], 'what is missing afterwards')
    },
  },
  {
    id: 'BUB-03',
    sends: 'The right hash with a size one too large, and one too small; each entry fails.',
    needs: ['cas'],
    run: async (exam) => {
      for (const by of [1, -1]) {
        const data = exam.random(80)
        const digest = { hash: exam.digest(data).hash, sizeBytes: data.length + by }
        const outcome = await update(exam, [{ digest, data }])
        if (exam.expectCode(outcome, 'OK', 'INVALID_ARGUMENT') === 'OK') {
          expectEntry(exam, outcome, digest, 'INVALID_ARGUMENT')
        }
      }
    },
  },
  {
    id: 'BUB-04',
    isBulky: true,
    sends: 'Blobs that together exceed max_batch_total_size_bytes by 1 MiB; the call is refused.',
    needs: ['cas'],
    run: async (exam) => {
      const limit = exam.capabilities.cacheCapabilities?.maxBatchTotalSizeBytes ?? 0
      if (limit === 0) exam.notApplicable('the server announces no limit')
      if (limit > 32 << 20) exam.notApplicable('the announced limit is above 32 MiB')
      const part = Math.ceil((limit + (1 << 20)) / 8)
      const outcome = await update(
        exam,
        Array.from({ length: 8 }, () => entryOf(exam, exam.random(part))),
      )
      exam.expectCode(outcome, 'INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED')
    },
  },
  {
    id: 'BUB-05',
    isBulky: true,
    sends: 'Blobs whose sizes add up to the announced limit less 64 KiB of envelope; all are stored.',
    needs: ['cas'],
    run: async (exam) => {
      const limit = exam.capabilities.cacheCapabilities?.maxBatchTotalSizeBytes ?? 0
      exam.observed('batch limit', limit)
      exam.chose(`announces max_batch_total_size_bytes ${limit}`)
      if (limit === 0) return
      if (limit > 32 << 20) exam.notApplicable('the announced limit is above 32 MiB')
      const part = Math.floor((limit - (64 << 10)) / 4)
      if (part <= 0) exam.notApplicable(`the announced limit of ${limit} bytes leaves no room for an envelope`)
      const entries = Array.from({ length: 4 }, () => entryOf(exam, exam.random(part)))
      const outcome = await update(exam, entries)
      exam.expectCode(outcome, 'OK')
      for (const { digest } of entries) if (digest !== null) expectEntry(exam, outcome, digest, 'OK')
      exam.expectEqual(await exam.missing(entries.flatMap(({ digest }) => digest ?? [])), [], 'what is missing after')
    },
  },
  {
    id: 'BUB-06',
    sends: 'The same blob twice in one request; both entries succeed.',
    needs: ['cas'],
    run: async (exam) => {
      const entry = entryOf(exam, exam.random(90))
      const outcome = await update(exam, [entry, entry])
      exam.expectCode(outcome, 'OK')
      if (entry.digest === null) return
      expectEntry(exam, outcome, entry.digest, 'OK')
      exam.expectTrue(await exam.missing([entry.digest]), [], 'what is missing of an acknowledged batch')
    },
  },
  {
    id: 'BUB-07',
    sends: 'The empty blob and a blob that is present already; both entries succeed.',
    needs: ['cas'],
    run: async (exam) => {
      const entry = entryOf(exam, exam.random(91))
      await update(exam, [entry])
      const outcome = await update(exam, [entry, { digest: EMPTY_DIGEST, data: Buffer.alloc(0) }])
      exam.expectCode(outcome, 'OK')
      if (entry.digest !== null) expectEntry(exam, outcome, entry.digest, 'OK')
      expectEntry(exam, outcome, EMPTY_DIGEST, 'OK')
    },
  },
  {
    id: 'BUB-08',
    sends: 'A request without entries; OK without entries.',
    needs: ['cas'],
    run: async (exam) => {
      const outcome = await update(exam, [])
      exam.expectCode(outcome, 'OK')
      exam.expectEqual(outcome.responses[0]?.responses.length, 0, 'the number of entries')
    },
  },
  {
    id: 'BUB-09',
    sends: 'An entry with a compressor that is not announced for batches; rejected, and nothing is stored.',
    needs: ['cas'],
    run: async (exam) => {
      const announced = exam.capabilities.cacheCapabilities?.supportedBatchUpdateCompressors ?? []
      const all = [Compressor.BROTLI, Compressor.DEFLATE, Compressor.ZSTD]
      const compressor = all.find((candidate) => !announced.includes(candidate)) ?? 77
      const data = exam.random(92)
      await expectRefused(exam, { digest: exam.digest(data), data, compressor })
    },
  },
  {
    id: 'BUB-10',
    sends: 'A zstd frame whose content does not match the digest; the entry fails.',
    needs: ['cas', 'batch-compressor:zstd'],
    run: async (exam) => {
      const digest = exam.digest(exam.random(1_000))
      await expectRefused(exam, { digest, data: zstdFrame(exam.random(1_000)), compressor: Compressor.ZSTD })
    },
  },
  {
    id: 'BUB-11',
    sends: 'A zstd frame cut in the middle; the entry fails, and nothing is stored.',
    needs: ['cas', 'batch-compressor:zstd'],
    run: async (exam) => {
      const data = exam.random(1_000)
      const frame = zstdFrame(data)
      const digest = exam.digest(data)
      const cut = frame.subarray(0, frame.length / 2)
      const outcome = await update(exam, [{ digest, data: cut, compressor: Compressor.ZSTD }])
      // The server may reject the whole call.
      if (outcome.code === Code.OK) exam.expect((codes(outcome).get(digest.hash) ?? 0) !== 0, 'an error', 'OK')
      else exam.expectError(outcome)
      exam.expectEqual((await exam.missing([digest])).length, 1, 'the number of missing blobs afterwards')
    },
  },
  {
    id: 'BUB-12',
    isBulky: true,
    sends: 'A few KiB of zstd that expand to 256 MiB, declared as 10 bytes; the entry fails.',
    needs: ['cas', 'batch-compressor:zstd'],
    run: async (exam) => {
      const digest = { hash: exam.digest(exam.random(10)).hash, sizeBytes: 10 }
      await expectRefused(exam, { digest, data: zstdBomb(256), compressor: Compressor.ZSTD })
    },
  },
  {
    id: 'BUB-14',
    sends: 'A digest larger than max_cas_blob_size_bytes; the entry fails.',
    needs: ['cas'],
    run: async (exam) => {
      const most = exam.capabilities.cacheCapabilities?.maxCasBlobSizeBytes ?? 0
      if (most === 0) exam.notApplicable('the server announces no largest blob')
      const digest = { hash: exam.digest(exam.random(10)).hash, sizeBytes: most + 1 }
      const outcome = await update(exam, [{ digest, data: exam.random(10) }])
      if (exam.expectCode(outcome, 'OK', 'INVALID_ARGUMENT') === 'OK') {
        expectEntry(exam, outcome, digest, 'INVALID_ARGUMENT')
      }
    },
  },
  {
    id: 'BUB-15',
    sends: 'An entry without a digest; INVALID_ARGUMENT for the call or the entry.',
    needs: ['cas'],
    run: async (exam) => {
      const outcome = await update(exam, [{ digest: null, data: exam.random(10) }])
      if (exam.expectCode(outcome, 'OK', 'INVALID_ARGUMENT') === 'INVALID_ARGUMENT') return
      const [entry] = outcome.responses[0]?.responses ?? []
      exam.expectEqual(entry?.status?.code, Code.INVALID_ARGUMENT, "the entry's status")
    },
  },
  {
    id: 'BUB-16',
    isAlone: true,
    sends: 'The same blob from 50 calls at once; all succeed.',
    needs: ['cas'],
    run: async (exam) => {
      const entry = entryOf(exam, exam.random(20_000))
      const outcomes = await Promise.all(Array.from({ length: 50 }, () => update(exam, [entry])))
      for (const outcome of outcomes) {
        // A server may limit concurrent calls below fifty.
        if (exam.expectCode(outcome, 'OK', 'UNAVAILABLE', 'RESOURCE_EXHAUSTED') !== 'OK') continue
        if (entry.digest !== null) expectEntry(exam, outcome, entry.digest, 'OK')
      }
    },
  },
]
