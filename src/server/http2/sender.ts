import type { Account } from '../../ledger/account.js'
import { DEFAULT_FRAME_BYTES, DEFAULT_WINDOW_BYTES, Flag, FrameType } from './frame/frame.js'
import type { Output } from './output.js'

/** Larger frames save nothing more, and one stream would delay the others. */
const MAX_SENT_FRAME_BYTES = 64 * 1024
/** Number of bytes requested from a stream at a time. If a client stalls, each of its streams may hold the minimum. */
const MIN_ASKED_BYTES = 64 * 1024
const MAX_ASKED_BYTES = 256 * 1024
/** While this many bytes wait to be sent, no stream is asked for more. */
const MAX_AHEAD_BYTES = 256 * 1024

interface Chunk {
  readonly bytes: Buffer
  /** Bytes that are already in frames. */
  sentBytes: number
  readonly written: (() => void) | undefined
}

/**
 * The send queue of one stream: chunks that become DATA frames as windows allow, and the end of the stream after them.
 */
export class Outbox {
  readonly streamId: number
  /** The client's window for this stream. A change of settings can make it negative (RFC 9113, 6.9.2). */
  windowBytes: number
  queuedBytes = 0
  /** The queued bytes that the stream's window allows to send. Maintained by the sender. */
  sendableBytes = 0
  /** Requested from the stream but not yet added. */
  promisedBytes = 0
  /** Set while the stream wants to be asked for more bytes. */
  onRoom: ((sizeBytes: number) => void) | undefined
  /** Whether it is in the sender's queue of streams to ask. */
  isInLine = false
  /** Whether it is in the sender's round-robin. */
  isReady = false
  /** How the stream ends: with a header block, or with a flag on its last DATA frame. */
  ending: Buffer | 'data' | undefined
  readonly chunks: Chunk[] = []
  readonly onEnd: () => void

  constructor(streamId: number, windowBytes: number, onEnd: () => void) {
    this.streamId = streamId
    this.windowBytes = windowBytes
    this.onEnd = onEnd
  }

  get canSend(): boolean {
    return this.queuedBytes > 0 ? this.windowBytes > 0 : this.ending !== undefined
  }
}

/**
 * Sends the queued bytes of all streams, one frame each in turn, within the client's windows (RFC 9113, 5.2) and the
 * room in the output.
 */
export class Sender {
  /** The client's window for the whole connection. */
  windowBytes = DEFAULT_WINDOW_BYTES
  maxFrameBytes = DEFAULT_FRAME_BYTES
  queuedBytes = 0
  /** Number of DATA frames sent; shows whether there is progress. */
  frameCount = 0
  /** Number of writes of streams that have left: messages, and parts of larger ones. Many may leave in one frame. */
  writeCount = 0
  /** Bytes that must precede the next header block (RFC 7541, 4.2). */
  nextBlockBegins: Buffer | undefined
  readonly #output: Output
  readonly #roomBytes: number
  /** Accounts for bytes that wait for the client. */
  readonly #held: Account
  #heldBytes = 0
  #isClosed = false
  #ready: Outbox[] = []
  /** Streams that wait to be asked for more and have open windows. */
  readonly #line: Outbox[] = []
  #sendableBytes = 0
  #promisedBytes = 0

  constructor(output: Output, roomBytes: number, held: Account) {
    this.#output = output
    this.#roomBytes = roomBytes
    this.#held = held
  }

  /** Sends HEADERS with an encoded block, and as many CONTINUATION frames as it needs (RFC 9113, 6.2 and 6.10). */
  headers(streamId: number, fields: Buffer, isEnd: boolean): void {
    const block = this.nextBlockBegins === undefined ? fields : Buffer.concat([this.nextBlockBegins, fields])
    this.nextBlockBegins = undefined
    let flags = isEnd ? Flag.END_STREAM : 0
    let type: number = FrameType.HEADERS
    let at = 0
    do {
      const next = Math.min(block.length, at + this.maxFrameBytes)
      if (next === block.length) flags |= Flag.END_HEADERS
      this.#output.head(next - at, type, flags, streamId)
      this.#output.bytes(block, at, next)
      at = next
      type = FrameType.CONTINUATION
      flags = 0
    } while (at < block.length)
  }

  /** Reserves room for `sizeBytes` in addition to the queued bytes. The caller must add them immediately. */
  makeRoom(sizeBytes: number): boolean {
    return this.#hold(this.queuedBytes + this.#output.pendingBytes + sizeBytes)
  }

  /** Updates the account to the queued bytes. False if that exceeds the bound of the process. */
  settle(): boolean {
    return this.#hold(this.queuedBytes + this.#output.pendingBytes)
  }

  /** Releases the account; nothing more is sent. */
  close(): void {
    this.#hold(0)
    this.#isClosed = true
  }

  /** Adds bytes. They must not change until `written` is called: once they have left, or will never leave. */
  add(outbox: Outbox, bytes: Buffer, written?: () => void): void {
    outbox.chunks.push({ bytes, sentBytes: 0, written })
    outbox.queuedBytes += bytes.length
    this.queuedBytes += bytes.length
    this.#promise(outbox, 0)
    this.#recount(outbox)
  }

  /**
   * Calls back, possibly synchronously, with the number of bytes to add next; never after `drop`. While the client
   * reads nothing, no stream is asked, so a stream that sends from a disk holds nothing in memory.
   */
  whenRoom(outbox: Outbox, callback: (sizeBytes: number) => void): void {
    outbox.onRoom = callback
    this.#lineUp(outbox)
    this.#ask()
  }

  /** The client's window for a stream has changed by `byBytes`. */
  widen(outbox: Outbox, byBytes: number): void {
    outbox.windowBytes += byBytes
    this.#recount(outbox)
    if (outbox.onRoom !== undefined) this.#lineUp(outbox)
  }

  /** The stream has ended on our side: it is not asked for more. */
  ended(outbox: Outbox): void {
    outbox.onRoom = undefined
    this.#promise(outbox, 0)
  }

  /** Drops the queued bytes of a stream. */
  drop(outbox: Outbox): void {
    const chunks = outbox.chunks.splice(0)
    this.queuedBytes -= outbox.queuedBytes
    outbox.queuedBytes = 0
    outbox.ending = undefined
    this.ended(outbox)
    this.#recount(outbox)
    // Bytes that are already in the output may be on their way to the kernel.
    for (const { written, sentBytes } of chunks) {
      if (written === undefined) continue
      if (sentBytes > 0) this.#output.whenWritten(written)
      else written()
    }
  }

  /** Adds the stream to the round-robin if it has something to send, and sends as much as possible. */
  pump(outbox?: Outbox): void {
    if (outbox !== undefined && !outbox.isReady && outbox.canSend) {
      outbox.isReady = true
      this.#ready.push(outbox)
    }
    while (this.#ready.length > 0 && this.#output.pendingBytes < this.#roomBytes) {
      const next = this.#ready[0] as Outbox
      if (next.canSend) {
        if (next.queuedBytes > 0 && this.windowBytes <= 0) break
        this.#send(next)
      }
      this.#ready.shift()
      next.isReady = next.canSend
      if (next.isReady) this.#ready.push(next)
    }
    this.#ask()
    this.settle()
  }

  #hold(sizeBytes: number): boolean {
    if (this.#isClosed) return true
    const byBytes = sizeBytes - this.#heldBytes
    if (byBytes > 0 && !this.#held.take(byBytes)) return false
    if (byBytes < 0) this.#held.give(-byBytes)
    this.#heldBytes = sizeBytes
    return true
  }

  #lineUp(outbox: Outbox): void {
    if (outbox.isInLine) return
    outbox.isInLine = true
    this.#line.push(outbox)
  }

  #ask(): void {
    while (this.#line.length > 0 && this.windowBytes > this.#sendableBytes) {
      if (this.#output.pendingBytes + this.#sendableBytes + this.#promisedBytes >= MAX_AHEAD_BYTES) return
      const outbox = this.#line.shift() as Outbox
      outbox.isInLine = false
      const { onRoom } = outbox
      const roomBytes = outbox.windowBytes - outbox.queuedBytes
      // A stream without room is queued again when its window is widened.
      if (onRoom === undefined || roomBytes <= 0) continue
      outbox.onRoom = undefined
      const askedBytes = Math.max(MIN_ASKED_BYTES, Math.min(MAX_ASKED_BYTES, roomBytes))
      this.#promise(outbox, askedBytes)
      onRoom(askedBytes)
    }
  }

  #promise(outbox: Outbox, sizeBytes: number): void {
    this.#promisedBytes += sizeBytes - outbox.promisedBytes
    outbox.promisedBytes = sizeBytes
  }

  #recount(outbox: Outbox): void {
    const sendableBytes = Math.max(0, Math.min(outbox.queuedBytes, outbox.windowBytes))
    this.#sendableBytes += sendableBytes - outbox.sendableBytes
    outbox.sendableBytes = sendableBytes
  }

  /** Sends one DATA frame, with the end of the stream if it is the last. */
  #send(outbox: Outbox): void {
    if (outbox.queuedBytes > 0) {
      const frameBytes = Math.min(this.maxFrameBytes, MAX_SENT_FRAME_BYTES)
      const length = Math.min(outbox.queuedBytes, outbox.windowBytes, this.windowBytes, frameBytes)
      const isEnd = outbox.ending === 'data' && length === outbox.queuedBytes
      this.#output.head(length, FrameType.DATA, isEnd ? Flag.END_STREAM : 0, outbox.streamId)
      this.#payload(outbox, length)
      this.frameCount += 1
      if (outbox.queuedBytes > 0 || outbox.ending === undefined) return
      if (!isEnd) this.headers(outbox.streamId, outbox.ending as Buffer, true)
    } else if (outbox.ending === 'data') this.#output.head(0, FrameType.DATA, Flag.END_STREAM, outbox.streamId)
    else this.headers(outbox.streamId, outbox.ending as Buffer, true)
    outbox.ending = undefined
    outbox.onEnd()
  }

  #payload(outbox: Outbox, length: number): void {
    outbox.windowBytes -= length
    outbox.queuedBytes -= length
    this.windowBytes -= length
    this.queuedBytes -= length
    this.#recount(outbox)
    for (let left = length; left > 0; ) {
      const chunk = outbox.chunks[0] as Chunk
      const taken = Math.min(left, chunk.bytes.length - chunk.sentBytes)
      this.#output.bytes(chunk.bytes, chunk.sentBytes, chunk.sentBytes + taken)
      chunk.sentBytes += taken
      left -= taken
      if (chunk.sentBytes < chunk.bytes.length) return
      outbox.chunks.shift()
      this.writeCount += 1
      if (chunk.written !== undefined) this.#output.whenWritten(chunk.written)
    }
  }
}
