import { crc32 } from 'node:zlib'
import { fileFailure } from '../../../base/errno.js'
import { StatusError } from '../../../base/status-error.js'
import type { BlobFile } from '../../../stream/blob/file.js'
import type { OpenFile } from './open-file.js'

interface FilePartOptions {
  readonly file: OpenFile
  readonly key: string
  readonly offset: number
  /** Behind the last byte wanted. */
  readonly end: number
  readonly bufferBytes: number
  /** The file turned out shorter than it was when opened. */
  onTorn(): void
}

/** A part of a blob's file as it travels. */
export class FilePart implements BlobFile {
  readonly sizeBytes: number
  readonly bufferBytes: number
  readonly #options: FilePartOptions

  constructor(options: FilePartOptions) {
    this.sizeBytes = options.end - options.offset
    this.bufferBytes = options.bufferBytes
    this.#options = options
  }

  async read(into: Buffer, position: number): Promise<number> {
    const { file, key, offset, onTorn } = this.#options
    const wanted = into.subarray(0, Math.min(into.length, this.sizeBytes - position))
    const bytesRead = await file.read(wanted, offset + position).catch((error: unknown) => {
      throw fileFailure(error, `could not read blob ${key}`)
    })
    if (bytesRead > 0) return bytesRead
    onTorn()
    throw new StatusError('DATA_LOSS', `blob ${key} was cut short while it was read`)
  }

  async close(): Promise<void> {
    await this.#options.file.close().catch((error: unknown) => {
      throw fileFailure(error, `could not read blob ${this.#options.key}`)
    })
  }

  /**
   * The whole of a file that nobody has compared since the start, to be read in its order. `done` is told before the last bytes
   * are given away, which those that are not right are not. It never rejects.
   */
  checked(checksum: number, done: (isRight: boolean) => Promise<void>): BlobFile {
    let found = 0
    const read = async (into: Buffer, position: number): Promise<number> => {
      const bytesRead = await this.read(into, position)
      found = crc32(into.subarray(0, bytesRead), found)
      if (position + bytesRead < this.sizeBytes) return bytesRead
      await done(found === checksum)
      if (found === checksum) return bytesRead
      const { key } = this.#options
      throw new StatusError('DATA_LOSS', `blob ${key} is damaged: its bytes are not those that were written`)
    }
    const { sizeBytes, bufferBytes } = this
    return { sizeBytes, bufferBytes, read, close: () => this.close() }
  }
}
