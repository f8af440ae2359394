import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { Code, StatusError } from '../../../../src/base/status-error.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import { putBytes, type Store } from '../../../../src/blobs/store.js'
import type { Zstd } from '../../../../src/config/config.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { Call } from '../../../../src/rpc/call.js'
import { compression } from '../../../../src/store/kinds/compression/kind.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import { type BlobForm, streamsOf } from '../../../../src/stream/blob/form.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { buildStore, given, memoryStore } from '../../build.js'
import { rejects, storeSuite } from '../../suite.js'
import { Watched } from '../../watched.js'
import { wire } from './zstd-store.js'

const BLOCK = 64 * 1024

const compressed = (backend: Store, blockBytes = BLOCK, maxDecodeBlockBytes = 0): Promise<Store> => {
  const lz4 = { block_size: blockBytes, max_decode_block_size: maxDecodeBlockBytes }
  return buildStore(compression, { backend: given, compression_algorithm: { lz4 } }, { children: { backend } })
}

const zstd = (backend: Store, settings: Partial<Zstd> = {}): Promise<Store> => {
  const algorithm = { zstd: { block_size: BLOCK, level: 1, max_uploaded_frame_size: 1024 * 1024, ...settings } }
  return buildStore(compression, { backend: given, compression_algorithm: algorithm }, { children: { backend } })
}

storeSuite(t, {
  name: 'lz4 over memory',
  isBrief: true,
  open: async () => ({ store: await compressed(await memoryStore()), close: async () => {} }),
  isPersistent: false,
})

storeSuite(t, {
  name: 'zstd over memory',
  isBrief: true,
  open: async () => ({ store: await zstd(await memoryStore()), close: async () => {} }),
  isPersistent: false,
})

const setUp = async (bytes: Buffer, open: (backend: Store) => Promise<Store> = compressed) => {
  const backend = await memoryStore()
  const store = await open(backend)
  const digest = digestOf(bytes)
  await put(store, digest, bytes)
  return { backend, store, digest, stored: await get(backend, digest) }
}

const plant = async (backend: Store, digest: ReturnType<typeof digestOf>, bytes: Buffer): Promise<void> =>
  putBytes(backend, digest, bytes, call)

t.test('text gets smaller, noise hardly larger, and both are read back', async (t) => {
  const text = Buffer.alloc(1_000_000, 'to be or not to be, that is the question. ')
  t.ok((await setUp(text)).stored.length < 20_000)
  const noise = bytesOf(100_000)
  const { stored, store, digest } = await setUp(noise)
  t.ok(stored.length <= noise.length + 16 + 24 + Math.ceil(noise.length / BLOCK) * 8, `${stored.length} stored bytes`)
  t.ok((await get(store, digest)).equals(noise))
})

t.test('blobs written with other block sizes stay readable as far as max_decode_block_size allows', async (t) => {
  const bytes = bytesOf(500_000)
  const digest = digestOf(bytes)
  const backend = await memoryStore()
  await put(await compressed(backend, 256 * 1024), digest, bytes)
  t.ok((await get(await compressed(backend, BLOCK, 256 * 1024), digest)).equals(bytes))
  await rejects(t, get(await compressed(backend, BLOCK), digest), 'FAILED_PRECONDITION')
  t.ok(await isPresent(backend, digest), 'it is not damaged and stays')
  for (const blockBytes of [1024, 5000]) {
    const small = await memoryStore()
    await put(await compressed(small, blockBytes), digest, bytes)
    const reader = await compressed(small)
    t.ok((await get(reader, digest)).equals(bytes))
    const part = await get(reader, digest, { offset: 400_001, limit: 70_000 })
    t.ok(part.equals(bytes.subarray(400_001, 470_001)), `a part of a blob in blocks of ${blockBytes}`)
  }
})

t.test('settings that cannot work are refused', async (t) => {
  const backend = await memoryStore()
  await rejects(t, compressed(backend, 1023), 'INVALID_ARGUMENT')
  await rejects(t, compressed(backend, BLOCK, BLOCK - 1), 'INVALID_ARGUMENT')
})

/** What passes through streams, and what is converted in one go. */
const LARGE = Buffer.concat([bytesOf(100_000), Buffer.alloc(150_000, 'words ')])
const SMALL = Buffer.concat([bytesOf(500), Buffer.alloc(1000, 'words ')])

const healing = async (t: Test, open: (backend: Store) => Promise<Store>, bytes: Buffer): Promise<void> => {
  const { backend, store, digest, stored } = await setUp(bytes, open)
  const keepsZstd = store.properties.encodings.includes('ZSTD')
  const damage = fc.oneof(
    fc.record({ at: fc.nat(stored.length - 1), flip: fc.integer({ min: 1, max: 255 }) }).map(({ at, flip }) => {
      const torn = Buffer.from(stored)
      torn[at] = (torn[at] ?? 0) ^ flip
      return torn
    }),
    fc.nat(stored.length - 1).map((length) => stored.subarray(0, length)),
    fc.uint8Array({ minLength: 1, maxLength: 50 }).map((more) => Buffer.concat([stored, more])),
    fc.uint8Array({ maxLength: 3000 }).map((garbage) => Buffer.from(garbage)),
    fc
      .nat(stored.length)
      .chain((at) =>
        fc
          .uint8Array({ minLength: 1, maxLength: 200 })
          .map((garbage) => Buffer.concat([stored.subarray(0, at), garbage])),
      ),
  )
  const heals = fc.asyncProperty(damage, async (torn) => {
    if (torn.equals(stored)) return
    await plant(backend, digest, torn)
    if (keepsZstd) {
      const error = await wire(store, digest).catch((thrown: unknown) => thrown)
      if (!(error instanceof StatusError) || error.code !== Code.DATA_LOSS) throw new Error(`passed on: ${error}`)
      await plant(backend, digest, torn)
    }
    const error = await get(store, digest).catch((thrown: unknown) => thrown)
    // Where bytes repeat, a back reference to another place may stand for the same bytes.
    if (Buffer.isBuffer(error) && error.equals(bytes)) return
    if (!(error instanceof StatusError) || error.code !== Code.DATA_LOSS) throw new Error(`unnoticed: ${error}`)
    if (await isPresent(store, digest)) throw new Error('still there')
  })
  await t.resolves(fc.assert(heals, { numRuns: 300 }))
  await put(store, digest, bytes)
  t.ok((await get(store, digest)).equals(bytes))
}

t.test('a damaged blob is DATA_LOSS once and then a miss, whatever was damaged and however it is read', async (t) => {
  await t.test('lz4', (t) => healing(t, compressed, LARGE))
  await t.test('lz4, small', (t) => healing(t, compressed, SMALL))
  await t.test('lz4, in small blocks', (t) => healing(t, (backend) => compressed(backend, 1024), SMALL))
  await t.test('zstd', (t) => healing(t, zstd, LARGE))
  await t.test('zstd, small', (t) => healing(t, zstd, SMALL))
})

/** Notes in which form blobs come. */
class Noting extends ForwardingStore {
  readonly forms: string[] = []

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const form = await blob.take()
    this.forms.push(form.kind)
    await super.put(digest, blobOf(form), call)
  }
}

const blobOf = (form: BlobForm): Blob =>
  form.kind === 'bytes' ? Blob.ofBytes(form.bytes) : Blob.ofPath(streamsOf(form))

/** How a blob reaches its backend, and how it comes back. */
const formsOf = async (bytes: Buffer, open: (backend: Store) => Promise<Store>, wantedAs?: 'ZSTD') => {
  const backend = new Noting(await memoryStore())
  const store = await open(backend)
  const digest = digestOf(bytes)
  await store.put(digest, Blob.ofBytes(bytes), call)
  const range = wantedAs === undefined ? WHOLE : { ...WHOLE, wantedAs }
  const blob = await store.get(digest, range, call)
  const form = await (wantedAs === undefined ? blob : blob.as(wantedAs)).take()
  blobOf(form).discard()
  return { kept: backend.forms, read: form.kind }
}

t.test(
  'a small blob stays bytes in both directions; a large one, and one that grows large, passes as a stream',
  async (t) => {
    const asBytes = { kept: ['bytes'], read: 'bytes' }
    for (const sizeBytes of [0, 1, 300, 4096, 60_000]) {
      const bytes = bytesOf(sizeBytes)
      t.same(await formsOf(bytes, compressed), asBytes, `lz4, ${sizeBytes} bytes`)
      t.same(await formsOf(bytes, zstd), asBytes, `zstd, ${sizeBytes} bytes`)
      t.same(await formsOf(bytes, zstd, 'ZSTD'), asBytes, `zstd as zstd, ${sizeBytes} bytes`)
    }
    const asStream = { kept: ['path'], read: 'path' }
    for (const bytes of [bytesOf(100_000), Buffer.alloc(2_000_000, 'words ')]) {
      t.same(await formsOf(bytes, compressed), asStream)
      t.same(await formsOf(bytes, zstd), asStream)
    }
  },
)

t.test('a part of a small blob is that part, and none behind its end', async (t) => {
  const bytes = bytesOf(5000)
  for (const open of [compressed, zstd, (backend: Store) => compressed(backend, 1024)]) {
    const { store, digest } = await setUp(bytes, open)
    for (const [offset, limit] of [
      [0, 10],
      [1000, 1048],
      [4990, Number.POSITIVE_INFINITY],
      [5000, 1],
      [-10, 5],
    ] as const) {
      const from = offset < 0 ? bytes.length + offset : offset
      t.ok((await get(store, digest, { offset, limit })).equals(bytes.subarray(from, from + limit)), `${offset}`)
    }
    await rejects(t, get(store, digest, { offset: 5001, limit: 1 }), 'OUT_OF_RANGE')
  }
})

t.test('a wrong length is not trusted', async (t) => {
  const { backend, store, digest, stored } = await setUp(Buffer.alloc(BLOCK, 'a'))
  const lying = (change: (forged: Buffer, payload: Buffer) => void): Buffer => {
    const forged = Buffer.from(stored)
    const payload = forged.subarray(24, 24 + (forged.readUInt32LE(16) & 0x3fff_ffff))
    change(forged, payload)
    forged.writeUInt32LE(crc32(payload), 20)
    return forged
  }
  const forgeries = {
    'decodes to 4 GiB': lying((_, payload) => payload.writeUInt32LE(0xffff_ffff, 0)),
    'decodes to nothing': lying((_, payload) => payload.writeUInt32LE(0, 0)),
    'decodes to one byte more than a block': lying((_, payload) => payload.writeUInt32LE(BLOCK + 1, 0)),
    'decodes to less than it holds': lying((_, payload) => payload.writeUInt32LE(10, 0)),
    'is garbage with a right checksum': lying((_, payload) => payload.fill(0xa5, 4)),
    'is stored in 1 GiB': lying((forged) => forged.writeUInt32LE(0x3fff_ffff, 16)),
  }
  for (const [name, forged] of Object.entries(forgeries)) {
    await plant(backend, digest, forged)
    await rejects(t, get(store, digest), 'DATA_LOSS')
    t.notOk(await isPresent(backend, digest), name)
  }
})

t.test('a part is read without decoding the bytes before it, and without the bytes after it', async (t) => {
  const bytes = bytesOf(16 * 1024 * 1024)
  const { backend, digest, stored } = await setUp(bytes)
  const counting = new Watched(backend)
  const store = await compressed(counting)
  t.ok((await get(store, digest, { offset: 0, limit: 10 })).equals(bytes.subarray(0, 10)))
  t.ok(
    counting.readBytes < 5 * 1024 * 1024 && counting.readBytes < stored.length,
    `${counting.readBytes} of ${stored.length} stored bytes`,
  )

  // A block before the range may be damaged, because it is not read.
  const torn = Buffer.from(stored)
  torn[16 + 8 + 100] = (torn[16 + 8 + 100] ?? 0) ^ 1
  await plant(backend, digest, torn)
  const part = await get(store, digest, { offset: BLOCK * 2 + 1, limit: BLOCK })
  t.ok(part.equals(bytes.subarray(BLOCK * 2 + 1, BLOCK * 3 + 1)))
  await rejects(t, get(store, digest, WHOLE), 'DATA_LOSS')
})

t.test('the event loop turns while a large blob passes, even if nothing has to wait', async (t) => {
  const store = await compressed(await memoryStore())
  const bytes = Buffer.alloc(96 * 1024 * 1024, 'words ')
  const digest = digestOf(bytes)
  const turns = async (work: Promise<unknown>): Promise<number> => {
    let count = 0
    let timer: NodeJS.Immediate | undefined
    const turn = (): void => {
      count += 1
      timer = setImmediate(turn)
    }
    turn()
    await work
    clearImmediate(timer)
    return count
  }
  const [turnsIn, turnsOut] = [await turns(put(store, digest, bytes)), await turns(get(store, digest))]
  t.ok(turnsIn >= 4, `${turnsIn} turns on the way in`)
  t.ok(turnsOut >= 4, `${turnsOut} turns on the way out`)
})
