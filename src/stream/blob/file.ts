import { Readable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { STAGE_BYTES } from '../path.js'

/**
 * A range of an open file. Its owner reads and closes it, or turns it into a stream, which closes it. The
 * range stays readable if the blob is evicted.
 */
export interface BlobFile {
  /** Length of the range. */
  readonly sizeBytes: number
  /** Size of a stream's first reads. A reader that keeps up gets larger chunks. */
  readonly bufferBytes: number

  /**
   * Reads at `position`, relative to the start of the range. Returns the number of bytes read: at least one
   * while `position` is below `sizeBytes`. Fails with a StatusError, DATA_LOSS if the file is too short. One
   * read at a time.
   */
  read(into: Buffer, position: number): Promise<number>

  /** Must not be called during a read. Idempotent. */
  close(): Promise<void>
}

/** Reads the whole range and closes it. */
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
 * Reads a file range in order and closes it. Every chunk is a new buffer, because stages may keep slices.
 *
 * A turn of the thread pool costs as much as reading 64 KiB. So every second chunk is twice as large, up to
 * STAGE_BYTES, which bounds what a stalled reader holds. At most one chunk is read ahead.
 */
export class FileSource extends Readable {
  readonly #file: BlobFile
  #position = 0
  #chunkBytes: number
  #isGrowing = false
  #reading: Promise<void> | undefined

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
    else this.#reading = this.#next(Buffer.allocUnsafeSlow(sizeBytes))
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    Promise.resolve(this.#reading)
      .then(() => this.#file.close())
      .then(
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
