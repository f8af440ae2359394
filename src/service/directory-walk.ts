import { boundedMap } from '../base/bounded-map.js'
import type { Call } from '../base/call.js'
import { isStatus, StatusError } from '../base/status-error.js'
import { codec } from '../proto/codec.js'
import type { Directory } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../reapi/digest.js'
import type { Store } from '../store/store.js'
import { BLOB_LANES, readBlob } from './blob.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

export interface WalkedDirectory {
  readonly digest: Digest
  readonly message: Directory
}

export interface WalkOptions {
  /** A larger Directory ends the walk with RESOURCE_EXHAUSTED. */
  readonly maxDirectoryBytes: number
  /** Called for a directory that is absent; the walk goes on unless it throws. */
  readonly onMissing: (digest: Digest) => void
}

/**
 * Every directory from `root` down, each once, parents first and always in the same order. Only digests wait in memory,
 * and no depth is too deep. Rejects with NOT_FOUND when the root is absent, INVALID_ARGUMENT when a blob is no Directory.
 */
export async function* walkDirectories(
  cas: Store,
  root: Digest,
  call: Call,
  { maxDirectoryBytes, onMissing }: WalkOptions,
): AsyncGenerator<WalkedDirectory> {
  const seen = new Set([root.key])
  const waiting = [root]
  let head = 0
  while (head < waiting.length) {
    const batch = nextBatch(waiting, head, maxDirectoryBytes)
    const found = await boundedMap(batch, BLOB_LANES, (digest) => read(cas, digest, call, { maxDirectoryBytes, root }))
    const below: Digest[] = []
    for (const [index, digest] of batch.entries()) {
      const message = found[index]
      if (message === undefined) {
        onMissing(digest)
        continue
      }
      for (const child of childrenOf(message, digest)) {
        if (seen.has(child.key)) continue
        seen.add(child.key)
        below.push(child)
      }
      yield { digest, message }
    }
    head += batch.length
    for (const child of below) waiting.push(child)
    if (head > waiting.length / 2) {
      waiting.splice(0, head)
      head = 0
    }
  }
}

const MAX_BATCH = 64

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

const read = async (
  cas: Store,
  digest: Digest,
  call: Call,
  { maxDirectoryBytes, root }: { readonly maxDirectoryBytes: number; readonly root: Digest },
): Promise<Directory | undefined> => {
  if (digest.sizeBytes > maxDirectoryBytes) {
    const expected = `expected at most ${maxDirectoryBytes} bytes`
    throw new StatusError('RESOURCE_EXHAUSTED', `directory ${digest.key} is too large, ${expected}`)
  }
  try {
    return directoryCodec.decode(await readBlob(cas, digest, call))
  } catch (thrown) {
    if (digest !== root && isStatus(thrown, 'NOT_FOUND')) return undefined
    throw StatusError.from(thrown).withPrefix(`directory ${digest.key}`)
  }
}

const childrenOf = ({ directories }: Directory, parent: Digest): Digest[] =>
  directories.map(({ name, digest }) =>
    Digest.parse(digest, parent.function, `directory ${parent.key}: the digest of ${JSON.stringify(name)}`),
  )
