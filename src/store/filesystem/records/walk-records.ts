import { locationOf, sequenceAt } from './location.js'
import { type Content, contentOf, HEAD_BYTES_MAX, recordBytes, sizeOf, UNIT_BYTES } from './record.js'
import { CONTENT_BYTES_MAX } from './record-log.js'
import type { Segment } from './segment.js'

/** At least two of the longest records. */
const BUFFER_BYTES = 2 * CONTENT_BYTES_MAX + 2 * HEAD_BYTES_MAX

export interface WalkedRecord extends Content {
  readonly location: number
  /** What it takes of the segment. */
  readonly length: number
  /** It was first written elsewhere. */
  readonly isCopy: boolean
}

/**
 * Reads the records of a segment in their order from `offset` on. Damaged ones are left out, or come with bytes that are not
 * whole; what is behind them is found again, because records begin at whole units and carry the segment's stamp. `visit` gets
 * as many at a time as were read at a time; their bytes count until it settles. Answers the end of the last record.
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
      // The rest of it comes with the next read.
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
