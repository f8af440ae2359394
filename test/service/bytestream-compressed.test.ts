import t, { type Test } from 'tap'
import { type Compressor, compressors } from '../../src/reapi/compressor.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { asCas } from '../../src/store/view/cas.js'
import { collect } from '../../src/stream/collect.js'
import { compressionOf } from '../../src/stream/compression/compression.js'
import { drawnBytes } from '../drawn.js'
import { collect as collectCall } from '../server/client.js'
import { zstdStore } from '../store/kinds/compression/zstd-store.js'
import { until } from '../until.js'
import { messagesOf, openWrite, query, read, readBlob, uploadName, uploadWhole, write } from './bytestream-client.js'
import { inChunks } from './faulty-store.js'
import {
  BLAKE3,
  type Blob,
  BYTE_STREAM,
  blobOf,
  failure,
  get,
  has,
  MIB,
  memoryStore,
  put,
  randomBlob,
  serve,
} from './harness.js'

const unpack = (compressor: Compressor, bytes: Buffer): Promise<Buffer> =>
  collect([inChunks(bytes, 64 * 1024), compressionOf(compressor).decompress()], {
    maxBytes: 64 * MIB,
    signal: new AbortController().signal,
  })

/** Half text, half noise, so that compression has some effect, but not an extreme one. */
const mixed = (sizeBytes: number): Blob =>
  blobOf(Buffer.concat([drawnBytes(Math.ceil(sizeBytes / 2)), Buffer.alloc(Math.floor(sizeBytes / 2), 'some text ')]))

const each = (title: string, body: (t: Test, compressor: Compressor) => Promise<void>): void => {
  for (const compressor of compressors) t.test(`${title} (${compressor.segment})`, (t) => body(t, compressor))
}

each(
  'CMP-01, CMP-04, CMP-05, CMP-10, CMP-14, CMP-17, CMP-18: up compressed, down in every form',
  async (t, compressor) => {
    const { client } = await serve(t)
    for (const [sizeBytes, chunkBytes] of [
      [10, 100],
      [3 * MIB, 64 * 1024],
      [3 * MIB, MIB],
      [50_000, 777],
    ] as const) {
      const blob = mixed(sizeBytes)
      const packed = compressionOf(compressor).compressBytes(blob.bytes)
      const name = `${uploadName(blob.digest, { compressor })}/meta/data`
      t.equal(
        (await write(client, messagesOf(name, packed, chunkBytes))).committedSize,
        packed.length,
        'CMP-04: the number of sent bytes',
      )
      t.ok((await readBlob(client, blob.digest)).equals(blob.bytes), 'CMP-14: uncompressed')
      for (const other of compressors) {
        t.ok(
          (await unpack(other, await readBlob(client, blob.digest, other))).equals(blob.bytes),
          `CMP-14: as ${other.segment}`,
        )
      }
    }
    const gap = mixed(100_000)
    const [first, second] = messagesOf(
      uploadName(gap.digest, { compressor }),
      compressionOf(compressor).compressBytes(gap.bytes),
      30_000,
    )
    t.equal(
      (await failure(write(client, [first ?? {}, { ...second, writeOffset: 40_000 }]))).code,
      'INVALID_ARGUMENT',
      'CMP-05',
    )
  },
)

each('CMP-02, CMP-07, CMP-08: content that is not the blob', async (t, compressor) => {
  const { client, cas } = await serve(t)
  const blob = mixed(200_000)
  const { compressBytes } = compressionOf(compressor)
  const packed = compressBytes(blob.bytes)
  const bodies: [string, Buffer][] = [
    ['other content', compressBytes(mixed(200_000).bytes)],
    ['shorter content', compressBytes(blob.bytes.subarray(1))],
    ['a bomb', compressBytes(Buffer.alloc(32 * MIB))],
    ['uncompressed', blob.bytes],
    ['cut', packed.subarray(0, packed.length - 5)],
    ['trailing garbage', Buffer.concat([packed, Buffer.from('garbage')])],
    ['nothing', Buffer.alloc(0)],
  ]
  for (const [title, body] of bodies) {
    for (const chunkBytes of [50_000, 3 * MIB]) {
      const answer = write(client, messagesOf(uploadName(blob.digest, { compressor }), body, chunkBytes))
      t.equal((await failure(answer)).code, 'INVALID_ARGUMENT', `${title}, in messages of ${chunkBytes}`)
      t.notOk(await has(cas, blob.digest))
    }
  }
  t.equal(
    (await write(client, messagesOf(uploadName(blob.digest, { compressor }), packed))).committedSize,
    packed.length,
  )
})

each('CMP-11, CMP-12, CMP-13, CMP-15, CMP-16: reading compressed', async (t, compressor) => {
  const { client, cas } = await serve(t)
  for (const sizeBytes of [1000, 200_000, 2 * MIB]) {
    const blob = mixed(sizeBytes)
    await put(cas, blob)
    const name = formatReadName('', blob.digest, compressor)
    for (const readOffset of [0, 1, sizeBytes / 2, sizeBytes - 1, sizeBytes]) {
      const { bytes, chunks } = await read(client, name, { readOffset })
      t.ok((await unpack(compressor, bytes)).equals(blob.bytes.subarray(readOffset)), `CMP-11: from ${readOffset}`)
      t.ok(chunks.every(({ length }) => length <= 256 * 1024))
    }
    t.equal((await failure(read(client, name, { readLimit: 10 }))).code, 'INVALID_ARGUMENT', 'CMP-12')
    t.equal((await failure(read(client, name, { readOffset: sizeBytes + 1 }))).code, 'OUT_OF_RANGE', 'CMP-13')
    t.equal((await failure(read(client, name, { readOffset: -1 }))).code, 'OUT_OF_RANGE', 'CMP-13')
  }
  t.equal((await failure(readBlob(client, blobOf('absent').digest, compressor))).code, 'NOT_FOUND', 'CMP-15')
  t.equal((await unpack(compressor, await readBlob(client, blobOf('').digest, compressor))).length, 0, 'CMP-16')
})

t.test('CMP-09: unsupported compressors', async (t) => {
  const { client } = await serve(t)
  const { hash, sizeBytes } = randomBlob(10).digest
  for (const segment of ['xz', 'identity', 'ZSTD', 'gzip']) {
    const name = `compressed-blobs/${segment}/${hash}/${sizeBytes}`
    t.match(await failure(read(client, name)), { code: 'INVALID_ARGUMENT', message: /expected one of zstd/ })
    t.equal(
      (await failure(write(client, [{ resourceName: `uploads/u/${name}`, finishWrite: true }]))).code,
      'INVALID_ARGUMENT',
    )
  }
})

t.test('an instance without compression refuses what others accept', async (t) => {
  const { client } = await serve(t, { instances: { '': { compressors: [] } } })
  const { hash, sizeBytes } = randomBlob(10).digest
  const name = `compressed-blobs/zstd/${hash}/${sizeBytes}`
  const refusal = { code: 'INVALID_ARGUMENT', message: /ZSTD is not served by this instance/ }
  t.match(await failure(read(client, name)), refusal)
  t.match(await failure(write(client, [{ resourceName: `uploads/u/${name}`, finishWrite: true }])), refusal)
})

t.test('compressed BLAKE3 names, and zstd of several frames (CMP-06)', async (t) => {
  const { client } = await serve(t)
  const [compressor] = compressors
  if (compressor === undefined) return
  const { compressBytes } = compressionOf(compressor)
  const halves = [mixed(100_000).bytes, mixed(100_000).bytes]
  const blob = blobOf(Buffer.concat(halves), BLAKE3)
  const frames = Buffer.concat(halves.map((half) => Buffer.from(compressBytes(half))))
  t.equal(
    (await write(client, messagesOf(uploadName(blob.digest, { compressor }), frames, 5000))).committedSize,
    frames.length,
  )
  t.ok((await unpack(compressor, await readBlob(client, blob.digest, compressor))).equals(blob.bytes))
})

t.test('CMP-19: an interrupted compressed upload starts again', async (t) => {
  const { client, cas } = await serve(t)
  const [compressor] = compressors
  if (compressor === undefined) return
  const blob = mixed(400_000)
  const packed = compressionOf(compressor).compressBytes(blob.bytes)
  const resourceName = uploadName(blob.digest, { compressor })
  const broken = openWrite(client)
  await broken.send({ resourceName, data: packed.subarray(0, 1000) })
  broken.cancel()
  await failure(broken.response)
  t.equal((await failure(query(client, resourceName))).code, 'NOT_FOUND')
  t.equal((await write(client, messagesOf(resourceName, packed, 10_000))).committedSize, packed.length)
  t.match(await query(client, resourceName), { complete: true })
  t.ok((await get(cas, blob.digest)).equals(blob.bytes))
})

t.test('CMP-20: concurrent compressed and uncompressed uploads of one blob', async (t) => {
  const { client, cas } = await serve(t)
  const blob = mixed(2 * MIB)
  const compressed = compressors.map(async (compressor) => {
    const packed = compressionOf(compressor).compressBytes(blob.bytes)
    const { committedSize } = await write(client, messagesOf(uploadName(blob.digest, { compressor }), packed))
    t.ok(committedSize === packed.length || committedSize === -1, compressor.segment)
  })
  t.equal((await uploadWhole(client, blob)).committedSize, blob.bytes.length)
  await Promise.all(compressed)
  t.ok((await get(cas, blob.digest)).equals(blob.bytes))
})

t.test('the window of a decoder is held while a compressed upload is under way, and for no other upload', async (t) => {
  const { client, ledger } = await serve(t)
  const blob = randomBlob(MIB)
  const { uploads, windows } = ledger.kinds
  for (const [compressor, isHeld] of [
    [undefined, false],
    [compressors[0], true],
  ] as const) {
    const bytes = compressor === undefined ? blob.bytes : compressionOf(compressor).compressBytes(blob.bytes)
    const [first, ...rest] = messagesOf(uploadName(blob.digest, compressor && { compressor }), bytes, 100_000)
    const upload = openWrite(client)
    await upload.send(first ?? {})
    await until(() => !(uploads.heldBytes === 0 || windows.heldBytes > 0 !== isHeld))
    upload.cancel()
    await until(() => uploads.heldBytes === 0)
    t.equal(rest.length > 0 && windows.heldBytes, 0, 'given back')
  }
})

t.test(
  'plain reads of what clients compressed wait for room for their decoders, however slowly they are taken',
  async (t) => {
    const windowBytes = 8 * MIB
    const cas = asCas(await zstdStore(await memoryStore()))
    const { client, ledger } = await serve(t, { instances: { '': { cas } }, bounds: { windows: 4 * windowBytes } })
    const blob = mixed(12 * MIB)
    const compressor = compressors[0] as Compressor
    const packed = compressionOf(compressor).compressBytes(blob.bytes)
    await write(client, messagesOf(uploadName(blob.digest, { compressor }), packed, MIB))
    const { windows } = ledger.kinds
    const name = formatReadName('', blob.digest)
    const stalled = Array.from({ length: 6 }, () => client.serverStream(`${BYTE_STREAM}/Read`, { resourceName: name }))
    await until(() => windows.heldBytes > 0)
    await uploadWhole(client, randomBlob(10))
    t.equal(windows.heldBytes, 2 * windowBytes, 'half of the bound for one connection')
    for (const { messages } of await Promise.all(stalled.map((stream) => collectCall(stream)))) {
      t.ok(Buffer.concat(messages.map(({ data }) => data)).equals(blob.bytes))
    }
    t.equal(windows.heldBytes, 0)
    const given = client.serverStream(`${BYTE_STREAM}/Read`, { resourceName: name })
    given.on('error', () => {})
    await until(() => windows.heldBytes === windowBytes)
    given.cancel()
    await until(() => windows.heldBytes === 0)
  },
)
