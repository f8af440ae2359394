import { LARGE_BYTES, lendBuffer } from '../../base/lent-buffers.js'
import { StatusError } from '../../base/status-error.js'
import type { Kind } from '../../ledger/kind.js'
import type { Reservation } from '../../ledger/reservation.js'
import type { Held } from '../held.js'
import { MAX_RATIO, tooLarge, unpacked } from './encoding.js'

/** Message prefix: a compression flag and four bytes of length (gRPC over HTTP2, Length-Prefixed-Message). */
export const PREFIX_BYTES = 5

/** Initial size of the buffer for a message that is at least that long. */
const FIRST_ROOM_BYTES = 128 * 1024
/** Number of messages that are assembled before they are requested. Further bytes stay as they came. */
const MAX_READY = 4

/** Larger messages use lent buffers. Smaller ones share slabs of Node. */
const MIN_LENT_BYTES = 4 * 1024

const NOTHING = Buffer.alloc(0)
const nothingLent = (): void => {}

/** Receives messages, one for each `read`. */
export interface MessageSink {
  message(bytes: Buffer, cameCompressed: boolean, release: () => void): void
  /** The client has sent its last message. Called when another is requested. */
  halfClosed(): void
  /** See `Receiver.failed`. */
  failed(error: StatusError, isOurs: boolean): void
  /** These bytes are no longer held in their original form, so the client may send more. */
  consumed(sizeBytes: number): void
}

export interface MessageLimits {
  readonly maxMessageBytes: number
  /** Accounts for memory held for the connection. */
  readonly held: Held
  /** Accounts for decompressed messages. */
  readonly unpackedKind: Kind
  /** How long a message may stay incomplete while the handler waits for it, in ms. */
  readonly requestMs: number
}

interface Ready {
  readonly bytes: Buffer
  readonly release: () => void
  readonly isCompressed: boolean
  /** Its share of the client's window. */
  readonly owedBytes: number
  /** Its share of the process's memory. */
  readonly takenBytes: number
}

/**
 * Parses the messages in the body of a request. Memory for a message grows with the bytes that arrive, not with the
 * announced length. Until a message is requested, its bytes count against the client's window.
 */
export class Messages {
  readonly #sink: MessageSink
  readonly #limits: MessageLimits
  readonly #encoding: string | undefined
  /** Whether the buffers of messages are reused after their release. */
  lends = false
  #isWanted = false
  #isBusy = false
  #isEnded = false
  #isOver = false
  #ready: Ready[] = []
  /** Bytes that follow the ready messages. */
  #held: Buffer[] = []
  readonly #prefix = Buffer.allocUnsafe(PREFIX_BYTES)
  #prefixBytes = 0
  /** Of the message that is being assembled. */
  #length = 0
  #bytes: Buffer = NOTHING
  #releaseBytes = nothingLent
  #filledBytes = 0
  #takenBytes = 0
  #owedBytes = 0
  /** Size of the message that the handler got last. It holds it until it requests the next one or has answered. */
  #passedBytes = 0
  #unpacked: Reservation | undefined
  /** Cancels the wait for room to decompress. */
  #closed: AbortController | undefined
  /** When a sweep first saw the handler wait for the present message. */
  #wantedSinceMs: number | undefined

  constructor(sink: MessageSink, encoding: string | undefined, limits: MessageLimits) {
    this.#sink = sink
    this.#encoding = encoding
    this.#limits = limits
  }

  /** Requests one more message. */
  read(): void {
    this.#isWanted = true
    this.#wantedSinceMs = undefined
    this.#release()
    if (!this.#isBusy) this.#goOn()
  }

  /** Takes bytes of the body. The caller may overwrite them afterwards. */
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

  /** Fails the request if the handler has waited too long for a message. Called about once a second. */
  sweep(nowMs: number): void {
    if (!this.#isWanted) return
    this.#wantedSinceMs ??= nowMs
    if (nowMs - this.#wantedSinceMs < this.#limits.requestMs) return
    const seconds = this.#limits.requestMs / 1000
    this.#fail(
      new StatusError('DEADLINE_EXCEEDED', `the request was not complete within ${seconds} s (request_timeout_s)`),
    )
  }

  /** Stops: releases all held bytes and drops further ones. */
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

  /** Adds bytes to the present message, and delivers it if it is complete and requested. */
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

  /** Delivers the requested message if it is ready; else lets the client send more. */
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

  /**
   * Takes the bytes of the present message from `at` on. Returns where the rest begins. `isOwn`: the bytes are never
   * overwritten.
   */
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

  /** Makes room for the received bytes, not for the announced length, because the rest may never come. */
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

  /** Returns false, and fails the request, if the process holds too much. */
  #hold(sizeBytes: number): boolean {
    if (this.#limits.held.requests.take(sizeBytes)) return true
    this.#fail(new StatusError('RESOURCE_EXHAUSTED', 'the server has no memory left for requests: try again later'))
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
      (error: unknown) => this.#isOver || this.#fail(StatusError.from(error), !(error instanceof StatusError)),
    )
  }

  /** Reserves memory for the maximum size, because the actual size is known only afterwards. */
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

  #fail(error: StatusError, isOurs = false): void {
    this.close()
    this.#sink.failed(error, isOurs)
  }

  #release(): void {
    this.#limits.held.requests.give(this.#passedBytes)
    this.#passedBytes = 0
    this.#unpacked?.release()
    this.#unpacked = undefined
  }
}
