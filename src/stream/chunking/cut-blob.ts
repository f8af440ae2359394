import type { LentBuffer } from '../../base/lent-buffers.js'
import { type Chunking, type Cutter, MORE } from '../../reapi/chunking.js'
import { cancellation } from '../../rpc/call.js'
import type { Blob } from '../blob/blob.js'
import { pour } from '../blob/pour.js'
import { Block } from './block.js'

/** Receives chunks in order, and releases each. The next one follows when the promise resolves. */
type TakeChunk = (chunk: LentBuffer) => Promise<void>

/** Cuts a blob into content-defined chunks as it arrives. Rejects if the blob or `take` fails. */
export const cutBlob = async (blob: Blob, chunking: Chunking, take: TakeChunk, signal: AbortSignal): Promise<void> => {
  if (signal.aborted) {
    blob.discard()
    throw cancellation(signal)
  }
  const form = await blob.take()
  if (form.kind !== 'bytes') {
    const window = new Window(chunking, take)
    try {
      await pour(form, (lent) => window.add(lent), signal)
      return await window.end()
    } finally {
      window.close()
    }
  }
  const { bytes } = form
  const cutter = chunking.cutter()
  for (let from = 0; from < bytes.length; ) {
    const to = cutter.cut(bytes, from, bytes.length, true)
    await take({ bytes: bytes.subarray(from, to), release: () => {} })
    if (signal.aborted) throw cancellation(signal)
    from = to
  }
}

/**
 * Gathers the bytes of a chunk until its end is known. They are copied once, into a block: chunks are parts of it. The
 * begun chunk moves to the next block when its own is full.
 */
class Window {
  readonly #blockBytes: number
  readonly #cutter: Cutter
  readonly #take: TakeChunk
  #block: Block
  /** The begun chunk. */
  #from = 0
  #to = 0

  constructor(chunking: Chunking, take: TakeChunk) {
    this.#blockBytes = 2 * chunking.windowBytes
    this.#cutter = chunking.cutter()
    this.#take = take
    this.#block = Block.lend(this.#blockBytes)
  }

  add(bytes: Buffer): Promise<void> | undefined {
    for (let at = 0; at < bytes.length; ) {
      at += this.#fill(bytes, at)
      const end = this.#endOfChunk(false)
      if (end !== MORE) return this.#goOn(end, bytes, at)
    }
    return undefined
  }

  /** Call this after the last byte. */
  async end(): Promise<void> {
    while (this.#to > this.#from) await this.#give(this.#endOfChunk(true))
  }

  close(): void {
    this.#block.release()
  }

  async #goOn(firstEnd: number, bytes: Buffer, firstAt: number): Promise<void> {
    let at = firstAt
    for (let end = firstEnd; ; end = this.#endOfChunk(false)) {
      if (end !== MORE) await this.#give(end)
      else if (at === bytes.length) return
      else at += this.#fill(bytes, at)
    }
  }

  #endOfChunk(isWhole: boolean): number {
    return this.#cutter.cut(this.#block.bytes, this.#from, this.#to, isWhole)
  }

  #give(end: number): Promise<void> {
    const chunk = this.#block.lend(this.#from, end)
    this.#from = end
    return this.#take(chunk)
  }

  /** Returns how many bytes were copied: at least one. */
  #fill(bytes: Buffer, at: number): number {
    if (this.#to === this.#block.bytes.length) this.#makeRoom()
    const count = bytes.copy(this.#block.bytes, this.#to, at)
    this.#to += count
    return count
  }

  #makeRoom(): void {
    const full = this.#block
    this.#block = Block.lend(this.#blockBytes)
    full.bytes.copy(this.#block.bytes, 0, this.#from, this.#to)
    full.release()
    this.#to -= this.#from
    this.#from = 0
  }
}
