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
    const { file, end, key } = this.#parts
    const sizeBytes = Math.min(this.#chunkBytes, end - this.#offset)
    if (this.#isGrowing) this.#chunkBytes = Math.max(this.#chunkBytes, Math.min(2 * this.#chunkBytes, STAGE_BYTES))
    this.#isGrowing = !this.#isGrowing
    if (sizeBytes === 0) {
      this.push(null)
      return
    }
    const buffer = Buffer.allocUnsafeSlow(sizeBytes)
    file.read(buffer, this.#offset, (error, bytesRead) => {
      if (error !== null) {
        this.destroy(fileError(error, `read blob ${key}`))
      } else if (bytesRead === 0) {
        this.destroy(torn(this.#parts))
      } else {
        this.#pass(bytesRead === sizeBytes ? buffer : buffer.subarray(0, bytesRead))
      }
    })
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#parts.file.close((closeError) => callback(error ?? closeError))
  }

  #pass(bytes: Buffer): void {
    const { end, key } = this.#parts
    const check = this.#check
    this.#offset += bytes.length
    if (check !== undefined) this.#checksum = crc32(bytes, this.#checksum)
    if (check === undefined || this.#offset < end) {
      this.push(bytes)
      return
    }
    const isRight = this.#checksum === check.checksum
    void check.done(isRight).then(() => {
      if (isRight) this.push(bytes)
      else
        this.destroy(new StatusError('DATA_LOSS', `blob ${key} is damaged: its bytes are not those that were written`))
    })
  }
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
    const { file, offset, key } = this.#parts
    const wanted = into.subarray(0, Math.min(into.length, this.sizeBytes - position))
    return new Promise((resolve, reject) => {
      file.read(wanted, offset + position, (error, bytesRead) => {
        if (error !== null) reject(fileError(error, `read blob ${key}`))
        else if (bytesRead === 0) reject(torn(this.#parts))
        else resolve(bytesRead)
      })
    })
  }

  close(): Promise<void> {
    const { file, key } = this.#parts
    return new Promise((resolve, reject) => {
      file.close((error) => (error === null ? resolve() : reject(fileError(error, `read blob ${key}`))))
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

const torn = ({ key, onTorn }: FileSourceParts): StatusError => {
  onTorn()
  return new StatusError('DATA_LOSS', `blob ${key} was cut short while it was read`)
}
