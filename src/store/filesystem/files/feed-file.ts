import { LARGE_BYTES, type LentBuffer, lendBuffer, SMALL_BYTES } from '../../../base/lent-buffers.js'
import { StatusError } from '../../../base/status-error.js'
import type { BlobFeed } from '../../../stream/blob/feed.js'
import { join } from '../../../stream/join.js'
import type { FileSink } from './file-sink.js'

/** Buffers that wait to be written while another is filled. */
const MAX_WAITING = 1

/**
 * Moves a feed into a sink, by way of buffers that are used again: one is filled while another is written. Resolves when the
 * sink has finished, rejects once it has closed.
 */
export const feedFile = async (feed: BlobFeed, sink: FileSink, signal: AbortSignal): Promise<void> => {
  const closed = join([sink], signal)
  const filling = new Filling(sink)
  try {
    // The sink can fail, or the call end, while nothing comes.
    await Promise.race([feed.into((bytes) => filling.take(bytes)), closed])
    filling.end()
    await closed
  } catch (error) {
    feed.discard()
    sink.destroy(StatusError.from(error))
    await closed.catch(() => {})
    throw error
  }
}

class Filling {
  readonly #sink: FileSink
  #buffer: LentBuffer | undefined
  #filledBytes = 0
  #waiting = 0
  #nextBytes = SMALL_BYTES
  #resume: (() => void) | undefined

  constructor(sink: FileSink) {
    this.#sink = sink
    sink.once('close', () => this.#goOn())
  }

  take(bytes: Buffer): Promise<void> | undefined {
    for (let at = 0; at < bytes.length; ) {
      this.#buffer ??= this.#lend()
      const copied = bytes.copy(this.#buffer.bytes, this.#filledBytes, at)
      at += copied
      this.#filledBytes += copied
      if (this.#filledBytes === this.#buffer.bytes.length) this.#write(this.#buffer)
    }
    if (this.#waiting <= MAX_WAITING || this.#sink.destroyed) return undefined
    return new Promise((resolve) => {
      this.#resume = resolve
    })
  }

  end(): void {
    if (this.#buffer !== undefined) this.#write(this.#buffer)
    this.#sink.end()
  }

  #lend(): LentBuffer {
    const buffer = lendBuffer(this.#nextBytes)
    // A turn of the thread pool costs as much as writing 64 KiB, and an upload that goes no further need hold no more.
    this.#nextBytes = LARGE_BYTES
    return buffer
  }

  #write(buffer: LentBuffer): void {
    const bytes = buffer.bytes.subarray(0, this.#filledBytes)
    this.#buffer = undefined
    this.#filledBytes = 0
    this.#waiting += 1
    this.#sink.write(bytes, (error) => {
      this.#waiting -= 1
      // After a failure nobody knows whether it is still being written.
      if (!error) buffer.release()
      this.#goOn()
    })
  }

  #goOn(): void {
    const resume = this.#resume
    this.#resume = undefined
    resume?.()
  }
}
