import { Transform, type TransformCallback } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { ByteQueue } from '../../stream/byte-queue.js'
import { STAGE_BYTES } from '../../stream/path.js'
import type { BlockFormat } from './blocks.js'
import { BURST_BYTES } from './container.js'
import { RecordWriter } from './record-writer.js'

/** Turns a blob into its stored form, a block at a time. */
export class Pack extends Transform {
  readonly #format: BlockFormat
  readonly #records: RecordWriter
  readonly #input = new ByteQueue()
  #position = 0
  #burstBytes = 0

  constructor(format: BlockFormat) {
    super({ highWaterMark: STAGE_BYTES })
    this.#format = format
    this.#records = new RecordWriter(format.header, (bytes) => void this.push(bytes))
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, callback: TransformCallback): void {
    try {
      this.#input.add(chunk)
      const { blockBytes } = this.#format.header
      while (this.#input.sizeBytes >= blockBytes) this.#pack(blockBytes)
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
      if (this.#input.sizeBytes > 0) this.#pack(this.#input.sizeBytes)
      this.#records.end(this.#position)
      callback()
    } catch (error) {
      callback(StatusError.from(error))
    }
  }

  #pack(sizeBytes: number): void {
    const { kind, parts } = this.#format.compress(this.#input.take(sizeBytes))
    this.#records.mark(this.#position)
    this.#records.record(kind, ...parts)
    this.#position += sizeBytes
  }
}
