import type { CacheCapabilitiesInput, ChunkingFunction } from '../proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from './digest.js'

/** A way to cut blobs into content-defined chunks. */
export interface Chunking {
  /** The name that REAPI has for it; `UNKNOWN` for other sizes than its own. */
  readonly function: (typeof ChunkingFunction)[keyof typeof ChunkingFunction]
  /** What clients need to know to cut alike; undefined if REAPI has no words for these sizes. */
  readonly announced: Pick<CacheCapabilitiesInput, 'fastCdc2020Params' | 'repMaxCdcParams'> | undefined
  /** The largest chunk. */
  readonly maxBytes: number
  /** How many bytes from the start of a chunk have to be there to find its end, unless the blob ends before. */
  readonly windowBytes: number
  /** Begins to cut one blob. */
  cutter(): Cutter
}

/** Cuts one blob. */
export interface Cutter {
  /**
   * Returns the end of the chunk that starts at `from`: the position after its last byte, where the next chunk has to
   * start. `to` is the end of the blob if `isWhole`. Else MORE says that the end is not known yet: call again with the
   * same chunk, wherever it lies by then, and with more of its bytes. From `windowBytes` on the end is known.
   */
  cut(bytes: Buffer, from: number, to: number, isWhole: boolean): number
}

export const MORE = -1

/** The chunks of a blob, in order. */
export interface ChunkList {
  readonly chunks: readonly Digest[]
  /** REAPI ChunkingFunction that cut the blob; 0 if unknown. */
  readonly chunkingFunction: number
}
