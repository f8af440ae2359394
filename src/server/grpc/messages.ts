import { LARGE_BYTES, lendBuffer } from '../../base/lent-buffers.js'
import { StatusError } from '../../base/status-error.js'
import type { Kind } from '../../ledger/kind.js'
import type { Reservation } from '../../ledger/reservation.js'
import type { Held } from '../held.js'
import { MAX_RATIO, tooLarge, unpacked } from './encoding.js'

/** A message's own head: a flag for compression, four bytes of length (gRPC over HTTP2, Length-Prefixed-Message). */
export const PREFIX_BYTES = 5

/** Room that a message begins with, where it is to be that long. */
const FIRST_ROOM_BYTES = 128 * 1024
/** Messages that are put together before they are asked for; bytes behind them stay as they came. */
const MAX_READY = 4

/** Messages from here on are worth lending: smaller ones share memory as Node hands it out. */
const MIN_LENT_BYTES = 4 * 1024

const NOTHING = Buffer.alloc(0)
const nothingLent = (): void => {}

/** Where messages go, one for each `read`. */
export interface MessageSink {
  message(bytes: Buffer, cameCompressed: boolean, release: () => void): void
  /** The client sent its last message; told when another is asked for. */
  halfClosed(): void
  failed(error: StatusError): void
  /** So many bytes are no longer held as they came. */
  consumed(sizeBytes: number): void
}

export interface MessageLimits {
  readonly maxMessageBytes: number
  /** What the connection holds. */
  readonly held: Held
  /** Counts messages that came compressed. */
  readonly unpackedKind: Kind
  /** How long a message may stay incomplete while the handler waits for it. */
  readonly requestMs: number
}

interface Ready {
  readonly bytes: Buffer
  readonly release: () => void
  readonly isCompressed: boolean
  /** What it took of the client's window. */
  readonly owedBytes: number
  /** What it takes of memory. */
  readonly takenBytes: number
}

/**
 * Finds the messages in the body of a request. A message is put together as its bytes come, whatever length it announced;
 * until it is asked for, they count against the client's window.
 */
export class Messages {
  readonly #sink: MessageSink
  readonly #limits: MessageLimits
  readonly #encoding: string | undefined
  /** Whether the memory of messages is used again when they are released. */
  lends = false
  #isWanted = false
  #isBusy = false
  #isEnded = false
  #isOver = false
  #ready: Ready[] = []
  /** What came behind the messages that are ready. */
  #held: Buffer[] = []
  readonly #prefix = Buffer.allocUnsafe(PREFIX_BYTES)
  #prefixBytes = 0
  /** Of the message under way. */
  #length = 0
  #bytes: Buffer = NOTHING
  #releaseBytes = nothingLent
  #filledBytes = 0
  #takenBytes = 0
  #owedBytes = 0
  /** Of the message that the handler got last, and holds until it asks for the next or has answered. */
  #passedBytes = 0
  #unpacked: Reservation | undefined
  /** Ends the wait for room to unpack. */
  #closed: AbortController | undefined
  /** When a sweep first saw the handler wait for the message that is asked for now. */
  #wantedSinceMs: number | undefined

  constructor(sink: MessageSink, encoding: string | undefined, limits: MessageLimits) {
    this.#sink = sink
    this.#encoding = encoding
    this.#limits = limits
  }

  /** Asks for one more message. */
  read(): void {
    this.#isWanted = true
    this.#wantedSinceMs = undefined
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
    if (this.#held.length === 0) while (this.#hasRoom && at < bytes.length) at = this.#step(bytes, at, false)
    this.#isBusy = false
    if (at === bytes.length) return
    if (this.#isOver || !this.#hold(bytes.length - at)) this.#sink.consumed(bytes.length - at)
    else this.#held.push(Buffer.from(bytes.subarray(at)))
  }

  end(): void {
    this.#isEnded = true
    if (!this.#isBusy) this.#goOn()
  }

  /** Fails the request when the message that the handler waits for takes too long; called about once a second. */
  sweep(nowMs: number): void {
    if (!this.#isWanted) return
    this.#wantedSinceMs ??= nowMs
    if (nowMs - this.#wantedSinceMs < this.#limits.requestMs) return
    const seconds = this.#limits.requestMs / 1000
    this.#fail(
      new StatusError('DEADLINE_EXCEEDED', `the request was not complete within ${seconds} s (request_timeout_s)`),
    )
  }

  /** Takes nothing more: what is held is given back, and what still comes goes nowhere. */
  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#isWanted = false
    let owedBytes = this.#owedBytes
    for (const ready of this.#ready) {
      owedBytes += ready.owedBytes
      this.#takenBytes += ready.takenBytes
    }
    for (const { length } of this.#held) {
      owedBytes += length
      this.#takenBytes += length
    }
    this.#ready = []
    this.#held = []
    this.#bytes = NOTHING
    this.#limits.held.requests.give(this.#takenBytes)
    this.#takenBytes = 0
    this.#closed?.abort()
    this.#release()
    if (owedBytes > 0) this.#sink.consumed(owedBytes)
  }

  get #hasRoom(): boolean {
    return !this.#isOver && (this.#isWanted || this.#ready.length < MAX_READY)
  }

  #goOn(): void {
    this.#isBusy = true
    this.#deliver()
    while (this.#hasRoom && this.#held.length > 0) {
      const chunk = this.#held.shift() as Buffer
      const at = this.#step(chunk, 0, true)
      if (at < chunk.length) this.#putBack(chunk.subarray(at))
      this.#limits.held.requests.give(this.#isOver ? chunk.length : at)
    }
    this.#isBusy = false
    if (!this.#isWanted || !this.#isEnded) return
    this.#isWanted = false
    if (this.#prefixBytes > 0) this.#fail(new StatusError('INTERNAL', 'the request ended within a message'))
    else this.#sink.halfClosed()
  }

  #putBack(rest: Buffer): void {
    if (this.#isOver) this.#sink.consumed(rest.length)
    else this.#held.unshift(rest)
  }

  /** Takes what belongs to the next message, and passes on what is asked for. */
  #step(bytes: Buffer, at: number, isOwn: boolean): number {
    const next = this.#take(bytes, at, isOwn)
    if (this.#isOver) {
      this.#sink.consumed(next - at)
      return next
    }
    this.#owedBytes += next - at
    if (this.#prefixBytes === PREFIX_BYTES && this.#filledBytes === this.#length) this.#complete()
    this.#deliver()
    return next
  }

  /** Gives the message that is asked for, if it is ready; else lets the client send on. */
  #deliver(): void {
    while (this.#isWanted) {
      const ready = this.#ready.shift()
      const owedBytes = ready?.owedBytes ?? this.#owedBytes
      if (ready === undefined) this.#owedBytes = 0
      if (owedBytes > 0) this.#sink.consumed(owedBytes)
      if (ready === undefined) return
      this.#isWanted = false
      this.#pass(ready)
    }
  }

  /** Takes what belongs to the next message from `at` on; answers where the rest begins. `isOwn` bytes stay as they are. */
  #take(bytes: Buffer, at: number, isOwn: boolean): number {
    const next = this.#prefixBytes < PREFIX_BYTES ? this.#takePrefix(bytes, at) : at
    if (this.#isOver || this.#prefixBytes < PREFIX_BYTES) return next
    const wanted = Math.min(this.#length - this.#filledBytes, bytes.length - next)
    if (wanted === this.#length && isOwn) {
      if (!this.#hold(wanted)) return next
      this.#takenBytes += wanted
      this.#bytes = bytes.subarray(next, next + wanted)
    } else if (this.#makeRoom(this.#filledBytes + wanted))
      bytes.copy(this.#bytes, this.#filledBytes, next, next + wanted)
    else return next
    this.#filledBytes += wanted
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
    const roomBytes = Math.min(this.#length, Math.max(sizeBytes, 2 * this.#bytes.length, FIRST_ROOM_BYTES))
    if (!this.#hold(roomBytes - this.#takenBytes)) return false
    this.#takenBytes = roomBytes
    const bytes = this.#allocate(roomBytes)
    this.#bytes.copy(bytes, 0, 0, this.#filledBytes)
    this.#bytes = bytes
    return true
  }

  /** False when the process holds too much: the request has failed then. */
  #hold(sizeBytes: number): boolean {
    if (this.#limits.held.requests.take(sizeBytes)) return true
    this.#fail(new StatusError('RESOURCE_EXHAUSTED', 'the server holds as many requests as it can: try again later'))
    return false
  }

  #allocate(sizeBytes: number): Buffer {
    if (!this.lends || sizeBytes < MIN_LENT_BYTES || this.#length > LARGE_BYTES) return Buffer.allocUnsafe(sizeBytes)
    const { bytes, release } = lendBuffer(this.#length)
    this.#releaseBytes = release
    return bytes
  }

  #complete(): void {
    const isCompressed = this.#prefix[0] !== 0
    const [bytes, release] = [this.#bytes, this.#releaseBytes]
    this.#ready.push({ bytes, release, isCompressed, owedBytes: this.#owedBytes, takenBytes: this.#takenBytes })
    this.#owedBytes = 0
    this.#takenBytes = 0
    this.#bytes = NOTHING
    this.#releaseBytes = nothingLent
    this.#prefixBytes = 0
    this.#filledBytes = 0
  }

  #pass({ bytes, release, isCompressed, takenBytes }: Ready): void {
    this.#passedBytes = takenBytes
    if (!isCompressed) {
      this.#sink.message(bytes, false, release)
      return
    }
    this.#unpack(bytes).then(
      (plain) => this.#isOver || this.#sink.message(plain, true, nothingLent),
      (error: unknown) => this.#isOver || this.#fail(StatusError.from(error)),
    )
  }

  /** Reserves as much as the message could become, because its length is known only afterwards. */
  async #unpack(bytes: Buffer): Promise<Buffer> {
    const { unpackedKind: kind, held, maxMessageBytes } = this.#limits
    this.#closed ??= new AbortController()
    const roomBytes = Math.min(maxMessageBytes, bytes.length * MAX_RATIO, kind.boundOf(held.holder))
    const reservation = await kind.whenRoom(held.holder, roomBytes, this.#closed.signal)
    try {
      const plain = await unpacked(bytes, this.#encoding, roomBytes)
      reservation.shrinkTo(plain.length)
      if (this.#isOver) reservation.release()
      else this.#unpacked = reservation
      return plain
    } catch (error) {
      reservation.release()
      throw error
    }
  }

  #fail(error: StatusError): void {
    this.close()
    this.#sink.failed(error)
  }

  #release(): void {
    this.#limits.held.requests.give(this.#passedBytes)
    this.#passedBytes = 0
    this.#unpacked?.release()
    this.#unpacked = undefined
  }
}
