import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { putBytes, type Store } from '../../../../src/blobs/store.js'
import type { Zstd } from '../../../../src/config/config.js'
import { encodeHeader, encodeRecordHead } from '../../../../src/store/kinds/compression/container.js'
import { compression } from '../../../../src/store/kinds/compression/kind.js'
import { RecordWriter } from '../../../../src/store/kinds/compression/record-writer.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { CompressContext, CompressParameter, compressBound } from '../../../../src/stream/compression/libzstd.js'
import { bytesOf, call, cut, digestOf, get, isPresent, put } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { rejects } from '../../suite.js'
import { Watched } from '../../watched.js'
import { unpack, upload, wire, zstdStore } from './zstd-store.js'

const KIB = 1024
const MIB = 1024 * KIB
const BLOCK = 64 * KIB

type Context = CompressContext

const frame = (bytes: Buffer, ...parameters: [number, number][]): Buffer => {
  const context: Context = new CompressContext()
  for (const [parameter, value] of parameters) context.setParameter(parameter, value)
  const out = Buffer.alloc(compressBound(bytes.length))
  return out.subarray(0, context.compress(out, bytes))
}

/** As streaming clients do: one frame without a content size. */
const streamed = (bytes: Buffer): Buffer => frame(bytes, [CompressParameter.contentSizeFlag, 0])

const skippable = (sizeBytes: number): Buffer => {
  const head = Buffer.from([0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0])
  head.writeUInt32LE(sizeBytes, 4)
  return Buffer.concat([head, Buffer.alloc(sizeBytes)])
}

t.test('plain uploads are read compressed as stored, and compressed uploads are read plain', async (t) => {
  const backend = await memoryStore()
  const store = await zstdStore(backend)
  for (const sizeBytes of [1, 1000, BLOCK, BLOCK + 1, 3 * MIB + 5]) {
    const bytes = bytesOf(sizeBytes)
    const digest = digestOf(bytes)
    await put(store, digest, bytes)
    const stored = await get(backend, digest)
    const sent = await wire(store, digest)
    t.ok((await unpack(sent)).equals(bytes), `${sizeBytes} bytes come back compressed`)
    t.ok(sent.length < stored.length)
    if (sizeBytes <= BLOCK) t.ok(stored.includes(sent), 'nothing was compressed for it')
    const other = bytesOf(sizeBytes, 'up')
    await upload(store, digestOf(other), streamed(other))
    t.ok((await get(store, digestOf(other))).equals(other), `${sizeBytes} bytes came compressed`)
  }
})

t.test('a frame from a client is returned byte for byte', async (t) => {
  const store = await zstdStore(await memoryStore())
  const bytes = bytesOf(5 * MIB)
  const digest = digestOf(bytes)
  for (const made of [streamed(bytes), frame(bytes), frame(bytes, [CompressParameter.compressionLevel, 9])]) {
    for (const sizes of [[1, 17, 100_000], [16 * KIB], [4 * MIB]]) {
      await store.remove(digest, 'unwanted', call)
      await upload(store, digest, made, { sizes })
      t.ok((await wire(store, digest)).equals(made), `in chunks of ${sizes}`)
      t.ok((await get(store, digest)).equals(bytes))
      const part = await get(store, digest, { offset: 2 * MIB + 1, limit: 100_000 })
      t.ok(part.equals(bytes.subarray(2 * MIB + 1, 2 * MIB + 100_001)))
    }
  }
})

t.test('frames that are expensive to read are compressed again', async (t) => {
  const backend = await memoryStore()
  const bytes = Buffer.concat([...Array(3).keys()].map((i) => bytesOf(100_000, `noise ${i}`)))
  const tiny = cut(bytes, [40]).map((piece) => frame(piece))
  const cases: [string, Buffer, Buffer, Partial<Zstd>][] = [
    ['long frames', bytes, frame(bytes), { max_uploaded_frame_size: 200_000 }],
    ['frames that do not tell their length', bytes, streamed(bytes), { max_uploaded_frame_size: 200_000 }],
    ['all frames, where the configuration says so', bytes, frame(bytes), { max_uploaded_frame_size: 0 }],
    ['tiny frames', bytes, Buffer.concat(tiny), {}],
    ['skippable frames', bytes, Buffer.concat([skippable(300_000), frame(bytes), skippable(MIB)]), {}],
  ]
  for (const [title, blob, made, settings] of cases) {
    const store = await zstdStore(backend, settings)
    const digest = digestOf(blob)
    await upload(store, digest, made)
    const sent = await wire(store, digest)
    t.ok((await unpack(sent)).equals(blob), title)
    t.notOk(sent.equals(made), 'is not what was sent')
    t.ok(sent.length < 100 * KIB + bytes.length, `${title}: ${sent.length} bytes for ${made.length}`)
    t.ok((await get(store, digest)).equals(blob))
    t.ok((await get(store, digest, { offset: 250_000, limit: 9 })).equals(blob.subarray(250_000, 250_009)))
  }
})

t.test('an upload with a window above 8 MiB is rejected and leaves nothing', async (t) => {
  const backend = await memoryStore()
  const store = await zstdStore(backend, { max_uploaded_frame_size: 100 * MIB })
  const large = Buffer.alloc(9 * MIB, 'text ')
  const digest = digestOf(large)
  await t.rejects(upload(store, digest, frame(large, [CompressParameter.windowLog, 24])), {
    message: /needs a larger window than 8388608 bytes/,
  })
  t.notOk(await isPresent(backend, digest))
})

t.test('frames of every kind in any order, split anywhere', async (t) => {
  const store = await zstdStore(await memoryStore(), { max_uploaded_frame_size: 50_000 })
  const frames = fc.array(
    fc.record({
      sizeBytes: fc.oneof(fc.nat(300), fc.nat(200_000)),
      form: fc.constantFrom('sized', 'streamed', 'skippable', 'checked'),
    }),
    { maxLength: 6 },
  )
  const holds = fc.asyncProperty(
    frames,
    fc.array(fc.integer({ min: 1, max: 70_000 }), { minLength: 1, maxLength: 4 }),
    fc.double({ min: 0, max: 1, noNaN: true }),
    async (parts, sizes, from) => {
      const contents: Buffer[] = []
      const made = parts.map(({ sizeBytes, form }, index) => {
        if (form === 'skippable') return skippable(sizeBytes)
        const content = bytesOf(sizeBytes, `${index}`)
        contents.push(content)
        if (form === 'streamed') return streamed(content)
        return form === 'checked' ? frame(content, [CompressParameter.checksumFlag, 1]) : frame(content)
      })
      const bytes = Buffer.concat(contents)
      const digest = digestOf(bytes)
      const added = bytes.length > 5000 ? 500 : 0
      await upload(store, digest, Buffer.concat(made), { sizes: sizes.map((size) => size + added) })
      if (!(await unpack(await wire(store, digest))).equals(bytes)) return false
      const offset = Math.floor(from * bytes.length)
      const part = await get(store, digest, { offset, limit: 1000 })
      return part.equals(bytes.subarray(offset, offset + 1000)) && (await get(store, digest)).equals(bytes)
    },
  )
  await t.resolves(fc.assert(holds, { numRuns: 60 }))
})

t.test('an upload that is not the blob is INVALID_ARGUMENT and leaves nothing', async (t) => {
  const store = await zstdStore(await memoryStore())
  const bytes = bytesOf(MIB)
  const digest = digestOf(bytes)
  const whole = frame(bytes)
  const flipped = Buffer.from(whole)
  flipped[500_000] = (flipped[500_000] ?? 0) ^ 1
  const cases: [string, Buffer][] = [
    ['other content', frame(bytesOf(MIB, 'other'))],
    ['shorter content', frame(bytes.subarray(1))],
    ['longer content', Buffer.concat([whole, frame(Buffer.from('x'))])],
    ['a bomb', frame(Buffer.alloc(256 * MIB))],
    ['no zstd', bytes],
    ['nothing', Buffer.alloc(0)],
    ['cut', whole.subarray(0, whole.length - 1)],
    ['cut in the header', whole.subarray(0, 3)],
    ['trailing garbage', Buffer.concat([whole, Buffer.from('garbage')])],
    ['a flipped bit', flipped],
    ['mostly empty blocks', Buffer.concat([whole.subarray(0, 9), Buffer.alloc(6 * MIB), whole.subarray(9)])],
    ['a frame of empty blocks without end', Buffer.concat([whole.subarray(0, 9), Buffer.alloc(6 * MIB)])],
  ]
  for (const [title, made] of cases) {
    for (const sizes of [[64 * KIB], [8 * MIB], [1, 100_000]]) {
      await rejects(t, upload(store, digest, made, { sizes }), 'INVALID_ARGUMENT')
      t.notOk(await isPresent(store, digest), title)
    }
  }
  await upload(store, digest, whole)
  t.ok((await get(store, digest)).equals(bytes))
})

t.test('nor is a small one that has all come: it is INVALID_ARGUMENT and leaves nothing', async (t) => {
  const backend = await memoryStore()
  const store = await zstdStore(backend)
  const bytes = bytesOf(5000)
  const digest = digestOf(bytes)
  const whole = frame(bytes)
  const flipped = Buffer.from(whole)
  flipped[500] = (flipped[500] ?? 0) ^ 1
  const atOnce = (made: Buffer): Promise<void> => {
    const blob = Blob.ofBytes(made, { encoding: 'ZSTD' }).as('IDENTITY', digest.sizeBytes)
    return store.put(digest, blob.verify(digest, { fault: 'client' }), call)
  }
  const cases: Readonly<Record<string, Buffer>> = {
    'other content': frame(bytesOf(5000, 'other')),
    'shorter content': frame(bytes.subarray(1)),
    'longer content': Buffer.concat([whole, frame(Buffer.from('x'))]),
    'a bomb': frame(Buffer.alloc(256 * MIB)),
    'a bomb that does not say so': streamed(Buffer.alloc(256 * MIB)),
    'no zstd': bytes,
    nothing: Buffer.alloc(0),
    cut: whole.subarray(0, whole.length - 1),
    'cut in the header': whole.subarray(0, 3),
    'trailing garbage': Buffer.concat([whole, Buffer.from('garbage')]),
    'a flipped bit': flipped,
  }
  for (const [title, made] of Object.entries(cases)) {
    await rejects(t, atOnce(made), 'INVALID_ARGUMENT')
    t.notOk(await isPresent(backend, digest), title)
  }
  for (const made of [whole, streamed(bytes), Buffer.concat([skippable(20), whole, skippable(0)])]) {
    await atOnce(made)
    t.ok((await get(store, digest)).equals(bytes))
    t.ok((await unpack(await wire(store, digest))).equals(bytes))
    await store.remove(digest, 'unwanted', call)
  }
})

const lz4 = (backend: Store): Promise<Store> =>
  buildStore(
    compression,
    { backend: given, compression_algorithm: { lz4: { block_size: BLOCK, max_decode_block_size: 0 } } },
    { children: { backend } },
  )

const readsParts = async (t: Test, wrap: (backend: Store) => Promise<Store>): Promise<void> => {
  const backend = new Watched(await memoryStore())
  const store = await wrap(backend)
  const bytes = bytesOf(24 * MIB)
  const digest = digestOf(bytes)
  await put(store, digest, bytes)
  for (const [offset, limit] of [
    [20 * MIB, 10],
    [12 * MIB - 1, BLOCK + 2],
    [24 * MIB - 5, Number.POSITIVE_INFINITY],
  ] as const) {
    const before = backend.readBytes
    t.ok((await get(store, digest, { offset, limit })).equals(bytes.subarray(offset, offset + limit)))
    const costBytes = backend.readBytes - before
    t.ok(costBytes < MIB, `${costBytes} stored bytes were read for ${limit} from ${offset}`)
  }
  await rejects(t, get(store, digest, { offset: 24 * MIB + 1, limit: 1 }), 'OUT_OF_RANGE')
  t.equal((await get(store, digest, { offset: 24 * MIB, limit: 1 })).length, 0)
}

t.test('a part of a zstd blob is read without the bytes before it', (t) => readsParts(t, zstdStore))
t.test('a part of an lz4 blob is read without the bytes before it', (t) => readsParts(t, lz4))

t.test('a blob damaged where a range begins is DATA_LOSS once and then a miss', async (t) => {
  const backend = await memoryStore()
  const store = await zstdStore(backend)
  const bytes = bytesOf(5 * MIB)
  const digest = digestOf(bytes)
  await put(store, digest, bytes)
  const torn = Buffer.from(await get(backend, digest)).fill(7, 1_000_000, 2_600_000)
  await putBytes(backend, digest, torn, call)
  await rejects(t, get(store, digest, { offset: 3 * MIB, limit: 5 }), 'DATA_LOSS')
  t.notOk(await isPresent(store, digest))
})

t.test('a blob replaced between reading its index and its records is not reported as damaged', async (t) => {
  const backend = await memoryStore()
  const bytes = bytesOf(5 * MIB)
  const digest = digestOf(bytes)
  await put(await zstdStore(backend), digest, bytes)
  const replacing = new (class extends Watched {
    override async get(...asked: Parameters<Store['get']>): Promise<Blob> {
      if (this.reads === 1) await put(await zstdStore(backend, { block_size: 8 * KIB, level: 9 }), digest, bytes)
      return super.get(...asked)
    }
  })(backend)
  const found = await get(await zstdStore(replacing), digest, { offset: 3 * MIB, limit: 5 }).catch(() => undefined)
  t.ok(found === undefined || found.equals(bytes.subarray(3 * MIB, 3 * MIB + 5)), 'never other bytes')
  t.ok(await isPresent(backend, digest))
})

t.test('blobs of the other algorithm stay readable, in both forms', async (t) => {
  const backend = await memoryStore()
  const bytes = bytesOf(MIB + 1)
  const digest = digestOf(bytes)
  await put(await lz4(backend), digest, bytes)
  const store = await zstdStore(backend)
  t.ok((await get(store, digest)).equals(bytes))
  t.ok((await unpack(await wire(store, digest))).equals(bytes))
  await put(await zstdStore(backend, { block_size: MIB }), digest, bytes)
  t.ok((await get(await lz4(backend), digest)).equals(bytes))
  t.same((await lz4(backend)).properties.encodings, [])
})

t.test('a block that decodes to another length than it claims is damage', async (t) => {
  const backend = await memoryStore()
  const store = await zstdStore(backend)
  const bytes = Buffer.alloc(BLOCK, 'a')
  const digest = digestOf(bytes)
  const forge = (claimedBytes: number, made: Buffer): Buffer => {
    const length = Buffer.alloc(4)
    length.writeUInt32LE(claimedBytes)
    const header = encodeHeader({ algorithm: 'zstd', blockBytes: BLOCK })
    return Buffer.concat([header, encodeRecordHead('compressed', length, made), length, made])
  }
  for (const [claimedBytes, made] of [
    [0xffff_ffff, frame(bytes)],
    [BLOCK + 1, frame(bytes)],
    [0, frame(bytes)],
    [100, frame(bytes)],
    [BLOCK, frame(bytes.subarray(1))],
    [BLOCK, frame(bytes).subarray(0, 10)],
    [BLOCK, Buffer.alloc(500, 0xa5)],
  ] as const) {
    await putBytes(backend, digest, forge(claimedBytes, made), call)
    await rejects(t, get(store, digest), 'DATA_LOSS')
    t.notOk(await isPresent(backend, digest), `${claimedBytes}`)
  }
})

t.test('a block whose frame needs a larger window than the block is not decoded', async (t) => {
  const backend = await memoryStore()
  const store = await zstdStore(backend)
  const bytes = Buffer.alloc(BLOCK, 'a')
  const digest = digestOf(bytes)
  const stored = (made: Buffer): Buffer => {
    const records = new RecordWriter({ algorithm: 'zstd', blockBytes: BLOCK })
    const length = Buffer.alloc(4)
    length.writeUInt32LE(BLOCK)
    return Buffer.concat([
      ...records.begin(),
      ...records.markedRecord(0, 'compressed', length, made),
      ...records.end(BLOCK),
    ])
  }
  await putBytes(backend, digest, stored(frame(bytes)), call)
  t.ok((await get(store, digest)).equals(bytes))
  // A window of 8 MiB, and one block that repeats a byte.
  const wide = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 13 << 3, 0x03, 0x00, 0x08, 0x61])
  t.ok((await unpack(wide)).equals(bytes), 'which is the blob')
  await putBytes(backend, digest, stored(wide), call)
  await t.rejects(get(store, digest), { message: /needs a window of 8388608 bytes, expected at most 65536/ })
})

t.test('an unknown format is DATA_LOSS and then a miss', async (t) => {
  const backend = await memoryStore()
  const store = await zstdStore(backend)
  const bytes = bytesOf(MIB)
  const digest = digestOf(bytes)
  const forms = [
    ['version', 4, 0],
    ['version', 4, 1],
    ['version', 4, 3],
    ['algorithm', 5, 0],
    ['algorithm', 5, 3],
  ] as const
  for (const [field, at, value] of forms) {
    await put(store, digest, bytes)
    const stored = Buffer.from(await get(backend, digest))
    stored[at] = value
    stored.writeUInt32LE(crc32(stored.subarray(0, 12)), 12)
    await putBytes(backend, digest, stored, call)
    await rejects(t, get(store, digest), 'DATA_LOSS')
    t.notOk(await isPresent(store, digest), `${field} ${value}`)
  }
})

t.test('a part that is wanted as zstd is that part, not the stored frames, also from the beginning', async (t) => {
  const store = await zstdStore(await memoryStore())
  const bytes = bytesOf(3 * BLOCK)
  const digest = digestOf(bytes)
  await put(store, digest, bytes)
  for (const [offset, limit] of [
    [0, 10],
    [10, Number.POSITIVE_INFINITY],
  ] as const) {
    const blob = await store.get(digest, { offset, limit, wantedAs: 'ZSTD' }, call)
    const sent = await blob.as('ZSTD').bytes(1e9, call)
    t.ok((await unpack(sent)).equals(bytes.subarray(offset, offset + limit)), `${limit} bytes from ${offset}`)
  }
})
