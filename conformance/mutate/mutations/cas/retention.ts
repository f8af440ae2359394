import { treeCodec } from '../../../material/output-tree.js'
import { batchUpdateBlobs, findMissingBlobs, getActionResult } from '../../../wire/methods.js'
import { type Mutation, onRequest, onResponse, type Tampering } from '../../mutation.js'

/** How long a use keeps a blob: for good, until as much was uploaded after it as the store holds, or not at all. */
type Extends = 'for good' | 'for a store' | 'nothing'

/** What the store of these servers holds. The test gives the same `--store-size`. */
const STORE_BYTES = 1_000_000
/** Trees are smaller than that, and other blobs need not be read. */
const TREE_BYTES = 1_000

/** A server whose store holds little: FindMissingBlobs reports what it would have evicted. */
const small = (found: Extends, hit: Extends, seesTrees = true): Tampering[] => {
  let sentBytes = 0
  const usedAt = new Map<string, number>()
  const forGood = new Set<string>()
  const trees = new Map<string, Buffer>()
  const use = (hash: string, how: Extends): void => {
    if (how === 'for good') forGood.add(hash)
    if (how === 'for a store') usedAt.set(hash, sentBytes)
  }
  const isGone = (hash: string): boolean =>
    !forGood.has(hash) && sentBytes - (usedAt.get(hash) ?? sentBytes) > STORE_BYTES
  return [
    onRequest(batchUpdateBlobs, ({ requests }) => {
      for (const { digest, data } of requests ?? []) {
        const hash = digest?.hash ?? ''
        sentBytes += data?.length ?? 0
        usedAt.set(hash, sentBytes)
        if (data && data.length < TREE_BYTES) trees.set(hash, Buffer.from(data))
      }
    }),
    onResponse(findMissingBlobs, (response, { request }) => {
      for (const { hash = '', sizeBytes = 0 } of request?.blobDigests ?? []) {
        if (isGone(hash)) response.missingBlobDigests.push({ hash, sizeBytes })
        else use(hash, found)
      }
    }),
    onResponse(getActionResult, ({ outputFiles, outputDirectories, stdoutDigest, stderrDigest }) => {
      const roots = outputDirectories.map(({ treeDigest }) => treeDigest)
      const named = [...outputFiles.map(({ digest }) => digest), ...roots, stdoutDigest, stderrDigest]
      const messages = seesTrees
        ? roots.map((root) => treeCodec.decode(trees.get(root?.hash ?? '') ?? Buffer.alloc(0)))
        : []
      const inTrees = messages.flatMap(({ root, children }) =>
        [root, ...children].flatMap((each) => each?.files.map(({ digest }) => digest) ?? []),
      )
      for (const digest of [...named, ...inTrees]) use(digest?.hash ?? '', hit)
    }),
  ]
}

export const retentionMutations: readonly Mutation[] = [
  {
    name: 'lookups-extend-nothing',
    breaks: 'Blobs are evicted in the order of their uploads, whether FindMissingBlobs found them or not.',
    caughtBy: ['FMB-08', 'FMB-14'],
    tamper: () => small('nothing', 'for good'),
  },
  {
    name: 'lookups-extend-for-a-store',
    breaks: 'A blob that FindMissingBlobs found is evicted when as much was uploaded as the store holds.',
    caughtBy: ['FMB-14'],
    tamper: () => small('for a store', 'for good'),
  },
  {
    name: 'hits-extend-nothing',
    breaks: 'Outputs are evicted in the order of their uploads, whether hits name them or not.',
    caughtBy: ['ACG-04', 'ACG-14', 'ACG-15'],
    tamper: () => small('for good', 'nothing'),
  },
  {
    name: 'hits-extend-for-a-store',
    breaks: 'What a hit names is evicted when as much was uploaded as the store holds.',
    caughtBy: ['ACG-14', 'ACG-15'],
    tamper: () => small('for good', 'for a store'),
  },
  {
    name: 'hits-forget-what-trees-hold',
    breaks: 'A hit keeps what it names, and not the files inside its Trees.',
    caughtBy: ['ACG-04', 'ACG-15'],
    tamper: () => small('for good', 'for good', false),
  },
]
