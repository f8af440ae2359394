import type { Chunking } from '../reapi/chunking.js'
import { chunkSizesOf, FastCdc } from '../reapi/fast-cdc.js'
import { RepMaxCdc } from '../reapi/rep-max-cdc.js'

/** The keys of a configuration that describe one of REAPI's chunking functions. */
export interface ChunkingKeys {
  readonly chunking_function: 'fast_cdc_2020' | 'rep_max_cdc'
  readonly avg_chunk_size_bytes: number
  readonly min_chunk_size_bytes: number
  readonly horizon_size_bytes?: number
}

/** REAPI's recommendation. */
const HORIZON_FACTOR = 8

/** Throws INVALID_ARGUMENT for sizes that cannot be. */
export const chunkingOf = ({
  chunking_function,
  avg_chunk_size_bytes,
  min_chunk_size_bytes: minBytes,
  horizon_size_bytes: horizonBytes = HORIZON_FACTOR * minBytes,
}: ChunkingKeys): Chunking =>
  chunking_function === 'rep_max_cdc'
    ? new RepMaxCdc({ minBytes, horizonBytes })
    : new FastCdc(chunkSizesOf(avg_chunk_size_bytes))
