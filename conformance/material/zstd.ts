/** zstd for the suite, by two implementations; the server uses neither. */
import { compress as encode, init } from '@bokuweb/zstd-wasm'
import { Decompress, decompress as decode } from 'fzstd'

await init()

/** One frame. */
export const compress = (bytes: Uint8Array, level = 3): Buffer => Buffer.from(encode(bytes, level))

/** The content of all frames; throws if the bytes are invalid or end inside a frame. */
export const decompress = (bytes: Uint8Array): Buffer => Buffer.from(decode(bytes))

const MAGIC_AND_WINDOW = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50])
const MOST_BLOCK_BYTES = 128 << 10

/** One frame, streamed as raw blocks (RFC 8878 section 3.1.1.2), for content too large to hold. */
export function* framed(pieces: Iterable<{ readonly bytes: Buffer; readonly isLast: boolean }>): Generator<Buffer> {
  yield MAGIC_AND_WINDOW
  for (const { bytes, isLast } of pieces) {
    const parts: Buffer[] = []
    for (let at = 0; at < bytes.length; at += MOST_BLOCK_BYTES) {
      const block = bytes.subarray(at, at + MOST_BLOCK_BYTES)
      const head = Buffer.alloc(3)
      head.writeUIntLE(block.length * 8 + (isLast && at + block.length === bytes.length ? 1 : 0), 0, 3)
      parts.push(head, block)
    }
    yield Buffer.concat(parts)
  }
}

/** Decodes frames that arrive in arbitrary pieces; both functions throw if the bytes are invalid. */
export const decompressor = (take: (bytes: Buffer) => void): { push(bytes: Uint8Array): void; end(): void } => {
  const stream = new Decompress((bytes) => take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)))
  return {
    push: (bytes) => stream.push(bytes),
    end: () => stream.push(new Uint8Array(), true),
  }
}

/** A frame of a few KiB that expands to this many MiB of zeros, in RLE blocks. */
export const zstdBomb = (mebibytes: number): Buffer => {
  const count = mebibytes * 8
  const blocks = Array.from({ length: count }, (_, at) => {
    const block = Buffer.alloc(4)
    block.writeUIntLE(MOST_BLOCK_BYTES * 8 + 2 + (at === count - 1 ? 1 : 0), 0, 3)
    return block
  })
  return Buffer.concat([MAGIC_AND_WINDOW, ...blocks])
}
