import { Writable } from 'node:stream'
import { cancellation } from '../../base/call.js'
import { StatusError } from '../../base/status-error.js'
import type { FastCdc } from '../../reapi/fast-cdc.js'
import type { Blob } from '../blob/blob.js'
import { streamsOf } from '../blob/form.js'
import { join } from '../join.js'
import { STAGE_BYTES } from '../path.js'

/** Gets the chunks of a blob in their order; the next one comes when the answer resolves. The bytes stay as they are. */
type TakeChunk = (chunk: Buffer) => Promise<void>

/** Cuts a blob into content-defined chunks while it comes. Rejects with what is wrong with it or with what `take` says. */
export const cutBlob = async (blob: Blob, cdc: FastCdc, take: TakeChunk, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) {
    blob.discard()
    throw cancellation(signal)
  }
  const form = await blob.take()
  if (form.kind !== 'bytes') return join([...streamsOf(form), new ChunkSink(cdc, take)], signal)
  const { bytes } = form
  for (let from = 0; from < bytes.length; ) {
    const to = cdc.cut(bytes, from, bytes.length)
    await take(bytes.subarray(from, to))
    if (signal.aborted) throw cancellation(signal)
    from = to
  }
}

/** Holds up to two chunks of the largest size: where a chunk ends can be told when the largest that could be is there. */
class ChunkSink extends Writable {
  readonly #cdc: FastCdc
  readonly #take: TakeChunk
  #window = Buffer.allocUnsafeSlow(STAGE_BYTES)
  #from = 0
  #to = 0

  constructor(cdc: FastCdc, take: TakeChunk) {
    super({ highWaterMark: STAGE_BYTES })
    this.#cdc = cdc
    this.#take = take
  }

  override _write(bytes: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#add(bytes).then(
      () => callback(),
      (error: unknown) => callback(StatusError.from(error)),
    )
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#cutDownTo(0).then(
      () => callback(),
      (error: unknown) => callback(StatusError.from(error)),
    )
  }

  async #add(bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#to === this.#window.length) this.#makeRoom()
      const count = bytes.copy(this.#window, this.#to, at)
      at += count
      this.#to += count
      await this.#cutDownTo(this.#cdc.sizes.max)
    }
  }

  /** Until fewer bytes than that are left, or none. */
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
