import { StatusError } from '../../base/status-error.js'
import type { Budget } from './budget.js'
import { tooLarge, unpacked } from './encoding.js'

/** A message's own head: a flag for compression, four bytes of length (gRPC over HTTP2, Length-Prefixed-Message). */
export const PREFIX_BYTES = 5

/** What a message may take before the process as a whole has to have room for it. */
const FREE_BYTES = 64 * 1024

const NOTHING = Buffer.alloc(0)

/** Where messages go, one for each `read`. */
export interface MessageSink {
  message(bytes: Buffer): void
  /** The client sent its last message; told when another is asked for. */
  halfClosed(): void
  failed(error: StatusError): void
  /** So many bytes are no longer held as they came. */
  consumed(sizeBytes: number): void
}

export interface MessageLimits {
  readonly maxMessageBytes: number
  readonly budget: Budget
}

/**
 * Finds the messages in the body of a request. Until one is asked for, what comes is held back and counts against the
 * client's window. A message is put together as its bytes come, whatever length it announced.
 */
export class Messages {
  readonly #sink: MessageSink
  readonly #limits: MessageLimits
  readonly #encoding: string | undefined
  #isWanted = false
  #isBusy = false
  #isEnded = false
  #isOver = false
  #held: Buffer[] = []
  readonly #prefix = Buffer.allocUnsafe(PREFIX_BYTES)
  #prefixBytes = 0
  /** Of the message under way. */
  #length = 0
  #bytes: Buffer = NOTHING
  #filledBytes = 0
  #takenBytes = 0

  constructor(sink: MessageSink, encoding: string | undefined, limits: MessageLimits) {
    this.#sink = sink
    this.#encoding = encoding
    this.#limits = limits
  }

  /** Asks for one more message. */
  read(): void {
    this.#isWanted = true
    this.#release()
    if (!this.#isBusy) this.#goOn()
  }

  /** Takes bytes of the body, which may be overwritten after the call. */
  data(bytes: Buffer): void {
    if (this.#isOver) {
      this.#sink.consumed(bytes.length)
      return
    }
    this.#isBusy = true
    let at = 0
    if (this.#held.length === 0) while (this.#isWanted && at < bytes.length) at = this.#take(bytes, at, false)
    this.#isBusy = false
    if (this.#isOver) at = bytes.length
    else if (at < bytes.length) this.#held.push(Buffer.from(bytes.subarray(at)))
    if (at > 0) this.#sink.consumed(at)
  }

  end(): void {
    this.#isEnded = true
    if (!this.#isBusy) this.#goOn()
  }

  /** Takes nothing more: what is held is given back, and what still comes goes nowhere. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isWanted = false
    const held = this.#held
    this.#held = []
    this.#bytes = NOTHING
    this.#release()
    for (const { length } of held) this.#sink.consumed(length)
  }

  #goOn(): void {
    this.#isBusy = true
    while (this.#isWanted && this.#held.length > 0) {
      const chunk = this.#held[0] as Buffer
      const at = this.#take(chunk, 0, true)
      // Closed meanwhile, it has given back the whole of what was held.
      if (this.#isOver) break
      if (at === chunk.length) this.#held.shift()
      else this.#held[0] = chunk.subarray(at)
      this.#sink.consumed(at)
    }
    this.#isBusy = false
    if (!this.#isWanted || !this.#isEnded) return
    this.#isWanted = false
    if (this.#prefixBytes > 0) this.#fail(new StatusError('INTERNAL', 'the request ended within a message'))
    else this.#sink.halfClosed()
  }

  /** Takes what belongs to the next message from `at` on; answers where the rest begins. `isOwn` bytes stay as they are. */
  #take(bytes: Buffer, at: number, isOwn: boolean): number {
    const next = this.#prefixBytes < PREFIX_BYTES ? this.#takePrefix(bytes, at) : at
    if (this.#isOver || this.#prefixBytes < PREFIX_BYTES) return next
    const wanted = Math.min(this.#length - this.#filledBytes, bytes.length - next)
    if (wanted === this.#length && isOwn) this.#bytes = bytes.subarray(next, next + wanted)
    else if (this.#makeRoom(this.#filledBytes + wanted)) bytes.copy(this.#bytes, this.#filledBytes, next, next + wanted)
    else return next
    this.#filledBytes += wanted
    if (this.#filledBytes === this.#length) this.#complete()
    return next + wanted
  }

  #takePrefix(bytes: Buffer, at: number): number {
    const copied = bytes.copy(this.#prefix, this.#prefixBytes, at, at + PREFIX_BYTES - this.#prefixBytes)
    this.#prefixBytes += copied
    if (this.#prefixBytes < PREFIX_BYTES) return at + copied
    this.#length = this.#prefix.readUInt32BE(1)
    if (this.#length > this.#limits.maxMessageBytes) this.#fail(tooLarge(this.#length, this.#limits.maxMessageBytes))
    return at + copied
  }

  /** Room for so many bytes of the message; not for all that were announced, which may never come. */
  #makeRoom(sizeBytes: number): boolean {
    if (this.#bytes.length >= sizeBytes) return true
    const roomBytes = Math.min(this.#length, Math.max(sizeBytes, 2 * this.#bytes.length, FREE_BYTES))
    const beyondBytes = Math.max(0, roomBytes - FREE_BYTES) - this.#takenBytes
    if (beyondBytes > 0) {
      if (!this.#limits.budget.take(beyondBytes)) {
        this.#fail(
          new StatusError('RESOURCE_EXHAUSTED', 'the server holds as many requests as it can: try again later'),
        )
        return false
      }
      this.#takenBytes += beyondBytes
    }
    const bytes = Buffer.allocUnsafe(roomBytes)
    this.#bytes.copy(bytes, 0, 0, this.#filledBytes)
    this.#bytes = bytes
    return true
  }

  #complete(): void {
    const message = this.#bytes
    const isCompressed = this.#prefix[0] !== 0
    this.#bytes = NOTHING
    this.#prefixBytes = 0
    this.#filledBytes = 0
    this.#isWanted = false
    if (!isCompressed) {
      this.#sink.message(message)
      return
    }
    unpacked(message, this.#encoding, this.#limits.maxMessageBytes).then(
      (bytes) => this.#isOver || this.#sink.message(bytes),
      (error: unknown) => this.#isOver || this.#fail(StatusError.from(error)),
    )
  }

  #fail(error: StatusError): void {
    this.close()
    this.#sink.failed(error)
  }

  #release(): void {
    this.#limits.budget.release(this.#takenBytes)
    this.#takenBytes = 0
  }
}
