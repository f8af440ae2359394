import { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { StatusError } from '../../../base/status-error.js'
import type { BlobFile } from '../../../stream/blob/form.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import { fileError } from '../file-error.js'
import type { OpenFile } from './open-file.js'

export interface FileSourceParts {
  readonly file: OpenFile
  readonly key: string
  readonly offset: number
  /** Behind the last byte wanted. */
  readonly end: number
  /** Read at first; a reader that keeps up gets more at a time. */
  readonly bufferBytes: number
  /** The file turned out shorter than it was when opened. */
  onTorn(): void
}

export interface FileCheck {
  /** CRC-32 that the bytes must have. */
  readonly checksum: number
  /** Told before the last bytes are given away, which those that are not right are not. Never rejects. */
  done(isRight: boolean): Promise<void>
}

/**
 * Reads a part of an open file and closes it. Every chunk is a buffer of its own, because stages may keep slices.
 *
 * A turn of the thread pool costs as much as reading 64 KiB, so every second chunk is twice as large while their reader
 * takes them, up to a size that a stalled one may hold. At most one is read ahead.
 */
export class FileSource extends Readable {
  readonly #parts: FileSourceParts
  readonly #check: FileCheck | undefined
  #offset: number
  #chunkBytes: number
  #checksum = 0
  #isGrowing = false

  /** With a `check` all of the file is read. */
  constructor(parts: FileSourceParts, check?: FileCheck) {
    super({ highWaterMark: 1 })
    this.#parts = parts
    this.#check = check
    this.#offset = parts.offset
    this.#chunkBytes = parts.bufferBytes
  }

  override _read(): void {
    const { end } = this.#parts
    const sizeBytes = Math.min(this.#chunkBytes, end - this.#offset)
    if (this.#isGrowing) this.#chunkBytes = Math.max(this.#chunkBytes, Math.min(2 * this.#chunkBytes, STAGE_BYTES))
    this.#isGrowing = !this.#isGrowing
    if (sizeBytes === 0) {
      this.push(null)
      return
    }
    void this.#next(Buffer.allocUnsafeSlow(sizeBytes))
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#parts.file.close().then(
      () => callback(error),
      (closeError: Error) => callback(error ?? closeError),
    )
  }

  async #next(buffer: Buffer): Promise<void> {
    try {
      await this.#pass(buffer.subarray(0, await readPart(this.#parts, buffer, this.#offset)))
    } catch (error) {
      this.destroy(StatusError.from(error))
    }
  }

  async #pass(bytes: Buffer): Promise<void> {
    const { end, key } = this.#parts
    const check = this.#check
    this.#offset += bytes.length
    if (check !== undefined) {
      this.#checksum = crc32(bytes, this.#checksum)
      if (this.#offset === end) {
        const isRight = this.#checksum === check.checksum
        await check.done(isRight)
        if (!isRight)
          throw new StatusError('DATA_LOSS', `blob ${key} is damaged: its bytes are not those that were written`)
      }
    }
    this.push(bytes)
  }
}

/** At least one byte, which `position` of the file has. */
const readPart = async ({ file, key, onTorn }: FileSourceParts, into: Buffer, position: number): Promise<number> => {
  const bytesRead = await file.read(into, position).catch((error: unknown) => {
    throw fileError(error, `read blob ${key}`)
  })
  if (bytesRead > 0) return bytesRead
  onTorn()
  throw new StatusError('DATA_LOSS', `blob ${key} was cut short while it was read`)
}

/** A part of a blob's file as it travels. */
export class FilePart implements BlobFile {
  readonly sizeBytes: number
  readonly #parts: FileSourceParts

  constructor(parts: FileSourceParts) {
    this.sizeBytes = parts.end - parts.offset
    this.#parts = parts
  }

  read(into: Buffer, position: number): Promise<number> {
    const wanted = into.subarray(0, Math.min(into.length, this.sizeBytes - position))
    return readPart(this.#parts, wanted, this.#parts.offset + position)
  }

  async close(): Promise<void> {
    await this.#parts.file.close().catch((error: unknown) => {
      throw fileError(error, `read blob ${this.#parts.key}`)
    })
  }

  stream(): FileSource {
    return new FileSource(this.#parts)
  }

  /** The stream of a whole file that nobody has compared since the start. */
  checked(check: FileCheck): FileSource {
    return new FileSource(this.#parts, check)
  }
}
