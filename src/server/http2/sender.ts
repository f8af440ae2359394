import type { Account } from '../../ledger/account.js'
import { DEFAULT_FRAME_BYTES, DEFAULT_WINDOW_BYTES, Flag, FrameType } from './frame/frame.js'
import type { Output } from './output.js'

/** Larger frames save nothing more, and would let one stream keep the others waiting. */
const MAX_SENT_FRAME_BYTES = 64 * 1024
/** What a stream is asked for at a time. A client that stalls may leave the least of it behind, in each of its streams. */
const MIN_ASKED_BYTES = 64 * 1024
const MAX_ASKED_BYTES = 256 * 1024
/** No stream is asked for more while as much waits to leave. */
const MAX_AHEAD_BYTES = 256 * 1024

interface Chunk {
  readonly bytes: Buffer
  /** How much of it has gone into frames. */
  sentBytes: number
  readonly written: (() => void) | undefined
}

/** What one stream has to send: chunks that become DATA frames as windows allow, and how the stream ends after them. */
export class Outbox {
  readonly streamId: number
  /** How much the client takes on this stream: a change of settings can make it negative (RFC 9113, 6.9.2). */
  windowBytes: number
  queuedBytes = 0
  /** Of the bytes queued: those that the window of the stream lets go. The sender keeps it up to date. */
  sendableBytes = 0
  /** Asked for and not there yet. */
  promisedBytes = 0
  /** Wants to be asked for more. */
  onRoom: ((sizeBytes: number) => void) | undefined
  /** Whether the sender has it among those to be asked. */
  isInLine = false
  /** Whether the sender has it in its round. */
  isReady = false
  /** The header block that ends the stream, or nothing but the flag on its last frame. */
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
 * Sends what the streams of a connection have, a frame of each in turn, as far as the windows of the client (RFC 9113, 5.2)
 * and the room in the output go.
 */
export class Sender {
  /** How much the client takes on the whole connection. */
  windowBytes = DEFAULT_WINDOW_BYTES
  maxFrameBytes = DEFAULT_FRAME_BYTES
  queuedBytes = 0
  /** DATA frames sent, for whoever wants to know whether anything moves. */
  frameCount = 0
  /** What has to stand in front of the next header block (RFC 7541, 4.2). */
  nextBlockBegins: Buffer | undefined
  readonly #output: Output
  readonly #roomBytes: number
  /** What waits for the client, in the ledger. */
  readonly #held: Account
  #heldBytes = 0
  #isClosed = false
  #ready: Outbox[] = []
  /** Those to be asked for more, whose windows are open. */
  readonly #line: Outbox[] = []
  #sendableBytes = 0
  #promisedBytes = 0

  constructor(output: Output, roomBytes: number, held: Account) {
    this.#output = output
    this.#roomBytes = roomBytes
    this.#held = held
  }

  /** HEADERS with a ready-made block, and as many CONTINUATION frames as it needs (RFC 9113, 6.2 and 6.10). */
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

  /** Whether so many bytes may wait here beside those that do: they are to be added at once. */
  makeRoom(sizeBytes: number): boolean {
    return this.#hold(this.queuedBytes + this.#output.pendingBytes + sizeBytes)
  }

  /** Counts what waits now. False when that is more than the process may hold. */
  settle(): boolean {
    return this.#hold(this.queuedBytes + this.#output.pendingBytes)
  }

  /** Nothing waits any more, and nothing is to be sent. */
  close(): void {
    this.#hold(0)
    this.#isClosed = true
  }

  /** Adds bytes, which stay as they are until `written` is called: once they have left, or never will. */
  add(outbox: Outbox, bytes: Buffer, written?: () => void): void {
    outbox.chunks.push({ bytes, sentBytes: 0, written })
    outbox.queuedBytes += bytes.length
    this.queuedBytes += bytes.length
    this.#promise(outbox, 0)
    this.#recount(outbox)
  }

  /**
   * Calls back, perhaps at once, with how many bytes the stream had better have next; never once it is dropped. While the
   * client takes nothing nobody is asked, so that who sends what lies on a disk need hold none of it.
   */
  whenRoom(outbox: Outbox, callback: (sizeBytes: number) => void): void {
    outbox.onRoom = callback
    this.#lineUp(outbox)
    this.#ask()
  }

  /** The client takes so many bytes more, or less, on a stream. */
  widen(outbox: Outbox, byBytes: number): void {
    outbox.windowBytes += byBytes
    this.#recount(outbox)
    if (outbox.onRoom !== undefined) this.#lineUp(outbox)
  }

  /** The stream has ended on our side: it is asked for nothing more. */
  ended(outbox: Outbox): void {
    outbox.onRoom = undefined
    this.#promise(outbox, 0)
  }

  /** Forgets what a stream had to send. */
  drop(outbox: Outbox): void {
    const chunks = outbox.chunks.splice(0)
    this.queuedBytes -= outbox.queuedBytes
    outbox.queuedBytes = 0
    outbox.ending = undefined
    this.ended(outbox)
    this.#recount(outbox)
    // What is in the output already may be on its way to the kernel.
    for (const { written, sentBytes } of chunks) {
      if (written === undefined) continue
      if (sentBytes > 0) this.#output.whenWritten(written)
      else written()
    }
  }

  /** Takes a stream into the round if it has something to send now, and sends what can be sent. */
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
      // What has no room now comes back when its window is widened.
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

  /** One DATA frame, and the end of the stream where that is all. */
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
      if (chunk.written !== undefined) this.#output.whenWritten(chunk.written)
    }
  }
}
