import { UNIT_BYTES } from './record.js'

/**
 * Where a record is, as the signed 32-bit number that the index keeps with its blob: ten bits tell the segment, 22 the unit
 * in it.
 */
const UNIT_BITS = 22

/** Segments that can exist at a time. */
export const SEGMENTS_MAX = 1 << (32 - UNIT_BITS)

/** The longest a segment can be. */
export const SEGMENT_BYTES_MAX = UNIT_BYTES << UNIT_BITS

export const locationOf = (segmentNumber: number, offset: number): number =>
  (extentOf(segmentNumber) << UNIT_BITS) | (offset / UNIT_BYTES)

/** Of the segments there are at a time no two have the same place. */
export const extentOf = (segmentNumber: number): number => segmentNumber % SEGMENTS_MAX

/**
 * The sequence number of a record that is first written here. Numbers grow with the log, because the numbers of segments do,
 * and a start need not look for the latest one. Exact up to 2^31 segments.
 */
export const sequenceAt = (segmentNumber: number, offset: number): number =>
  segmentNumber * 2 ** UNIT_BITS + offset / UNIT_BYTES

export const placeIn = (location: number): number => location >>> UNIT_BITS

export const offsetIn = (location: number): number => (location & ((1 << UNIT_BITS) - 1)) * UNIT_BYTES
