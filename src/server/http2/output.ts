import { HEAD_BYTES } from './frame/frame.js'

/** What bytes leave by. */
export interface ByteSink {
  /** Takes these bytes in their order and calls back once, when they may be used again; with an error if they did not leave. */
  write(parts: readonly Buffer[], written: (error?: Error | null) => void): void
}

/** The bytes below a connection. */
export interface Channel extends ByteSink {
  /** Reads nothing more until `resume`. */
  pause(): void
  resume(): void
  /** Sends what was written, and that nothing follows. */
  end(): void
  destroy(): void
}

/** Below this a copy costs less than another buffer for the kernel to gather. */
const COPIED_BYTES = 2048
const SLAB_BYTES = 16 * 1024
const MAX_IDLE_SLABS = 64

const idleSlabs: Buffer[] = []

/** Those with something to write in this turn of the loop. */
let waiting: Output[] = []

const flushAll = (): void => {
  const outputs = waiting
  waiting = []
  for (const output of outputs) output.flush()
}

/**
 * What a connection sends: frames are put together in slabs that are used again, large payloads stay where they lie, and
 * all of it leaves in one write a turn of the loop. At most one write is under way; what comes meanwhile goes with the next.
 */
export class Output {
  readonly #sink: ByteSink
  readonly #onRoom: () => void
  #parts: Buffer[] = []
  #slabs: Buffer[] = []
  #slab: Buffer | undefined
  /** Of the slab: where the part begins that is being filled, and where it goes on. */
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

  /** A frame's head, behind which its payload has to follow (RFC 9113, 4.1). */
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

  /** Bytes `from` to `to` of a buffer, which stays as it is until they were written (see `whenWritten`). */
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

  /** Calls back once all that was added so far has left, or never will. */
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
    // The slab that is not full goes with this write too: nothing may be added to it before that has ended.
    this.#slabs = []
    this.#slab = undefined
    this.#isWriting = true
    this.#sink.write(parts, (error) => {
      this.#isWriting = false
      this.#pendingBytes -= sizeBytes
      if (!error) for (const slab of slabs) if (idleSlabs.length < MAX_IDLE_SLABS) idleSlabs.push(slab)
      for (const callback of written) callback()
      if (this.#isClosed) return
      this.#onRoom()
      this.flush()
      if (this.#pendingBytes === 0) this.#tellEmpty()
    })
  }

  /** Nothing leaves any more; whoever waits for his bytes gets them back. */
  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const written = this.#written
    this.#written = []
    this.#parts = []
    for (const callback of written) callback()
    this.#tellEmpty()
  }

  #tellEmpty(): void {
    const callback = this.#whenEmpty
    this.#whenEmpty = undefined
    callback?.()
  }

  /** Makes room for that many bytes in the slab and answers where they go. */
  #room(length: number): number {
    if (this.#slab === undefined || this.#at + length > SLAB_BYTES) {
      this.#closePart()
      this.#slab = idleSlabs.pop() ?? Buffer.allocUnsafeSlow(SLAB_BYTES)
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
    if (waiting.push(this) === 1) setImmediate(flushAll)
  }
}
