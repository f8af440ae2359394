import { ConnectionError, Flag, FrameType } from './frame.js'

/** A complete header block, with the fields of its HEADERS frame. */
export interface HeaderBlock {
  readonly streamId: number
  readonly isEndOfStream: boolean
  /** The stream dependency, if the frame has one. Only checked; priorities are otherwise ignored. */
  readonly dependsOn: number | undefined
  /** Valid as long as the payload of the last frame. */
  readonly fragment: Buffer
}

const PRIORITY_BYTES = 5
/** More frames than any block within the size limit needs. */
const MAX_FRAMES = 16

/** Joins HEADERS with its CONTINUATION frames (RFC 9113, 4.3, 6.2 and 6.10). */
export class HeaderBlocks {
  readonly #maxBytes: number
  #open: HeaderBlock | undefined
  #fragments: Buffer[] = []
  #sizeBytes = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** While true, only CONTINUATION frames are allowed. */
  get isOpen(): boolean {
    return this.#open !== undefined
  }

  /** Takes a HEADERS frame, or any frame while a block is open. Returns the block once it is complete. */
  add(type: number, flags: number, streamId: number, payload: Buffer): HeaderBlock | undefined {
    if (this.#open !== undefined) return this.#continue(this.#open, type, flags, streamId, payload)
    if (streamId === 0) throw new ConnectionError('PROTOCOL_ERROR', 'HEADERS on stream 0')
    const block = headersFrame(flags, streamId, payload)
    if ((flags & Flag.END_HEADERS) !== 0) return block
    this.#open = block
    this.#keep(block.fragment)
    return undefined
  }

  #continue(
    open: HeaderBlock,
    type: number,
    flags: number,
    streamId: number,
    payload: Buffer,
  ): HeaderBlock | undefined {
    if (type !== FrameType.CONTINUATION || streamId !== open.streamId) {
      throw new ConnectionError('PROTOCOL_ERROR', 'another frame came within a header block')
    }
    this.#keep(payload)
    if ((flags & Flag.END_HEADERS) === 0) return undefined
    const fragment = Buffer.concat(this.#fragments)
    this.#open = undefined
    this.#fragments = []
    this.#sizeBytes = 0
    return { ...open, fragment }
  }

  #keep(fragment: Buffer): void {
    this.#sizeBytes += fragment.length
    if (this.#sizeBytes > this.#maxBytes || this.#fragments.length >= MAX_FRAMES) {
      throw new ConnectionError('ENHANCE_YOUR_CALM', `a header block of more than ${this.#maxBytes} bytes`)
    }
    this.#fragments.push(Buffer.from(fragment))
  }
}

const headersFrame = (flags: number, streamId: number, payload: Buffer): HeaderBlock => {
  let start = 0
  let end = payload.length
  if ((flags & Flag.PADDED) !== 0) {
    const padding = payload[0]
    if (padding === undefined) throw new ConnectionError('FRAME_SIZE_ERROR', 'HEADERS without a length of padding')
    start = 1
    end -= padding
  }
  let dependsOn: number | undefined
  if ((flags & Flag.PRIORITY) !== 0) {
    if (payload.length - start < PRIORITY_BYTES) {
      throw new ConnectionError('FRAME_SIZE_ERROR', 'HEADERS ends within its priority')
    }
    dependsOn = payload.readUInt32BE(start) & 0x7fffffff
    start += PRIORITY_BYTES
  }
  if (end < start) throw new ConnectionError('PROTOCOL_ERROR', 'HEADERS has more padding than payload')
  const isEndOfStream = (flags & Flag.END_STREAM) !== 0
  return { streamId, isEndOfStream, dependsOn, fragment: payload.subarray(start, end) }
}
