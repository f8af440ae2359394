import { getCapabilities, read, spliceBlob, splitBlob } from '../../../wire/methods.js'
import {
  answered,
  ended,
  instead,
  type Mutation,
  onRequest,
  onResponse,
  recode,
  type Tampering,
} from '../../mutation.js'

const [INVALID_ARGUMENT, NOT_FOUND, UNIMPLEMENTED] = [3, 5, 12]

const announcing = (isServed: boolean): Tampering =>
  onResponse(getCapabilities, ({ cacheCapabilities }) => {
    if (cacheCapabilities === null) return
    cacheCapabilities.splitBlobSupport = isServed
    cacheCapabilities.spliceBlobSupport = isServed
    cacheCapabilities.fastCdc2020Params = isServed ? { avgChunkSizeBytes: 1 << 16, seed: 0 } : null
  })

const rows = (...numbers: readonly number[]): string[] =>
  numbers.map((number) => `SPL-${String(number).padStart(2, '0')}`)

export const splitSpliceMutations: readonly Mutation[] = [
  {
    name: 'split-announced-not-served',
    breaks: 'SplitBlob, SpliceBlob and FastCDC are announced, and not implemented.',
    caughtBy: rows(1, 2, 3, 4, 5, 6, 9, 10, 12, 14, 15, 16),
    leavesOut: ['ContentAddressableStorage.SplitBlob', 'ContentAddressableStorage.SpliceBlob'],
    tamper: () => [
      announcing(true),
      instead(splitBlob, () => ended(UNIMPLEMENTED)),
      instead(spliceBlob, () => ended(UNIMPLEMENTED)),
    ],
  },
  {
    name: 'split-served-not-announced',
    breaks: 'SplitBlob and SpliceBlob are served and not announced.',
    caughtBy: rows(1),
    tamper: () => announcing(false),
  },
  {
    name: 'split-leaves-out-the-last-chunk',
    breaks: 'SplitBlob does not name the last chunk.',
    caughtBy: rows(2, 10),
    tamper: () => onResponse(splitBlob, ({ chunkDigests }) => void chunkDigests.pop()),
  },
  {
    name: 'split-in-another-order',
    breaks: 'SplitBlob names the chunks from the last to the first.',
    caughtBy: rows(2, 10, 12),
    tamper: () => onResponse(splitBlob, ({ chunkDigests }) => void chunkDigests.reverse()),
  },
  {
    name: 'split-cuts-by-another-function-than-it-says',
    breaks: 'SplitBlob announces REP_MAX_CDC and says that it cut by it, and the chunks end elsewhere.',
    caughtBy: rows(17),
    tamper: () => [
      onResponse(getCapabilities, ({ cacheCapabilities }) => {
        if (cacheCapabilities === null) return
        cacheCapabilities.repMaxCdcParams = { minChunkSizeBytes: 1 << 18, horizonSizeBytes: 1 << 20 }
      }),
      onRequest(splitBlob, (request) => void Object.assign(request, { chunkingFunction: 1 })),
      onResponse(splitBlob, (response) => void Object.assign(response, { chunkingFunction: 2 })),
    ],
  },
  {
    name: 'split-names-chunks-that-are-not-stored',
    breaks: 'SplitBlob names chunks that are not in the CAS.',
    caughtBy: rows(2, 12),
    tamper: () =>
      onResponse(splitBlob, ({ chunkDigests }) => {
        for (const [at, { sizeBytes }] of chunkDigests.entries())
          chunkDigests[at] = { hash: 'ab'.repeat(32), sizeBytes }
      }),
  },
  {
    name: 'split-of-absent-blob-is-empty',
    breaks: 'SplitBlob of an absent blob returns no chunks.',
    caughtBy: rows(3),
    tamper: () => recode(splitBlob, NOT_FOUND, 0),
  },
  {
    name: 'split-names-a-function-it-does-not-announce',
    breaks: 'SplitBlob says that it cut by REP_MAX_CDC, which is not announced.',
    caughtBy: rows(12),
    tamper: () =>
      onResponse(splitBlob, (response) => {
        response.chunkingFunction = 2
      }),
  },
  {
    name: 'split-of-unknown-function-refused',
    breaks: 'SplitBlob requires a chunking function.',
    caughtBy: rows(2, 9, 12),
    tamper: () => instead(splitBlob, (request) => (request?.chunkingFunction ? undefined : ended(INVALID_ARGUMENT))),
  },
  {
    name: 'fast-cdc-in-equal-parts',
    breaks: 'SplitBlob reports FAST_CDC_2020 for chunks of equal size.',
    caughtBy: rows(10),
    tamper: () => [
      announcing(true),
      instead(splitBlob, (request) => {
        const { hash, sizeBytes = 0 } = request?.blobDigest ?? {}
        const parts = Array.from({ length: Math.ceil(sizeBytes / (1 << 16)) }, (_, at) =>
          Math.min(1 << 16, sizeBytes - at * (1 << 16)),
        )
        return answered({ chunkDigests: parts.map((part) => ({ hash, sizeBytes: part })), chunkingFunction: 1 })
      }),
    ],
  },
  {
    name: 'fast-cdc-of-another-seed',
    breaks: 'FAST_CDC_2020 is announced with another seed than the one used.',
    caughtBy: rows(10),
    tamper: () =>
      onResponse(getCapabilities, ({ cacheCapabilities }) => {
        if (cacheCapabilities?.fastCdc2020Params) cacheCapabilities.fastCdc2020Params.seed = 666
      }),
  },
  {
    name: 'split-into-the-blob-itself',
    breaks: 'SplitBlob answers with the blob as its only chunk, and says that FAST_CDC_2020 cut it.',
    caughtBy: rows(10, 14),
    tamper: () => [
      announcing(true),
      onResponse(splitBlob, (response, { request }) => {
        const { hash = '', sizeBytes = 0 } = request?.blobDigest ?? {}
        response.chunkDigests = [{ hash, sizeBytes }]
        response.chunkingFunction = 1
      }),
    ],
  },
  {
    name: 'splice-of-other-sizes-is-absent',
    breaks: 'SpliceBlob answers NOT_FOUND if the chunks together have another size than the blob.',
    caughtBy: rows(15),
    tamper: () =>
      instead(spliceBlob, (request) => {
        const sizeBytes = (request?.chunkDigests ?? []).reduce((sum, chunk) => sum + (chunk.sizeBytes ?? 0), 0)
        return request?.blobDigest && sizeBytes !== request.blobDigest.sizeBytes ? ended(NOT_FOUND) : undefined
      }),
  },
  {
    name: 'spliced-blob-is-read-from-its-start',
    breaks: 'Read of a spliced blob begins at its first byte, whatever the offset is.',
    caughtBy: rows(16),
    tamper: () => {
      const spliced = new Set<string>()
      return [
        onResponse(spliceBlob, (_, { request }) => void spliced.add(request?.blobDigest?.hash ?? '')),
        onRequest(read, (request) => {
          const [, hash = ''] = /blobs\/([0-9a-f]+)\//.exec(request.resourceName ?? '') ?? []
          if (spliced.has(hash)) request.readOffset = 0
        }),
      ]
    },
  },
  {
    name: 'splice-discarded',
    breaks: 'SpliceBlob acknowledges and stores nothing.',
    caughtBy: rows(4),
    tamper: () => instead(spliceBlob, (request) => answered({ blobDigest: request?.blobDigest })),
  },
  {
    name: 'splice-names-nothing',
    breaks: 'SpliceBlob does not return the digest of the blob.',
    caughtBy: rows(4),
    tamper: () =>
      onResponse(spliceBlob, (response) => {
        response.blobDigest = null
      }),
  },
  {
    name: 'splice-of-absent-chunks-is-invalid',
    breaks: 'SpliceBlob of absent chunks fails with INVALID_ARGUMENT.',
    caughtBy: rows(5),
    tamper: () => recode(spliceBlob, NOT_FOUND, INVALID_ARGUMENT),
  },
  {
    name: 'splice-trusts-the-digest',
    breaks: 'SpliceBlob answers OK even if the chunks make another blob.',
    caughtBy: rows(6, 7),
    tamper: () => recode(spliceBlob, INVALID_ARGUMENT, 0),
  },
]
