import { isStatus } from '../../../base/status-error.js'
import type { Store } from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import type { Range } from '../../../stream/path.js'
import {
  checkCrc,
  corrupt,
  decodeEnd,
  decodeHeader,
  decodeRecordHead,
  END_BYTES,
  HEADER_BYTES,
  type Header,
  MAX_INDEX_BYTES,
  RECORD_BYTES,
} from './container.js'

// The payload of an index record: a copy of the header, then for each point its position in the blob and the position
// of its record (u64 each).

/** A record at which decoding can start. */
export interface SeekPoint {
  readonly position: number
  readonly storedAt: number
}

const POINT_BYTES = 16
const MAX_POINTS = 2048
const FIRST_STRIDE_BYTES = 256 * 1024

/** For ranges before this position, reading from the start is cheaper than reading the index. */
export const INDEX_FROM_BYTES = 1024 * 1024

/** Collects points while a blob is written: at most 2048, at growing distances. */
export class SeekIndex {
  #points: SeekPoint[] = []
  #strideBytes = FIRST_STRIDE_BYTES

  add(point: SeekPoint): void {
    const last = this.#points.at(-1)
    if (last !== undefined && point.position < last.position + this.#strideBytes) return
    this.#points.push(point)
    if (this.#points.length < MAX_POINTS) return
    this.#points = this.#points.filter((_, index) => index % 2 === 0)
    this.#strideBytes *= 2
  }

  encode(header: Buffer): Buffer {
    const payload = Buffer.alloc(HEADER_BYTES + this.#points.length * POINT_BYTES)
    header.copy(payload)
    let at = HEADER_BYTES
    for (const { position, storedAt } of this.#points) {
      payload.writeBigUInt64LE(BigInt(position), at)
      payload.writeBigUInt64LE(BigInt(storedAt), at + 8)
      at += POINT_BYTES
    }
    return payload
  }
}

/** Where decoding starts for a range, and where it can stop. */
export interface Start extends SeekPoint {
  readonly header: Header
  /** Position after the last stored byte that the range needs. */
  readonly storedEnd: number
}

/**
 * Looks up a range in the index of a blob. Undefined when the blob has no usable index; then the blob is read from the
 * start, which shows whether it is damaged.
 */
export const findStart = async (
  backend: Store,
  digest: Digest,
  range: Range,
  call: Call,
): Promise<Start | undefined> => {
  const blob = await backend.get(digest, { offset: -TAIL_BYTES, limit: TAIL_BYTES }, call)
  const tailAt = blob.offset
  try {
    return search(await blob.bytes(TAIL_BYTES, call), tailAt, range)
  } catch (error) {
    // The end or the index is damaged.
    if (isStatus(error, 'DATA_LOSS')) return undefined
    throw error
  }
}

/** The length of a blob, from the end of its stored form. A missing end is reported as damage. */
export const decodedLength = async (backend: Store, digest: Digest, call: Call): Promise<number> => {
  const blob = await backend.get(digest, { offset: -END_BYTES, limit: END_BYTES }, call)
  const end = await blob.bytes(END_BYTES, call)
  if (end.length < END_BYTES) throw corrupt('it ends without its end record')
  return decodeEnd(checked(end, 0, 'end')).sizeBytes
}

const TAIL_BYTES = RECORD_BYTES + HEADER_BYTES + MAX_POINTS * POINT_BYTES + END_BYTES

const search = (tail: Buffer, tailAt: number, { offset, limit }: Range): Start | undefined => {
  const endAt = tail.length - END_BYTES
  if (endAt < RECORD_BYTES) return undefined
  const { indexAt } = decodeEnd(checked(tail, endAt, 'end'))
  if (indexAt < tailAt || indexAt === 0 || indexAt - tailAt > endAt - RECORD_BYTES) return undefined
  const payload = checked(tail, indexAt - tailAt, 'index')
  const header = decodeHeader(payload.subarray(0, HEADER_BYTES))
  let first = 0
  let last = (payload.length - HEADER_BYTES) / POINT_BYTES
  const point = (index: number): SeekPoint => {
    const at = HEADER_BYTES + index * POINT_BYTES
    return { position: Number(payload.readBigUInt64LE(at)), storedAt: Number(payload.readBigUInt64LE(at + 8)) }
  }
  const count = last
  if (count < 1) return undefined
  // Find the last point that is not after the offset.
  while (last - first > 1) {
    const middle = (first + last) >> 1
    if (point(middle).position <= offset) first = middle
    else last = middle
  }
  let next = first + 1
  while (next < count && point(next).position < offset + limit) next++
  return { ...point(first), header, storedEnd: next < count ? point(next).storedAt : tailAt + tail.length }
}

// The header fields do not matter for index and end records, whose layout is always the same.
const ANY: Header = { algorithm: 'zstd', blockBytes: MAX_INDEX_BYTES }

const checked = (tail: Buffer, at: number, kind: 'index' | 'end'): Buffer => {
  const head = decodeRecordHead(tail.subarray(at, at + RECORD_BYTES), ANY)
  const payload = tail.subarray(at + RECORD_BYTES, at + RECORD_BYTES + head.payloadBytes)
  if (head.kind !== kind || payload.length !== head.payloadBytes) throw corrupt(`its ${kind} record is not one`)
  checkCrc(head, payload)
  return payload
}
