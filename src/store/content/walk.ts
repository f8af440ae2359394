import { boundedMap } from '../../base/work/bounded-map.js'
import type { Digest } from '../../reapi/digest.js'

export interface Walk<Directory> {
  /** Reads one directory; undefined when it is absent, which is then yielded too. */
  fetch(digest: Digest): Promise<Directory | undefined>
  /** What is below it. Called once for each directory, in the order in which they are yielded. */
  childrenOf(directory: Directory, digest: Digest): readonly Digest[]
  /** How many are fetched at a time. */
  readonly lanes: number
  /** At most how many bytes of directories wait in memory to be yielded, where one alone is not more. */
  readonly maxBytes: number
}

const MAX_BATCH = 64

/**
 * Every directory from `root` down, each once however often it occurs, parents first and always in the same order. Only
 * digests wait in memory, and no depth is too deep.
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

/** As many as may be in memory together. */
const nextBatch = (waiting: readonly Digest[], head: number, maxBytes: number): Digest[] => {
  const candidates = waiting.slice(head, head + MAX_BATCH)
  let sizeBytes = 0
  const end = candidates.findIndex((digest, index) => {
    sizeBytes += digest.sizeBytes
    return index > 0 && sizeBytes > maxBytes
  })
  return end < 0 ? candidates : candidates.slice(0, end)
}
