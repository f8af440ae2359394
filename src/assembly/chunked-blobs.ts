import type { Clock } from '../base/clock.js'
import type { Store } from '../blobs/store.js'
import type { Chunking as ChunkingOptions } from '../config/config.js'
import { chunkingOf } from '../content/chunking-of.js'
import type { Log } from '../log/log.js'
import { ChunkedBlobs } from '../service/cas/chunked-blobs.js'

export interface ChunkedBlobsParts {
  /** A named store that keeps values under keys. */
  ac(name: string): Store
  viewOf(instance: string, store: Store): Store
  readonly clock: Clock
  readonly log: Log
}

const DEFAULT_MAX_CHUNK_COUNT = 50_000

/** The chunked blobs of one instance: those of its CAS if that keeps chunks, else as `experimental_chunking` says. */
export const chunkedBlobs = (
  options: ChunkingOptions | undefined,
  instance: string,
  cas: Store,
  { ac, viewOf, clock, log }: ChunkedBlobsParts,
): ChunkedBlobs | undefined => {
  const maxChunkCount = options?.max_chunk_count ?? DEFAULT_MAX_CHUNK_COUNT
  if (cas.chunks !== undefined)
    return new ChunkedBlobs({ lists: undefined, chunking: cas.chunks.chunking, maxChunkCount, clock, log })
  if (options === undefined) return undefined
  const { index_store } = options
  const lists = index_store === undefined ? undefined : viewOf(instance, ac(index_store))
  return new ChunkedBlobs({ lists, chunking: chunkingOf(options), maxChunkCount, clock, log })
}
