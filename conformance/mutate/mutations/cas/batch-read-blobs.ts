import { EMPTY_DIGEST } from '../../../exam/exam.js'
import { batchReadBlobs } from '../../../wire/methods.js'
import { answered, ended, instead, type Mutation, onResponse } from '../../mutation.js'

const NOT_FOUND = 5
const LIMIT_BYTES = 4 << 20

export const batchReadBlobsMutations: readonly Mutation[] = [
  {
    name: 'batch-read-drops-entry',
    breaks: 'BatchReadBlobs omits the entry of the last digest.',
    caughtBy: ['BRB-01', 'BRB-02', 'BRB-06'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        responses.pop()
      }),
  },
  {
    name: 'batch-read-duplicates-entry',
    breaks: 'BatchReadBlobs returns the first blob twice.',
    caughtBy: ['BRB-01'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        responses.push(...responses.slice(0, 1))
      }),
  },
  {
    name: 'batch-read-flips-byte',
    breaks: 'BatchReadBlobs returns data with one byte changed.',
    caughtBy: ['BRB-01', 'BRB-07', 'BRB-08'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        for (const entry of responses) {
          entry.data = Buffer.from(entry.data)
          entry.data[0] = (entry.data[0] ?? 0) ^ 1
        }
      }),
  },
  {
    name: 'batch-read-truncates',
    breaks: 'BatchReadBlobs returns blobs without their last byte.',
    caughtBy: ['BRB-01', 'BRB-02'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        for (const entry of responses) entry.data = entry.data.subarray(0, -1)
      }),
  },
  {
    name: 'batch-read-absent-fails-all',
    breaks: 'BatchReadBlobs ends with NOT_FOUND when one of the blobs is absent.',
    caughtBy: ['BRB-02'],
    tamper: () => {
      const failed = new WeakSet<object>()
      return {
        method: batchReadBlobs,
        response: ({ responses }, call) => {
          if (!responses.some(({ status }: { status?: { code: number } | null }) => status?.code)) return undefined
          failed.add(call)
          return []
        },
        ending: (ending, call) => {
          if (failed.has(call)) ending.code = NOT_FOUND
        },
      }
    },
  },
  {
    name: 'batch-read-absent-is-empty',
    breaks: 'BatchReadBlobs returns absent blobs as OK without data.',
    caughtBy: ['BRB-02', 'DIG-02'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        for (const { status } of responses) if (status) status.code = 0
      }),
  },
  {
    name: 'batch-read-status-left-out',
    breaks: 'BatchReadBlobs leaves the status message out of entries that are OK.',
    caughtBy: ['BRB-03'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        for (const entry of responses) if (!entry.status?.code) entry.status = null
      }),
  },
  {
    name: 'batch-read-limit-not-kept',
    breaks: 'BatchReadBlobs answers requests above max_batch_total_size_bytes, without the data.',
    caughtBy: ['BRB-04'],
    tamper: () =>
      instead(batchReadBlobs, (request) => {
        const digests = request?.digests ?? []
        const sum = digests.reduce((total, { sizeBytes = 0 }) => total + sizeBytes, 0)
        return sum > LIMIT_BYTES
          ? answered({ responses: digests.map((digest) => ({ digest, status: { code: 0 } })) })
          : undefined
      }),
  },
  {
    name: 'batch-read-empty-blob-absent',
    breaks: 'BatchReadBlobs does not find the empty blob.',
    caughtBy: ['BRB-06', 'DIG-12'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        for (const { digest, status } of responses) {
          if (digest?.hash === EMPTY_DIGEST.hash && status) status.code = NOT_FOUND
        }
      }),
  },
  {
    name: 'batch-read-unasked-compressor',
    breaks: 'BatchReadBlobs marks data as brotli though the client did not accept it.',
    caughtBy: ['BRB-07'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        for (const entry of responses) entry.compressor = 3
      }),
  },
  {
    name: 'batch-read-compressor-untold',
    breaks: 'BatchReadBlobs compresses data and does not say so.',
    caughtBy: ['BRB-07', 'BRB-08'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        for (const entry of responses) entry.compressor = entry.compressor === 0 ? 1 : 0
      }),
  },
  {
    name: 'batch-read-nothing-is-an-error',
    breaks: 'BatchReadBlobs refuses a request without digests.',
    caughtBy: ['BRB-10'],
    tamper: () => instead(batchReadBlobs, (request) => (request?.digests?.length ? undefined : ended(3))),
  },
]
