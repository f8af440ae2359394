import type { Digest } from '../reapi/digest.js'
import { boundedMap } from '../work/bounded-map.js'

export interface Walk<Directory> {
  /** Reads one directory. Undefined when it is absent; absent directories are yielded too. */
  fetch(digest: Digest): Promise<Directory | undefined>
  /** The child directories. Called once per directory, in the order of the output. */
  childrenOf(directory: Directory, digest: Digest): readonly Digest[]
  /** Directories fetched at the same time. */
  readonly lanes: number
  /** Bound on the bytes of directories that wait in memory; a single larger directory is allowed. */
  readonly maxBytes: number
}

const MAX_BATCH = 64

/**
 * Yields every directory from `root` down, each once, parents first, always in the same order. Only digests wait in
 * memory, so depth is unlimited.
 */
export async function* walk<Directory>(
  root: Digest,
  { fetch, childrenOf, lanes, maxBytes }: Walk<Directory>,
): AsyncGenerator<{ readonly digest: Digest; readonly directory: Directory | undefined; readonly seenCount: number }> {
  const seen = new Set([root.key])
  const waiting = [root]
  let head = 0
  while (head < waiting.length) {
    const batch = nextBatch(waiting, head, maxBytes)
    const found = await boundedMap(batch, lanes, fetch)
    for (const [index, digest] of batch.entries()) {
      const directory = found[index]
      for (const child of directory === undefined ? [] : childrenOf(directory, digest)) {
        if (seen.has(child.key)) continue
        seen.add(child.key)
        waiting.push(child)
      }
      yield { digest, directory, seenCount: seen.size }
    }
    head += batch.length
    if (head > waiting.length / 2) {
      waiting.splice(0, head)
      head = 0
    }
  }
}

/** The next directories that fit in memory together. */
const nextBatch = (waiting: readonly Digest[], head: number, maxBytes: number): Digest[] => {
  const candidates = waiting.slice(head, head + MAX_BATCH)
  let sizeBytes = 0
  const end = candidates.findIndex((digest, index) => {
    sizeBytes += digest.sizeBytes
    return index > 0 && sizeBytes > maxBytes
  })
  return end < 0 ? candidates : candidates.slice(0, end)
}
