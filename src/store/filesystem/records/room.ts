import { SEGMENT_BYTES_MAX } from './location.js'
import { recordBytes } from './record.js'

/** How much of the log may be records that nobody needs any more. */
export const DEAD_SHARE_MAX = 1 / 4

/** What a small blob takes of the limit of the store: its record, and the share of dead ones that goes with it. */
export const inlineCharge = (storedBytes: number, hashBytes: number): number =>
  Math.ceil(recordBytes({ kind: 'bytes', hashBytes, storedBytes }) / (1 - DEAD_SHARE_MAX))

const SEGMENTS_WANTED = 64
const SEGMENT_BYTES_MIN = 1024 * 1024

/** Small stores have small segments, so that what is dead in the one being written is a small part. */
export const segmentBytesFor = (maxBytes: number): number =>
  maxBytes === 0
    ? SEGMENT_BYTES_MAX
    : Math.min(SEGMENT_BYTES_MAX, Math.max(SEGMENT_BYTES_MIN, maxBytes / SEGMENTS_WANTED))
