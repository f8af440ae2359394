import { crc32 } from 'node:zlib'
import { fileFailure } from '../../../../base/errno.js'
import { StatusError } from '../../../../base/status-error.js'
import type { Hasher } from '../../../../reapi/digest-function.js'
import type { BlobFile } from '../../../../stream/blob/file.js'
import type { OpenFile } from './open-file.js'

interface FilePartOptions {
  readonly file: OpenFile
  readonly key: string
  readonly offset: number
  /** Offset after the last byte wanted. */
  readonly end: number
  readonly bufferBytes: number
  /** Called when the file is shorter than when it was opened. */
  onTorn(): void
}

/** A range of the file of a blob, as a source for a transfer. */
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
   * Verifies a whole file that was not verified since the start, while it is read in order; `hasher` sees its bytes too. `done` is called,
   * and must not reject, before the last bytes are returned. They are returned only if it resolves with true.
   */
  checked(checksum: number, hasher: Hasher | undefined, done: (isAsWritten: boolean) => Promise<boolean>): BlobFile {
    let found = 0
    const read = async (into: Buffer, position: number): Promise<number> => {
      const bytesRead = await this.read(into, position)
      const bytes = into.subarray(0, bytesRead)
      found = crc32(bytes, found)
      hasher?.update(bytes)
      if (position + bytesRead < this.sizeBytes) return bytesRead
      if (await done(found === checksum)) return bytesRead
      const why = found === checksum ? 'its bytes are not those of its digest' : 'its bytes differ from those written'
      throw new StatusError('DATA_LOSS', `blob ${this.#options.key} is damaged: ${why}`)
    }
    const { sizeBytes, bufferBytes } = this
    return { sizeBytes, bufferBytes, read, close: () => this.close() }
  }
}
