import { SEGMENT_BYTES_MAX } from './location.js'
import { recordBytes } from './record.js'

/** Maximum share of the log for records that are no longer needed. */
export const DEAD_SHARE_MAX = 1 / 4

/** What a small blob counts towards the limit: its record, plus a share of dead records. */
export const inlineCharge = (storedBytes: number, hashBytes: number): number =>
  Math.ceil(recordBytes({ kind: 'bytes', hashBytes, storedBytes }) / (1 - DEAD_SHARE_MAX))

/** Maximum share of the files of packed blobs for blobs that are gone. */
export const PACK_DEAD_SHARE_MAX = 1 / 8

/** What a packed blob counts towards the limit: its bytes and its record, plus a share of dead ones. */
export const packedCharge = (storedBytes: number, hashBytes: number): number => {
  const recorded = recordBytes({ kind: 'packed', hashBytes, storedBytes }) / (1 - DEAD_SHARE_MAX)
  return Math.ceil(storedBytes / (1 - PACK_DEAD_SHARE_MAX) + recorded)
}

const SEGMENTS_WANTED = 64
const SEGMENT_BYTES_MIN = 1024 * 1024

/** Small stores have small segments, so that dead records in the active segment are a small share. */
export const segmentBytesFor = (maxBytes: number): number =>
  maxBytes === 0
    ? SEGMENT_BYTES_MAX
    : Math.min(SEGMENT_BYTES_MAX, Math.max(SEGMENT_BYTES_MIN, maxBytes / SEGMENTS_WANTED))
