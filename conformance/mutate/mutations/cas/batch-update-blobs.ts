import { batchUpdateBlobs } from '../../../wire/methods.js'
import { answered, ended, instead, type Mutation, onRequest, onResponse } from '../../mutation.js'

const IDENTITY = 0
const ZSTD = 1
const LIMIT_BYTES = 4 << 20

type Entries = readonly { readonly digest?: object | null | undefined; readonly data?: Uint8Array | undefined }[]

const sumOf = (entries: Entries | undefined): number =>
  (entries ?? []).reduce((sum, { data }) => sum + (data?.length ?? 0), 0)

const allStored = (entries: Entries | undefined) =>
  answered({ responses: (entries ?? []).map(({ digest }) => ({ digest, status: { code: 0 } })) })

export const batchUpdateBlobsMutations: readonly Mutation[] = [
  {
    name: 'batch-update-drops-entry',
    breaks: 'BatchUpdateBlobs omits the entry of the last blob.',
    caughtBy: ['BUB-01', 'BUB-02', 'BUB-07'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        responses.pop()
      }),
  },
  {
    name: 'batch-update-duplicates-entry',
    breaks: 'BatchUpdateBlobs returns the entry of the first blob twice.',
    caughtBy: ['BUB-01'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        responses.push(...responses.slice(0, 1))
      }),
  },
  {
    name: 'batch-update-anonymous-entries',
    breaks: 'The entries of BatchUpdateBlobs do not name their blobs.',
    caughtBy: ['BUB-01'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        for (const entry of responses) entry.digest = null
      }),
  },
  {
    name: 'batch-update-shifted-statuses',
    breaks: 'BatchUpdateBlobs gives each blob the status of the one before it.',
    caughtBy: ['BUB-02'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        const statuses = responses.map(({ status }) => status)
        statuses.unshift(...statuses.splice(-1))
        for (const [index, entry] of responses.entries()) entry.status = statuses[index] ?? null
      }),
  },
  {
    name: 'batch-update-all-or-nothing',
    breaks: 'BatchUpdateBlobs fails as a whole when one entry does.',
    caughtBy: ['BUB-02'],
    tamper: () => {
      const failed = new WeakSet<object>()
      return {
        method: batchUpdateBlobs,
        response: ({ responses }, call) => {
          if (!responses.some(({ status }: { status?: { code: number } | null }) => status?.code)) return undefined
          failed.add(call)
          return []
        },
        ending: (ending, call) => {
          if (failed.has(call)) ending.code = 3
        },
      }
    },
  },
  {
    name: 'batch-update-failures-hidden',
    breaks: 'BatchUpdateBlobs gives every entry the status OK.',
    caughtBy: ['BUB-02', 'BUB-03', 'BUB-10', 'BUB-11', 'BUB-09'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        for (const { status } of responses) if (status) status.code = 0
      }),
  },
  {
    name: 'batch-update-entry-code-internal',
    breaks: 'BatchUpdateBlobs reports INTERNAL for entries with client errors.',
    caughtBy: ['BUB-02', 'BUB-03', 'BUB-10'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        for (const { status } of responses) if (status?.code === 3) status.code = 13
      }),
  },
  {
    name: 'batch-update-size-ignored',
    breaks: 'BatchUpdateBlobs verifies hashes and not sizes.',
    caughtBy: ['BUB-03'],
    tamper: () =>
      onRequest(batchUpdateBlobs, ({ requests }) => {
        for (const { digest, data, compressor } of requests ?? []) {
          if (digest && data && !compressor) digest.sizeBytes = data.length
        }
      }),
  },
  {
    name: 'batch-update-limit-not-kept',
    breaks: 'BatchUpdateBlobs takes more than the announced max_batch_total_size_bytes.',
    caughtBy: ['BUB-04'],
    tamper: () =>
      instead(batchUpdateBlobs, (request) =>
        sumOf(request?.requests) > LIMIT_BYTES ? allStored(request?.requests) : undefined,
      ),
  },
  {
    name: 'batch-update-limit-halved',
    breaks: 'BatchUpdateBlobs refuses half of the announced max_batch_total_size_bytes.',
    caughtBy: ['BUB-05'],
    tamper: () =>
      instead(batchUpdateBlobs, (request) => (sumOf(request?.requests) > LIMIT_BYTES / 2 ? ended(3) : undefined)),
  },
  {
    name: 'batch-update-empty-blob-refused',
    breaks: 'BatchUpdateBlobs refuses the empty blob.',
    caughtBy: ['BUB-07'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        for (const { digest, status } of responses) if (digest?.sizeBytes === 0 && status) status.code = 3
      }),
  },
  {
    name: 'batch-update-already-exists',
    breaks: 'BatchUpdateBlobs answers ALREADY_EXISTS for a present blob.',
    caughtBy: ['BUB-07', 'BUB-16'],
    tamper: () => {
      const seen = new Set<string>()
      return onResponse(batchUpdateBlobs, ({ responses }) => {
        for (const { digest, status } of responses) {
          const hash = digest?.hash ?? ''
          if (seen.has(hash) && status) status.code = 6
          seen.add(hash)
        }
      })
    },
  },
  {
    name: 'batch-update-nothing-is-an-error',
    breaks: 'BatchUpdateBlobs refuses a request without entries.',
    caughtBy: ['BUB-08'],
    tamper: () => instead(batchUpdateBlobs, (request) => (request?.requests?.length ? undefined : ended(3))),
  },
  {
    name: 'batch-update-compressor-ignored',
    breaks: 'BatchUpdateBlobs treats data with an unannounced compressor as uncompressed.',
    caughtBy: ['BUB-09'],
    tamper: () =>
      onRequest(batchUpdateBlobs, ({ requests }) => {
        for (const entry of requests ?? []) if (entry.compressor !== ZSTD) entry.compressor = IDENTITY
      }),
  },
  {
    name: 'batch-update-compressed-unverified',
    breaks: 'BatchUpdateBlobs stores compressed data without checking it.',
    caughtBy: ['BUB-10', 'BUB-11'],
    tamper: () =>
      instead(batchUpdateBlobs, (request) =>
        request?.requests?.some(({ compressor }) => compressor === ZSTD) ? allStored(request.requests) : undefined,
      ),
  },
  {
    name: 'batch-update-announced-compressor-refused',
    breaks: 'BatchUpdateBlobs refuses the compressors that capabilities announce for it.',
    caughtBy: ['CAP-12'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }, { request }) => {
        for (const [index, { status }] of responses.entries()) {
          if (status && request?.requests?.[index]?.compressor) status.code = 3
        }
      }),
  },
  {
    name: 'batch-update-stores-nothing',
    breaks: 'BatchUpdateBlobs says OK for every entry and stores none.',
    caughtBy: ['BUB-01', 'FMB-07', 'BRB-01', 'BSR-01'],
    tamper: () => instead(batchUpdateBlobs, (request) => allStored(request?.requests)),
  },
  {
    name: 'batch-update-one-writer-a-blob',
    breaks: 'BatchUpdateBlobs fails with ABORTED while another call uploads the same blob.',
    caughtBy: ['BUB-16'],
    tamper: () => {
      const busy = new Set<string>()
      const hashOf = (call: { request: { requests?: { digest?: { hash?: string } | null }[] } | undefined }): string =>
        call.request?.requests?.[0]?.digest?.hash ?? ''
      return {
        method: batchUpdateBlobs,
        answer: (_, call) => {
          if (busy.has(hashOf(call))) return ended(10)
          busy.add(hashOf(call))
          return undefined
        },
        ending: (_, call) => {
          busy.delete(hashOf(call))
        },
      }
    },
  },
]
