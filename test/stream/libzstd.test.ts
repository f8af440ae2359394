import { compress, init } from '@bokuweb/zstd-wasm'
import fc from 'fast-check'
import { decompress } from 'fzstd'
import t from 'tap'
import {
  CompressContext,
  CompressParameter,
  compressBound,
  DecompressContext,
  EndDirective,
} from '../../src/stream/compression/libzstd.js'
import { drawnBytes } from '../drawn.js'

await init()

/** Compressed in steps of `roomBytes` of output. */
const compressed = (context: CompressContext, pieces: readonly Buffer[], roomBytes: number): Buffer => {
  const made: Buffer[] = []
  const step = (rest: Buffer, directive: number): void => {
    for (;;) {
      const out = Buffer.alloc(roomBytes)
      const [left, produced, consumed] = context.compressStream(out, rest, directive)
      made.push(out.subarray(0, produced))
      rest = rest.subarray(consumed)
      if (rest.length === 0 && (directive === EndDirective.continue || left === 0)) return
    }
  }
  for (const piece of pieces) step(piece, EndDirective.continue)
  step(Buffer.alloc(0), EndDirective.end)
  return Buffer.concat(made)
}

const decompressed = (context: DecompressContext, bytes: Buffer, pieceBytes: number, roomBytes: number): Buffer => {
  const made: Buffer[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    let rest = bytes.subarray(at, at + pieceBytes)
    for (;;) {
      const out = Buffer.alloc(roomBytes)
      const [left, produced, consumed] = context.decompressStream(out, rest)
      made.push(out.subarray(0, produced))
      rest = rest.subarray(consumed)
      if (rest.length === 0 && (left === 0 || produced < roomBytes)) break
    }
  }
  return Buffer.concat(made)
}

/** Compressible bytes in chunks. */
const pieces = fc.array(
  fc.tuple(fc.uint8Array({ maxLength: 300 }), fc.integer({ min: 0, max: 500 })).map(([bytes, times]) => {
    return Buffer.concat(Array.from({ length: times % 50 }, () => bytes))
  }),
  { maxLength: 12 },
)

t.test('other zstd implementations read its frames, and it reads theirs', async (t) => {
  const compressor = new CompressContext()
  const decompressor = new DecompressContext()
  const level = fc.integer({ min: 1, max: 19 })
  const room = fc.integer({ min: 1, max: 5000 })
  fc.assert(
    fc.property(pieces, level, room, room, (parts, level, inBytes, outBytes) => {
      const content = Buffer.concat(parts)
      compressor.setParameter(CompressParameter.compressionLevel, level)
      if (!content.equals(decompress(compressed(compressor, parts, outBytes)))) return false
      const theirs = Buffer.from(compress(content, level))
      return decompressed(decompressor, theirs, inBytes, outBytes).equals(content)
    }),
    { numRuns: 200 },
  )
  t.pass()
})

t.test('a reset drops an unfinished stream', async (t) => {
  const frame = Buffer.from(compress(drawnBytes(1000), 1))
  const context = new DecompressContext()
  context.decompressStream(Buffer.alloc(10), frame.subarray(0, 500))
  context.reset()
  t.equal(decompressed(context, frame, 100, 100).length, 1000)
})

t.test('invalid zstd is a clear error and leaves the context usable', async (t) => {
  const context = new DecompressContext()
  const out = Buffer.alloc(1000)
  t.throws(() => context.decompressStream(out, Buffer.from('this is no frame')), { message: /Unknown frame/ })
  t.throws(() => context.decompress(out, Buffer.from('this is no frame')), { message: /Unknown frame/ })
  context.reset()
  t.equal(context.decompress(out, Buffer.from(compress(Buffer.alloc(1000), 1))), 1000)
  t.throws(() => context.decompress(Buffer.alloc(999), Buffer.from(compress(Buffer.alloc(1000), 1))), {
    message: /too small/,
  })
  t.throws(() => new CompressContext().setParameter(9999, 1), { message: /[Uu]nsupported parameter/ })
})

t.test('a closed context throws instead of using freed memory', async (t) => {
  const compressor = new CompressContext()
  const decompressor = new DecompressContext()
  for (const context of [compressor, decompressor, compressor]) context.close()
  const bytes = Buffer.alloc(10)
  for (const use of [
    () => compressor.compress(Buffer.alloc(compressBound(10)), bytes),
    () => compressor.compressStream(bytes, bytes, EndDirective.end),
    () => compressor.setParameter(CompressParameter.windowLog, 20),
    () => compressor.reset(),
    () => decompressor.decompress(bytes, bytes),
    () => decompressor.decompressStream(bytes, bytes),
    () => decompressor.reset(),
  ]) {
    t.throws(use, { message: /after its close/ })
  }
})
