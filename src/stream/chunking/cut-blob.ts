import type { FastCdc } from '../../reapi/fast-cdc.js'
import { cancellation } from '../../rpc/call.js'
import type { Blob } from '../blob/blob.js'
import { pour } from '../blob/pour.js'
import { STAGE_BYTES } from '../path.js'

/** Receives chunks in order; the next one follows when the promise resolves. The bytes are not reused. */
type TakeChunk = (chunk: Buffer) => Promise<void>

/** Cuts a blob into content-defined chunks as it arrives. Rejects if the blob or `take` fails. */
export const cutBlob = async (blob: Blob, cdc: FastCdc, take: TakeChunk, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) {
    blob.discard()
    throw cancellation(signal)
  }
  const form = await blob.take()
  if (form.kind !== 'bytes') {
    const cutter = new Cutter(cdc, take)
    await pour(form, (lent) => cutter.add(lent), signal)
    return cutter.end()
  }
  const { bytes } = form
  for (let from = 0; from < bytes.length; ) {
    const to = cdc.cut(bytes, from, bytes.length)
    await take(bytes.subarray(from, to))
    if (signal.aborted) throw cancellation(signal)
    from = to
  }
}

/**
 * Buffers up to two chunks of the maximum size, because the end of a chunk is known only when that many bytes
 * are there.
 */
class Cutter {
  readonly #cdc: FastCdc
  readonly #take: TakeChunk
  #window = Buffer.allocUnsafeSlow(STAGE_BYTES)
  #from = 0
  #to = 0

  constructor(cdc: FastCdc, take: TakeChunk) {
    this.#cdc = cdc
    this.#take = take
  }

  async add(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#to === this.#window.length) this.#makeRoom()
      const count = bytes.copy(this.#window, this.#to, at)
      at += count
      this.#to += count
      await this.#cutDownTo(this.#cdc.sizes.max)
    }
  }

  /** Call this after the last byte. */
  end(): Promise<void> {
    return this.#cutDownTo(0)
  }

  /** Cuts while at least `leastBytes` are buffered; 0 cuts all. */
  async #cutDownTo(leastBytes: number): Promise<void> {
    while (this.#to > this.#from && this.#to - this.#from >= leastBytes) {
      const end = this.#cdc.cut(this.#window, this.#from, this.#to)
      const chunk = Buffer.from(this.#window.subarray(this.#from, end))
      this.#from = end
      await this.#take(chunk)
    }
  }

  #makeRoom(): void {
    const largest = 2 * this.#cdc.sizes.max
    const isWorthMoving = this.#from >= this.#window.length / 2 || this.#window.length >= largest
    const window = isWorthMoving ? this.#window : Buffer.allocUnsafeSlow(Math.min(2 * this.#window.length, largest))
    this.#window.copy(window, 0, this.#from, this.#to)
    this.#window = window
    this.#to -= this.#from
    this.#from = 0
  }
}
