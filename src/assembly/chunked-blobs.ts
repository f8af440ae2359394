import type { Clock } from '../base/clock.js'
import type { Chunking as ChunkingOptions } from '../config/config.js'
import type { Log } from '../log/log.js'
import type { Chunking } from '../reapi/chunking.js'
import { chunkSizesOf, FastCdc } from '../reapi/fast-cdc.js'
import { RepMaxCdc } from '../reapi/rep-max-cdc.js'
import { ChunkedBlobs } from '../service/cas/chunked-blobs.js'
import type { Store } from '../store/contract/store.js'

export interface ChunkedBlobsParts {
  /** A named store that keeps values under keys. */
  ac(name: string): Store
  viewOf(instance: string, store: Store): Store
  readonly clock: Clock
  readonly log: Log
}

/** The chunked blobs of one instance, as its `experimental_chunking` says. */
export const chunkedBlobs = (
  { index_store, max_chunk_count: maxChunkCount, ...options }: ChunkingOptions,
  instance: string,
  { ac, viewOf, clock, log }: ChunkedBlobsParts,
): ChunkedBlobs =>
  new ChunkedBlobs({
    lists: index_store === undefined ? undefined : viewOf(instance, ac(index_store)),
    chunking: chunkingOf(options),
    maxChunkCount,
    clock,
    log,
  })

/** REAPI's recommendation. */
const HORIZON_FACTOR = 8

const chunkingOf = ({
  chunking_function,
  avg_chunk_size_bytes,
  min_chunk_size_bytes: minBytes,
  horizon_size_bytes: horizonBytes = HORIZON_FACTOR * minBytes,
}: Omit<ChunkingOptions, 'max_chunk_count'>): Chunking =>
  chunking_function === 'rep_max_cdc'
    ? new RepMaxCdc({ minBytes, horizonBytes })
    : new FastCdc(chunkSizesOf(avg_chunk_size_bytes))
