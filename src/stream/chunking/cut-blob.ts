import type { Chunking, Cutter } from '../../reapi/chunking.js'
import { cancellation } from '../../rpc/call.js'
import type { Blob } from '../blob/blob.js'
import { pour } from '../blob/pour.js'
import { STAGE_BYTES } from '../path.js'

/** Receives chunks in order; the next one follows when the promise resolves. The bytes are not reused. */
type TakeChunk = (chunk: Buffer) => Promise<void>

/** Cuts a blob into content-defined chunks as it arrives. Rejects if the blob or `take` fails. */
export const cutBlob = async (blob: Blob, chunking: Chunking, take: TakeChunk, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) {
    blob.discard()
    throw cancellation(signal)
  }
  const form = await blob.take()
  if (form.kind !== 'bytes') {
    const window = new Window(chunking, take)
    await pour(form, (lent) => window.add(lent), signal)
    return window.end()
  }
  const { bytes } = form
  const cutter = chunking.cutter()
  for (let from = 0; from < bytes.length; ) {
    const to = cutter.cut(bytes, from, bytes.length)
    await take(bytes.subarray(from, to))
    if (signal.aborted) throw cancellation(signal)
    from = to
  }
}

/** Buffers up to two windows, because the end of a chunk is known only when the bytes of one are there. */
class Window {
  readonly #windowBytes: number
  readonly #cutter: Cutter
  readonly #take: TakeChunk
  #buffered = Buffer.allocUnsafeSlow(STAGE_BYTES)
  #from = 0
  #to = 0

  constructor(chunking: Chunking, take: TakeChunk) {
    this.#windowBytes = chunking.windowBytes
    this.#cutter = chunking.cutter()
    this.#take = take
  }

  async add(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#to === this.#buffered.length) this.#makeRoom()
      const count = bytes.copy(this.#buffered, this.#to, at)
      at += count
      this.#to += count
      await this.#cutDownTo(this.#windowBytes)
    }
  }

  /** Call this after the last byte. */
  end(): Promise<void> {
    return this.#cutDownTo(0)
  }

  /** Cuts while at least `leastBytes` are buffered; 0 cuts all. */
  async #cutDownTo(leastBytes: number): Promise<void> {
    while (this.#to > this.#from && this.#to - this.#from >= leastBytes) {
      const end = this.#cutter.cut(this.#buffered, this.#from, this.#to)
      const chunk = Buffer.from(this.#buffered.subarray(this.#from, end))
      this.#from = end
      await this.#take(chunk)
    }
  }

  #makeRoom(): void {
    const largest = 2 * this.#windowBytes
    const isWorthMoving = this.#from >= this.#buffered.length / 2 || this.#buffered.length >= largest
    const window = isWorthMoving ? this.#buffered : Buffer.allocUnsafeSlow(Math.min(2 * this.#buffered.length, largest))
    this.#buffered.copy(window, 0, this.#from, this.#to)
    this.#buffered = window
    this.#to -= this.#from
    this.#from = 0
  }
}
