import { Readable, Writable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { brotliCompressSync, constants, deflateRawSync, deflateSync } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { isStatus, StatusError } from '../../src/base/status-error.js'
import { compressors } from '../../src/reapi/compressor.js'
import type { BlobFeed } from '../../src/stream/blob/feed.js'
import { collect, deliver } from '../../src/stream/collect.js'
import { compressionOf } from '../../src/stream/compression/compression.js'
import { CompressContext, CompressParameter, compressBound } from '../../src/stream/compression/libzstd.js'
import { join } from '../../src/stream/join.js'
import { drawnBytes } from '../drawn.js'
import { cut, LentFeed } from '../store/blobs.js'
import { during } from '../until.js'

const signal = new AbortController().signal
const limits = { maxBytes: 64 * 1024 * 1024, signal }

const inChunks = (bytes: Buffer, chunkBytes: number): Readable => {
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes))
  return Readable.from(chunks, { objectMode: false })
}

const named = (name: string) => {
  const compressor = compressors.find((candidate) => candidate.name === name)
  if (compressor === undefined) throw new Error(name)
  return compressionOf(compressor)
}

const decode = (name: string, bytes: Buffer, chunkBytes = 64 * 1024): Promise<Buffer> =>
  collect([inChunks(bytes, chunkBytes), named(name).decompress()], limits)

/** Decodes lent frames whose buffer is overwritten after each chunk. */
const decodeLent = async (bytes: Buffer, chunkBytes: number): Promise<Buffer> => {
  const pieces: Buffer[] = []
  await lentZstd(new LentFeed(cut(bytes, [chunkBytes]))).into((piece) => {
    pieces.push(Buffer.from(piece))
    piece.fill(0xee)
    return undefined
  })
  return Buffer.concat(pieces)
}

const lentZstd = (feed: BlobFeed): BlobFeed => {
  const content = named('ZSTD').decompressFeed?.(feed)
  if (content === undefined) throw new Error('zstd that is lent goes through the stage')
  return content
}

const refused = async (t: Test, name: string, bytes: Buffer, title: string): Promise<void> => {
  const ways =
    name === 'ZSTD' ? { decode: decode.bind(undefined, name), decodeLent } : { decode: decode.bind(undefined, name) }
  for (const [way, decoded] of Object.entries(ways)) {
    for (const chunkBytes of [1, 7, 64 * 1024]) {
      const reason = await decoded(bytes, chunkBytes).then(
        () => 'accepted',
        (error: unknown) => (isStatus(error, 'INVALID_ARGUMENT') ? error.message : String(error)),
      )
      t.match(reason, /^the bytes sent are not valid/, `${name}, ${way}: ${title}, chunks of ${chunkBytes}`)
    }
  }
}

const zstdFrame = (bytes: Buffer, set: (context: CompressContext) => void = () => {}): Buffer => {
  const context = new CompressContext()
  set(context)
  const out = Buffer.alloc(compressBound(bytes.length))
  return out.subarray(0, context.compress(out, bytes))
}

t.test('compressed content is restored, by stage and synchronously, in chunks of any size', async (t) => {
  const blobs = [Buffer.alloc(0), Buffer.from('a'), drawnBytes(300_000), Buffer.alloc(3_000_000, 'text ')]
  for (const { name } of compressors) {
    for (const blob of blobs) {
      const staged = await collect([inChunks(blob, 100_000), named(name).compress()], limits)
      const atOnce = named(name).compressBytes(blob)
      for (const compressed of [staged, Buffer.from(atOnce)]) {
        t.ok((await decode(name, compressed)).equals(blob), `${name} of ${blob.length} bytes`)
        t.ok((await decode(name, compressed, 997)).equals(blob), `${name} of ${blob.length} bytes in small chunks`)
      }
    }
  }
})

t.test('any bytes survive any chunking', async () => {
  const cases = [fc.constantFrom(...compressors), fc.uint8Array({ maxLength: 2000 }), fc.integer({ min: 1, max: 64 })]
  await fc.assert(
    fc.asyncProperty(
      ...(cases as [fc.Arbitrary<(typeof compressors)[number]>, fc.Arbitrary<Uint8Array>, fc.Arbitrary<number>]),
      async (compressor, bytes, chunkBytes) => {
        const { compress, decompress } = compressionOf(compressor)
        const back = await collect([inChunks(Buffer.from(bytes), chunkBytes), compress(), decompress()], limits)
        return back.equals(bytes)
      },
    ),
    { numRuns: 60 },
  )
})

t.test('a decoder continues with its reader if the input ends while the reader is full', async (t) => {
  const data = Buffer.from(drawnBytes(1024 * 1024).toString('hex'))
  for (const compressor of compressors) {
    const wire = compressionOf(compressor).compressBytes(data)
    const chunks: Buffer[] = []
    for (let at = 0; at < wire.length; at += 64 * 1024) chunks.push(wire.subarray(at, at + 64 * 1024))
    let sizeBytes = 0
    const slow = new Writable({
      write(chunk: Buffer, _encoding, callback) {
        sizeBytes += chunk.length
        setImmediate(callback)
      },
    })
    const source = Readable.from(chunks, { objectMode: false })
    await join([source, compressionOf(compressor).decompress(), slow], AbortSignal.timeout(10_000))
    t.equal(sizeBytes, data.length, compressor.name)
  }
})

t.test('CMP-06: zstd of several frames, without content size, with skippable frames, of any level', async (t) => {
  const a = Buffer.alloc(200_000, 'one ')
  const b = drawnBytes(15_000)
  const skippable = Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0]), Buffer.from('xyz')])
  const sizeless = (context: CompressContext) => context.setParameter(CompressParameter.contentSizeFlag, 0)
  const level = (value: number) => (context: CompressContext) =>
    context.setParameter(CompressParameter.compressionLevel, value)
  const frames = [zstdFrame(a, sizeless), skippable, zstdFrame(b, level(19)), zstdFrame(Buffer.alloc(0)), skippable]
  for (const chunkBytes of [1, 1000, 1_000_000]) {
    const back = await decode('ZSTD', Buffer.concat(frames), chunkBytes)
    t.ok(back.equals(Buffer.concat([a, b])), `in chunks of ${chunkBytes}`)
    const lent = await decodeLent(Buffer.concat(frames), chunkBytes)
    t.ok(lent.equals(back), `lent in chunks of ${chunkBytes}`)
  }
  t.ok((await decode('ZSTD', zstdFrame(a, level(22)))).equals(a), 'the highest level')
  t.equal((await decode('ZSTD', Buffer.alloc(0))).length, 0, 'no frame at all is no bytes')
})

t.test('a frame with a window above 8 MiB is refused before its window is allocated', async (t) => {
  const content = Buffer.alloc(9 * 1024 * 1024, 'text ')
  const withWindow =
    (windowLog: number) =>
    (context: CompressContext): void => {
      context.setParameter(CompressParameter.contentSizeFlag, 0)
      context.setParameter(CompressParameter.windowLog, windowLog)
    }
  t.ok((await decode('ZSTD', zstdFrame(content, withWindow(23)))).equals(content), 'windowLog 23')
  for (const windowLog of [24, 27]) {
    const large = zstdFrame(content, withWindow(windowLog))
    for (const decoded of [() => decode('ZSTD', large), () => decodeLent(large, 1000)]) {
      const reason = await decoded().then(
        () => 'accepted',
        (error: unknown) => (isStatus(error, 'INVALID_ARGUMENT') ? error.message : String(error)),
      )
      t.match(reason, /a frame needs a larger window than 8388608 bytes, expected windowLog 23 at most/)
    }
  }
})

t.test('synchronous decoding accepts only content of the exact length', async (t) => {
  const { decompressBytes = () => undefined } = named('ZSTD')
  const blob = Buffer.concat([Buffer.alloc(5000, 'text '), drawnBytes(5000)])
  const frame = zstdFrame(blob)
  t.ok(decompressBytes(frame, blob.length)?.equals(blob))
  t.ok(decompressBytes(Buffer.concat([frame, frame]), 2 * blob.length)?.equals(Buffer.concat([blob, blob])))
  for (const [title, bytes, sizeBytes] of [
    ['shorter', frame, blob.length + 1],
    ['longer', frame, blob.length - 1],
    ['cut', frame.subarray(0, -1), blob.length],
    ['followed by garbage', Buffer.concat([frame, Buffer.from('garbage')]), blob.length],
    ['garbage', blob, blob.length],
    ['a bomb', zstdFrame(Buffer.alloc(64 * 1024 * 1024)), 1000],
    ['nothing', Buffer.alloc(0), 1000],
  ] as const) {
    t.equal(decompressBytes(bytes, sizeBytes), undefined, title)
    t.ok(decompressBytes(frame, blob.length)?.equals(blob), `whole after ${title}`)
  }
})

t.test('CMP-07, BUB-11: truncated, corrupt, and followed by garbage', async (t) => {
  const blob = Buffer.concat([Buffer.alloc(5000, 'text '), drawnBytes(5000)])
  const whole = {
    ZSTD: zstdFrame(blob, (context) => context.setParameter(CompressParameter.checksumFlag, 1)),
    DEFLATE: deflateRawSync(blob),
    BROTLI: brotliCompressSync(blob),
  }
  for (const [name, bytes] of Object.entries(whole)) {
    await refused(t, name, bytes.subarray(0, bytes.length - 4), 'cut at the end')
    await refused(t, name, bytes.subarray(0, 20), 'cut early')
    await refused(t, name, Buffer.concat([bytes, Buffer.from('garbage')]), 'trailing garbage')
    await refused(t, name, Buffer.from('this is no compressed data at all, whatever it claims'), 'garbage')
  }
  const flipped = Buffer.from(whole.ZSTD)
  flipped[3000] = (flipped[3000] ?? 0) ^ 0xff
  await refused(t, 'ZSTD', flipped, 'a flipped byte under a checksum')
})

t.test('CMP-17: deflate is raw: a zlib header is rejected', async (t) => {
  await refused(t, 'DEFLATE', deflateSync(Buffer.from('hello')), 'zlib header')
})

t.test('CMP-08, BUB-12: a decoder produces no more than its reader consumes', async (t) => {
  const zeros = Buffer.alloc(64 * 1024 * 1024)
  const bombs = {
    ZSTD: zstdFrame(zeros),
    DEFLATE: deflateRawSync(zeros, { level: 9 }),
    BROTLI: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  }
  for (const [name, bytes] of Object.entries(bombs)) {
    const decoder = named(name).decompress()
    decoder.write(bytes)
    await new Promise((resolve) => decoder.once('readable', resolve))
    // All background work is done when no callback is scheduled any more.
    for (let turns = 0; turns < 50; turns++) await turn()
    t.ok(decoder.readableLength <= 1024 * 1024, `${name}: ${decoder.readableLength} bytes wait for a reader`)
    decoder.destroy()
    const error = await collect([inChunks(bytes, 1_000_000), named(name).decompress()], { maxBytes: 10, signal }).catch(
      (thrown: unknown) => thrown,
    )
    t.ok(error instanceof StatusError && isStatus(error, 'RESOURCE_EXHAUSTED'), `${name}: stops at the first bytes`)
  }
})

t.test('a zstd feed discarded while its content is being consumed does not disturb others', async (t) => {
  const blob = Buffer.concat([drawnBytes(200_000), Buffer.alloc(200_000, 'text ')])
  const waiting: (() => void)[] = []
  const begin = (feed: BlobFeed): { readonly pieces: Buffer[]; readonly over: Promise<unknown> } => {
    const pieces: Buffer[] = []
    const take = async (piece: Buffer): Promise<void> => {
      if (pieces.length === 0) await new Promise<void>((resolve) => waiting.push(resolve))
      pieces.push(Buffer.from(piece))
    }
    return { pieces, over: feed.into(take).catch(() => 'given up') }
  }
  const first = lentZstd(new LentFeed([zstdFrame(blob)]))
  const givenUp = begin(first)
  first.discard()
  for (let turns = 0; turns < 5; turns++) await turn()
  const whole = begin(lentZstd(new LentFeed([zstdFrame(blob)])))
  t.equal(waiting.length, 2)
  waiting[0]?.()
  t.equal(await givenUp.over, 'given up')
  for (let turns = 0; turns < 5; turns++) await turn()
  waiting[1]?.()
  await whole.over
  t.ok(Buffer.concat(whole.pieces).equals(blob))
  t.equal(givenUp.pieces.length, 1, 'no more is made of what was given up')
})

t.test('a small feed that decodes to many bytes does not block the event loop', async (t) => {
  let turns = 0
  let sizeBytes = 0
  const decoding = lentZstd(new LentFeed([zstdFrame(Buffer.alloc(256 * 1024 * 1024))])).into((piece) => {
    sizeBytes += piece.length
    return undefined
  })
  await during(decoding, () => {
    turns += 1
  })
  t.equal(sizeBytes, 256 * 1024 * 1024)
  t.ok(turns > 5, `${turns} turns`)
})

t.test('an abandoned or failed stage does not affect the next one', async (t) => {
  const blob = Buffer.alloc(1_000_000, 'more text ')
  for (const { name } of compressors) {
    for (let round = 0; round < 12; round++) {
      const compress = named(name).compress()
      compress.write(blob.subarray(0, 100 + round))
      compress.destroy()
      const decompress = named(name).decompress()
      const failure = deliver(Buffer.from('garbage garbage garbage'), [decompress], signal).catch(() => 'failed')
      decompress.resume()
      t.equal(await failure, 'failed')
    }
    const back = await collect([inChunks(blob, 50_000), named(name).compress(), named(name).decompress()], limits)
    t.ok(back.equals(blob), name)
  }
})
