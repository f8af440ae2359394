import { ByteQueue } from '../../../stream/byte-queue.js'
import { Loop, type LoopInput } from '../../../stream/loop.js'
import type { BlockFormat } from './blocks.js'
import { AT_ONCE_BYTES } from './container.js'
import { RecordWriter } from './record-writer.js'

/** Encodes a blob into its stored form, one block at a time. */
export class Pack extends Loop {
  constructor(format: BlockFormat) {
    super((input) => pack(input, format))
  }
}

async function* pack(input: LoopInput, format: BlockFormat): AsyncGenerator<Buffer> {
  const { blockBytes } = format.header
  const blocks = new Blocks(format)
  const waiting = new ByteQueue()
  yield* blocks.begin()
  for await (const chunk of input) {
    waiting.add(chunk)
    while (waiting.sizeBytes >= blockBytes) yield* blocks.add(waiting.take(blockBytes))
  }
  if (waiting.sizeBytes > 0) yield* blocks.add(waiting.take(waiting.sizeBytes))
  yield* blocks.end()
}

/** Encodes a whole blob. Undefined if it is large. */
export const packAtOnce = (bytes: Buffer, format: BlockFormat): Buffer | undefined => {
  if (bytes.length > AT_ONCE_BYTES) return undefined
  const { blockBytes } = format.header
  const blocks = new Blocks(format)
  const parts = [...blocks.begin()]
  for (let at = 0; at < bytes.length; at += blockBytes) parts.push(...blocks.add(bytes.subarray(at, at + blockBytes)))
  parts.push(...blocks.end())
  return Buffer.concat(parts)
}

/** Blocks of one blob become records. Each call returns the bytes to write next. */
class Blocks {
  readonly #format: BlockFormat
  readonly #records: RecordWriter
  #position = 0

  constructor(format: BlockFormat) {
    this.#format = format
    this.#records = new RecordWriter(format.header)
  }

  begin(): readonly Buffer[] {
    return this.#records.begin()
  }

  add(block: Buffer): readonly Buffer[] {
    const { kind, parts } = this.#format.compress(block)
    const record = this.#records.markedRecord(this.#position, kind, ...parts)
    this.#position += block.length
    return record
  }

  end(): readonly Buffer[] {
    return this.#records.end(this.#position)
  }
}
