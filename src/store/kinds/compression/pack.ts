import { ByteQueue } from '../../../stream/byte-queue.js'
import { Loop, type LoopInput } from '../../../stream/loop.js'
import type { BlockFormat } from './blocks.js'
import { RecordWriter } from './record-writer.js'

/** Encodes a blob into its stored form, one block at a time. */
export class Pack extends Loop {
  constructor(format: BlockFormat) {
    super((input) => pack(input, format))
  }
}

async function* pack(input: LoopInput, format: BlockFormat): AsyncGenerator<Buffer> {
  const { blockBytes } = format.header
  const records = new RecordWriter(format.header)
  const waiting = new ByteQueue()
  let position = 0
  const packed = (sizeBytes: number): readonly Buffer[] => {
    const { kind, parts } = format.compress(waiting.take(sizeBytes))
    const record = records.markedRecord(position, kind, ...parts)
    position += sizeBytes
    return record
  }
  yield* records.begin()
  for await (const chunk of input) {
    waiting.add(chunk)
    while (waiting.sizeBytes >= blockBytes) yield* packed(blockBytes)
  }
  if (waiting.sizeBytes > 0) yield* packed(waiting.sizeBytes)
  yield* records.end(position)
}
