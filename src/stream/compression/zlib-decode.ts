import { Transform, type TransformCallback } from 'node:stream'
import type { BrotliDecompress, InflateRaw } from 'node:zlib'
import { StatusError } from '../../base/status-error.js'
import { STAGE_BYTES } from '../path.js'

/**
 * One of Node's decoders as a stage. Node's own streams stop at the end of the compressed data: bytes after
 * that are ignored, or their write never calls back and the pipeline hangs. This stage fails if bytes follow.
 */
export class ZlibDecode extends Transform {
  readonly #decoder: InflateRaw | BrotliDecompress
  readonly #format: string
  #sentBytes = 0
  #flushed: TransformCallback | undefined
  #isEnded = false

  constructor(format: string, decoder: InflateRaw | BrotliDecompress) {
    super({ highWaterMark: STAGE_BYTES })
    this.#format = format
    this.#decoder = decoder
    decoder.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) decoder.pause()
    })
    decoder.on('end', () => this.#end())
    decoder.on('error', (cause) => this.destroy(this.#invalid(cause.message, cause)))
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    if (this.#isEnded) {
      callback(this.#invalid('bytes follow their end'))
      return
    }
    this.#sentBytes += chunk.length
    this.#decoder.write(chunk, () => callback())
  }

  override _read(sizeBytes: number): void {
    if (this.#decoder.isPaused()) this.#decoder.resume()
    super._read(sizeBytes)
  }

  override _flush(callback: TransformCallback): void {
    if (this.#isEnded) callback()
    else {
      this.#flushed = callback
      this.#decoder.end()
    }
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#decoder.destroy()
    callback(error)
  }

  #end(): void {
    this.#isEnded = true
    if (this.#decoder.bytesWritten < this.#sentBytes) this.destroy(this.#invalid('bytes follow their end'))
    else this.#flushed?.()
  }

  #invalid(reason: string, cause?: unknown): StatusError {
    return new StatusError('INVALID_ARGUMENT', `the bytes sent are not valid ${this.#format}: ${reason}`, { cause })
  }
}
