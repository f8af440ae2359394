import { locationOf, sequenceAt } from './location.js'
import { type Content, contentOf, HEAD_BYTES_MAX, recordBytes, sizeOf, UNIT_BYTES } from './record.js'
import { CONTENT_BYTES_MAX } from './record-log.js'
import type { Segment } from './segment.js'

/** Holds at least two of the longest records. */
const BUFFER_BYTES = 2 * CONTENT_BYTES_MAX + 2 * HEAD_BYTES_MAX

export interface WalkedRecord extends Content {
  readonly location: number
  /** Bytes in the segment. */
  readonly length: number
  /** Whether it was first written elsewhere. */
  readonly isCopy: boolean
}

/**
 * Reads the records of a segment in order, from `offset` on. A damaged record is skipped, or its bytes are reported as
 * not whole. Later records are found again, because records begin at whole units with the stamp of the segment. `visit`
 * receives the records of one read at a time; their bytes are valid until it settles. Returns the end of the last
 * record.
 */
export const walkRecords = async (
  segment: Segment,
  offset: number,
  visit: (records: readonly WalkedRecord[]) => void | Promise<void>,
): Promise<number> => {
  const buffer = Buffer.allocUnsafeSlow(Math.min(BUFFER_BYTES, Math.max(UNIT_BYTES, segment.endBytes - offset)))
  const { endBytes } = segment
  const begin = Math.max(offset, segment.firstOffset)
  let lastEnd = begin
  for (let from = begin; from < endBytes; ) {
    const length = await segment.read(buffer.subarray(0, Math.min(buffer.length, endBytes - from)), from)
    const view = buffer.subarray(0, length)
    const isLast = from + length >= endBytes
    const found: WalkedRecord[] = []
    let at = 0
    while (at < length) {
      const content = contentOf(view, at, segment)
      const recordLength = content === undefined ? HEAD_BYTES_MAX : recordBytes(sizeOf(content.head), segment.format)
      const isCut = at + recordLength > length
      // The next read has the rest of it.
      if (isCut && !isLast) break
      if (content === undefined || isCut) {
        at += UNIT_BYTES
        continue
      }
      const own = sequenceAt(segment.number, from + at)
      const head = segment.format === 1 ? { ...content.head, sequence: own } : content.head
      const location = locationOf(segment.number, from + at)
      found.push({ ...content, head, location, length: recordLength, isCopy: head.sequence !== own })
      at += recordLength
      lastEnd = from + at
    }
    await visit(found)
    if (length === 0) break
    from += at
  }
  return lastEnd
}
