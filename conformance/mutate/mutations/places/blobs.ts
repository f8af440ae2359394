import type { Output } from '../../../proto/codec.js'
import {
  batchReadBlobs,
  batchUpdateBlobs,
  findMissingBlobs,
  getTree,
  read,
  splitBlob,
  write,
} from '../../../wire/methods.js'
import { cleanedTarget } from '../../edge-faults.js'
import { type Call, ended, instead, type Mutation, onRequest, onResponse, type Tampering } from '../../mutation.js'
import { swapFirstTwo } from './results.js'

// Mutations of seeded/places.tsv whose place is a blob or a name of one.

const LIMIT = 1_000
type FindMissing = Output<'build.bazel.remote.execution.v2.FindMissingBlobsRequest'>
type Told = { hash: string; sizeBytes: number }

const toldOf = (digest: { readonly hash?: string | undefined; readonly sizeBytes?: number | undefined } | null) => ({
  hash: digest?.hash ?? '',
  sizeBytes: digest?.sizeBytes ?? 0,
})

const batchUpdateToALimit = (): Tampering[] => {
  const dropped = new WeakMap<object, Told[]>()
  return [
    onRequest(batchUpdateBlobs, (message, call) => {
      const requests = message.requests ?? []
      dropped.set(
        call,
        requests.slice(LIMIT).map(({ digest }) => toldOf(digest ?? null)),
      )
      message.requests = requests.slice(0, LIMIT)
    }),
    onResponse(batchUpdateBlobs, ({ responses }, call) => {
      const status = { code: 0, message: '', details: [] }
      responses.push(...(dropped.get(call) ?? []).map((digest) => ({ digest, status })))
    }),
  ]
}

/** By UTF-16 units, as JavaScript's own order is. */
export const byUtf16 = (a: { readonly name: string }, b: { readonly name: string }): number =>
  a.name < b.name ? -1 : 1

const treeMutations: readonly Mutation[] = [
  {
    name: 'tree-to-a-limit',
    breaks: 'GetTree: directories after the thousandth are missing.',
    caughtBy: ['TRE-14'],
    tamper: () => {
      const counts = new WeakMap<object, number>()
      return onResponse(getTree, (message, call) => {
        const before = counts.get(call) ?? 0
        message.directories = message.directories.slice(0, Math.max(0, LIMIT - before))
        counts.set(call, before + message.directories.length)
      })
    },
  },
  {
    name: 'tree-equal-directory-dropped',
    breaks: 'GetTree: a directory that stands at two places is not returned.',
    caughtBy: ['TRE-14'],
    tamper: () =>
      onResponse(getTree, (message) => {
        const named = message.directories.flatMap(({ directories }) => directories)
        const twice = named.find(({ digest }, at) => named.findIndex((each) => each.digest?.hash === digest?.hash) < at)
        const names = new Set(
          named.filter(({ digest }) => digest?.hash === twice?.digest?.hash).map(({ name }) => name),
        )
        if (names.size > 1) message.directories = message.directories.slice(0, 1)
      }),
  },
  {
    name: 'tree-names-re-ordered',
    breaks: 'GetTree: files of a Directory are ordered by UTF-16 units.',
    caughtBy: ['TRE-14'],
    tamper: () =>
      onResponse(getTree, ({ directories }) => {
        for (const directory of directories) directory.files.sort(byUtf16)
      }),
  },
  {
    name: 'tree-target-normalised',
    breaks: 'GetTree: targets of symlinks lose a dot at their beginning.',
    caughtBy: ['TRE-14'],
    tamper: () =>
      onResponse(getTree, ({ directories }) => {
        for (const { symlinks } of directories) for (const link of symlinks) link.target = cleanedTarget(link.target)
      }),
  },
  {
    name: 'tree-properties-dropped',
    breaks: 'GetTree: node_properties of a Directory are missing.',
    caughtBy: ['TRE-01'],
    tamper: () =>
      onResponse(getTree, ({ directories }) => {
        for (const directory of directories) directory.nodeProperties = null
      }),
  },
]

export const blobPlaceMutations: readonly Mutation[] = [
  {
    name: 'find-missing-to-a-limit',
    breaks: 'FindMissingBlobs: digests after the thousandth are reported present.',
    caughtBy: ['FMB-13'],
    tamper: () =>
      onResponse(findMissingBlobs, (message, { request }: Call<FindMissing>) => {
        const seen = new Set(request?.blobDigests.slice(0, LIMIT).map(({ hash }) => hash))
        message.missingBlobDigests = message.missingBlobDigests.filter(({ hash }) => seen.has(hash))
      }),
  },
  {
    name: 'find-missing-by-hash',
    breaks: 'FindMissingBlobs: a stored hash with another size is reported present.',
    caughtBy: ['DIG-02'],
    tamper: () => {
      const sizes = new Map<string, number>()
      return [
        onRequest(batchUpdateBlobs, ({ requests }) => {
          for (const { digest } of requests ?? []) sizes.set(digest?.hash ?? '', digest?.sizeBytes ?? 0)
        }),
        onResponse(findMissingBlobs, (message) => {
          message.missingBlobDigests = message.missingBlobDigests.filter(
            ({ hash, sizeBytes }) => (sizes.get(hash) ?? sizeBytes) === sizeBytes,
          )
        }),
      ]
    },
  },
  {
    name: 'batch-read-swapped',
    breaks: 'BatchReadBlobs: of two blobs of equal size each has the data of the other.',
    caughtBy: ['BRB-01'],
    tamper: () =>
      onResponse(batchReadBlobs, ({ responses }) => {
        const sizes = responses.map(({ data }) => data.length)
        const twin = responses.find(({ data }, at) => sizes.indexOf(data.length) < at)
        swapFirstTwo(
          responses.filter(({ data }) => data.length === twin?.data.length),
          'data',
        )
      }),
  },
  {
    name: 'batch-read-to-a-limit',
    breaks: 'BatchReadBlobs: has entries for a thousand digests.',
    caughtBy: ['BRB-12'],
    tamper: () =>
      onResponse(batchReadBlobs, (message) => {
        message.responses = message.responses.slice(0, LIMIT)
      }),
  },
  {
    name: 'batch-update-to-a-limit',
    breaks: 'BatchUpdateBlobs: blobs after the thousandth are acknowledged and not stored.',
    caughtBy: ['BUB-17'],
    tamper: batchUpdateToALimit,
  },
  {
    name: 'batch-statuses-swapped',
    breaks: 'BatchUpdateBlobs: a refused blob has the status of a stored one, and the reverse.',
    caughtBy: ['BUB-02'],
    tamper: () =>
      onResponse(batchUpdateBlobs, ({ responses }) => {
        const refused = responses.find(({ status }) => (status?.code ?? 0) !== 0)
        const stored = responses.find(({ status }) => (status?.code ?? 0) === 0)
        if (refused && stored) [refused.status, stored.status] = [stored.status, refused.status]
      }),
  },
  ...treeMutations,
  {
    name: 'upload-name-metadata',
    breaks: 'Write: an upload with two segments after its size is acknowledged and not stored.',
    caughtBy: ['BSW-02'],
    tamper: () =>
      instead(write, (request) => {
        const [, sizeBytes] = /blobs\/[0-9a-f]+\/(\d+)\/[^/]+\/./.exec(request?.resourceName ?? '') ?? []
        return sizeBytes === undefined ? undefined : { responses: [{ committedSize: Number(sizeBytes) }], ...ended() }
      }),
  },
  {
    name: 'read-end-off-by-one',
    breaks: 'Read: from the end of a blob its last byte is returned.',
    caughtBy: ['BSR-04'],
    tamper: () =>
      onRequest(read, (request) => {
        const [, sizeBytes] = /blobs\/(?:[a-z0-9]+\/)?[0-9a-f]+\/(\d+)$/.exec(request.resourceName ?? '') ?? []
        const offset = request.readOffset ?? 0
        if (offset > 0 && String(offset) === sizeBytes) request.readOffset = offset - 1
      }),
  },
  {
    name: 'read-offset-to-pages',
    breaks: 'Read: begins at a multiple of 4,096 bytes.',
    caughtBy: ['BSR-03'],
    tamper: () =>
      onRequest(read, (request) => {
        const offset = request.readOffset ?? 0
        request.readOffset = offset - (offset % 4_096)
      }),
  },
  {
    name: 'repeated-chunk-dropped',
    breaks: 'SplitBlob: a chunk that occurs twice in a row is named once.',
    caughtBy: ['SPL-13'],
    tamper: () =>
      onResponse(splitBlob, (message) => {
        message.chunkDigests = message.chunkDigests.filter(
          ({ hash }, at) => hash !== message.chunkDigests[at - 1]?.hash,
        )
      }),
  },
]
