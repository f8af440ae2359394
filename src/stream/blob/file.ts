import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { STAGE_BYTES } from '../path.js'

/**
 * A part of an open file. Whoever takes it reads it and closes it, or makes it a stream, which closes it; it stays readable
 * though the blob is evicted meanwhile.
 */
export interface BlobFile {
  /** How long the part is. */
  readonly sizeBytes: number
  /** What a stream of it reads at first; a reader that keeps up gets more at a time. */
  readonly bufferBytes: number

  /**
   * Reads at `position`, counted from where the part begins, and answers how many bytes it got: at least one, while
   * `position` is below `sizeBytes`. Fails with a StatusError, DATA_LOSS when the file turned out shorter. One at a time.
   */
  read(into: Buffer, position: number): Promise<number>

  /** Never under a read; a second time does nothing. */
  close(): Promise<void>
}

/** The bytes of a part, which is closed afterwards. */
export const readFile = async (file: BlobFile): Promise<Buffer> => {
  try {
    const bytes = Buffer.allocUnsafeSlow(file.sizeBytes)
    for (let filled = 0; filled < bytes.length; ) filled += await file.read(bytes.subarray(filled), filled)
    return bytes
  } finally {
    await file.close()
  }
}

/**
 * Reads a part of an open file, in its order, and closes it. Every chunk is a buffer of its own, because stages may keep slices.
 *
 * A turn of the thread pool costs as much as reading 64 KiB, so every second chunk is twice as large while their reader
 * takes them, up to a size that a stalled one may hold. At most one is read ahead.
 */
export class FileSource extends Readable {
  readonly #file: BlobFile
  #position = 0
  #chunkBytes: number
  #isGrowing = false

  constructor(file: BlobFile) {
    super({ highWaterMark: 1 })
    this.#file = file
    this.#chunkBytes = file.bufferBytes
  }

  override _read(): void {
    const sizeBytes = Math.min(this.#chunkBytes, this.#file.sizeBytes - this.#position)
    if (this.#isGrowing) this.#chunkBytes = Math.max(this.#chunkBytes, Math.min(2 * this.#chunkBytes, STAGE_BYTES))
    this.#isGrowing = !this.#isGrowing
    if (sizeBytes === 0) this.push(null)
    else void this.#next(Buffer.allocUnsafeSlow(sizeBytes))
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#file.close().then(
      () => callback(error),
      (closeError: Error) => callback(error ?? closeError),
    )
  }

  async #next(buffer: Buffer): Promise<void> {
    try {
      const bytesRead = await this.#file.read(buffer, this.#position)
      this.#position += bytesRead
      this.push(buffer.subarray(0, bytesRead))
    } catch (error) {
      this.destroy(StatusError.from(error))
    }
  }
}
