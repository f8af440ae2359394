import { ReusedBuffers } from '../../base/reused-buffers.js'
import { guardedImmediate } from '../../base/timers.js'
import { HEAD_BYTES } from './frame/frame.js'

/** The destination of bytes. */
export interface ByteSink {
  /** Writes the parts in order. Calls back once they may be reused, with an error if they were not sent. */
  write(parts: readonly Buffer[], written: (error?: Error | null) => void): void
}

/** The byte stream below a connection. */
export interface Channel extends ByteSink {
  /** Stops reading until `resume`. */
  pause(): void
  resume(): void
  /** Sends all written bytes and then the end of the stream. */
  end(): void
  destroy(): void
}

/** Below this size, a copy costs less than another buffer in the kernel's gather list. */
const COPIED_BYTES = 2048
const SLAB_BYTES = 16 * 1024
const MAX_IDLE_SLABS = 64

const idleSlabs = new ReusedBuffers(SLAB_BYTES, MAX_IDLE_SLABS * SLAB_BYTES)

/** Outputs with something to write in this turn of the event loop. */
let waiting: Output[] = []

const flushAll = (): void => {
  const outputs = waiting
  waiting = []
  let next = 0
  try {
    while (next < outputs.length) outputs[next++]?.flush()
  } finally {
    // After one that throws, the others are flushed in the next turn.
    if (next < outputs.length) {
      waiting.push(...outputs.slice(next))
      guardedImmediate(flushAll)
    }
  }
}

/**
 * The output of a connection. Frames are assembled in reusable slabs, large payloads are not copied, and all bytes
 * leave in one write per turn of the event loop. Only one write is in flight; later bytes go with the next.
 */
export class Output {
  readonly #sink: ByteSink
  readonly #onRoom: () => void
  #parts: Buffer[] = []
  #slabs: Buffer[] = []
  #slab: Buffer | undefined
  /** In the present slab: start of the part that is being filled, and its end so far. */
  #start = 0
  #at = 0
  #written: (() => void)[] = []
  #pendingBytes = 0
  #isWaiting = false
  #isWriting = false
  #isClosed = false
  #whenEmpty: (() => void) | undefined

  /** `onRoom` is called after each write, when there may be room for more. */
  constructor(sink: ByteSink, onRoom: () => void) {
    this.#sink = sink
    this.#onRoom = onRoom
  }

  /** Bytes that have not left the process. */
  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Adds a frame header; its payload must follow (RFC 9113, 4.1). */
  head(lengthBytes: number, type: number, flags: number, streamId: number): void {
    const at = this.#room(HEAD_BYTES)
    const slab = this.#slab as Buffer
    slab[at] = lengthBytes >>> 16
    slab[at + 1] = lengthBytes >>> 8
    slab[at + 2] = lengthBytes
    slab[at + 3] = type
    slab[at + 4] = flags
    slab[at + 5] = streamId >>> 24
    slab[at + 6] = streamId >>> 16
    slab[at + 7] = streamId >>> 8
    slab[at + 8] = streamId
  }

  /** Adds bytes `from` to `to` of a buffer. They must not change until they are written (see `whenWritten`). */
  bytes(buffer: Buffer, from = 0, to = buffer.length): void {
    const length = to - from
    if (length <= COPIED_BYTES) {
      const at = this.#room(length)
      buffer.copy(this.#slab as Buffer, at, from, to)
      return
    }
    this.#closePart()
    this.#pendingBytes += length
    this.#parts.push(length === buffer.length ? buffer : buffer.subarray(from, to))
    this.#wait()
  }

  uint32(value: number): void {
    const at = this.#room(4)
    ;(this.#slab as Buffer).writeUInt32BE(value >>> 0, at)
  }

  /** Calls back once everything added so far has left, or will never leave. */
  whenWritten(callback: () => void): void {
    if (this.#isClosed) callback()
    else this.#written.push(callback)
  }

  /** Calls back when nothing is left to write. */
  whenEmpty(callback: () => void): void {
    if (this.#pendingBytes === 0 || this.#isClosed) callback()
    else this.#whenEmpty = callback
  }

  flush(): void {
    this.#isWaiting = false
    if (this.#isWriting || this.#isClosed || this.#pendingBytes === 0) return
    this.#closePart()
    const parts = this.#parts
    const slabs = this.#slabs
    const written = this.#written
    const sizeBytes = this.#pendingBytes
    this.#parts = []
    this.#written = []
    // A partly filled slab is written too. Nothing may be added to it before the write has ended.
    this.#slabs = []
    this.#slab = undefined
    this.#isWriting = true
    this.#sink.write(parts, (error) => {
      this.#isWriting = false
      this.#pendingBytes -= sizeBytes
      if (!error) for (const slab of slabs) idleSlabs.giveBack(slab)
      for (const callback of written) callback()
      if (this.#isClosed) return
      this.#onRoom()
      this.flush()
      if (this.#pendingBytes === 0) this.#notifyEmpty()
    })
  }

  /** Nothing more is written; all `whenWritten` callbacks are called. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const written = this.#written
    this.#written = []
    this.#parts = []
    for (const callback of written) callback()
    this.#notifyEmpty()
  }

  #notifyEmpty(): void {
    const callback = this.#whenEmpty
    this.#whenEmpty = undefined
    callback?.()
  }

  /** Reserves `length` bytes in the slab and returns their position. */
  #room(length: number): number {
    if (this.#slab === undefined || this.#at + length > SLAB_BYTES) {
      this.#closePart()
      this.#slab = idleSlabs.take()
      this.#slabs.push(this.#slab)
      this.#start = 0
      this.#at = 0
    }
    const at = this.#at
    this.#at += length
    this.#pendingBytes += length
    this.#wait()
    return at
  }

  #closePart(): void {
    if (this.#slab === undefined || this.#at === this.#start) return
    this.#parts.push(this.#slab.subarray(this.#start, this.#at))
    this.#start = this.#at
  }

  #wait(): void {
    if (this.#isWaiting || this.#isWriting || this.#isClosed) return
    this.#isWaiting = true
    if (waiting.push(this) === 1) guardedImmediate(flushAll)
  }
}
