import { LruCache } from '../../base/lru-cache.js'
import { isStatus } from '../../base/status-error.js'
import { getBytes, type Store } from '../../blobs/store.js'
import { resultIn } from '../../misses/evidence.js'
import { codec } from '../../proto/codec.js'
import type { ActionResult, Directory } from '../../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../reapi/digest.js'
import type { DigestFunction } from '../../reapi/digest-function.js'
import { type Call, callWith } from '../../rpc/call.js'
import type { RequestRecord } from '../../rpc/request-records.js'

const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

/** Actions whose outputs were added up. */
const MAX_KNOWN = 100_000
/** How long a page waits; it says what is not counted yet. */
const PATIENCE_MS = 100
const MAX_TREE_BYTES = 4 * 1024 * 1024

/** Where an instance keeps results, and what they name. */
export interface ResultSources {
  readonly cas: Store
  readonly results: Store | undefined
}

/** What the caches saved a build. */
export interface SavedBytes {
  /** Of the outputs of hits, which the build did not have to make. */
  readonly bytes: number
  readonly countedHits: number
  readonly hits: number
}

/**
 * Adds up the outputs of hits. The records of requests do not have the sum, because a hit would pay for it; it is read from
 * the results when somebody looks.
 */
export class SavedBytesOf {
  readonly #known = new LruCache<number>(MAX_KNOWN)

  /** `records`: of one build. Counts each action once. */
  async sum(
    records: readonly RequestRecord[],
    sourcesOf: (instance: string) => ResultSources | undefined,
    call: Call,
  ): Promise<SavedBytes> {
    const hits = new Map(records.filter(({ outcome }) => outcome === 'hit').map((record) => [keyOf(record), record]))
    const endMs = performance.now() + PATIENCE_MS
    let [bytes, countedHits] = [0, 0]
    for (const [key, record] of hits) {
      let found = this.#known.get(key)
      if (found === undefined && performance.now() < endMs) {
        found = await outputBytes(record, sourcesOf(record.instance), call)
        this.#known.set(key, found, 1)
      }
      if (found === undefined) continue
      bytes += found
      countedHits += 1
    }
    return { bytes, countedHits, hits: hits.size }
  }
}

const keyOf = ({ instance, action }: RequestRecord): string => `${action} ${instance}`

/** 0 if its result is not there any more. */
const outputBytes = async (
  { action, instance: instanceName }: RequestRecord,
  sources: ResultSources | undefined,
  call: Call,
): Promise<number> => {
  const digest = Digest.ofKey(action)
  if (digest === undefined || sources?.results === undefined) return 0
  const own = callWith(call, { instanceName })
  const result = await resultIn(sources.results, digest, own)
  return result === undefined ? 0 : sizeOf(result, digest.function, sources.cas, own)
}

const sizeOf = async (
  { outputFiles, outputDirectories, stdoutDigest, stderrDigest }: ActionResult,
  digestFunction: DigestFunction,
  cas: Store,
  call: Call,
): Promise<number> => {
  const blobs = [...outputFiles.map(({ digest }) => digest), stdoutDigest, stderrDigest]
  let bytes = blobs.reduce((sum, digest) => sum + (digest?.sizeBytes ?? 0), 0)
  for (const { treeDigest } of outputDirectories) {
    if (treeDigest === null) continue
    try {
      const encoded = await getBytes(cas, Digest.parse(treeDigest, digestFunction), MAX_TREE_BYTES, call)
      const { root, children } = treeCodec.decode(encoded)
      for (const directory of [root, ...children]) bytes += directory === null ? 0 : fileBytes(directory)
    } catch (error) {
      // A tree that is gone, too large or broken counts nothing.
      if (!['NOT_FOUND', 'INVALID_ARGUMENT', 'RESOURCE_EXHAUSTED'].some((code) => isStatus(error, code as 'NOT_FOUND')))
        throw error
    }
  }
  return bytes
}

const fileBytes = ({ files }: Directory): number => files.reduce((sum, { digest }) => sum + (digest?.sizeBytes ?? 0), 0)
