import { UNIT_BYTES } from './record.js'

/**
 * The location of a record as the signed 32-bit number that the index keeps: ten bits for the segment, 22 for the unit
 * in it.
 */
const UNIT_BITS = 22
const SEGMENT_UNITS = 1 << UNIT_BITS

/** Segments that can exist at the same time. */
export const SEGMENTS_MAX = 1 << (32 - UNIT_BITS)

/** Maximum length of a segment. */
export const SEGMENT_BYTES_MAX = UNIT_BYTES << UNIT_BITS

export const locationOf = (segmentNumber: number, offset: number): number =>
  (extentOf(segmentNumber) << UNIT_BITS) | (offset / UNIT_BYTES)

/** The table index of a segment. Segments that exist at the same time have different ones. */
export const extentOf = (segmentNumber: number): number => segmentNumber % SEGMENTS_MAX

/**
 * The sequence number of a record first written here. Sequence numbers grow with the log because segment numbers do, so
 * a start need not search for the latest one. Exact up to 2^31 segments.
 */
export const sequenceAt = (segmentNumber: number, offset: number): number =>
  segmentNumber * SEGMENT_UNITS + offset / UNIT_BYTES

export const placeIn = (location: number): number => location >>> UNIT_BITS

export const offsetIn = (location: number): number => (location & ((1 << UNIT_BITS) - 1)) * UNIT_BYTES
