import t, { type Test } from 'tap'
import { putBytes, type Store } from '../../src/blobs/store.js'
import { compressors } from '../../src/reapi/compressor.js'
import { asCas } from '../../src/store/view/cas.js'
import { compressionOf } from '../../src/stream/compression/compression.js'
import { drawnBytes } from '../drawn.js'
import { call, get as getFrom } from '../store/blobs.js'
import { zstdStore } from '../store/kinds/compression/zstd-store.js'
import { messagesOf, openWrite, query, readBlob, uploadName, uploadWhole, write } from './bytestream-client.js'
import { type Blob, blobOf, CAS, failure, get, has, MIB, memoryStore, randomBlob, serve } from './harness.js'

const zstd = compressors.find(({ name }) => name === 'ZSTD')
if (zstd === undefined) throw new Error('zstd is not served')
const nameOf = (blob: Blob): string => uploadName(blob.digest, { compressor: zstd })
const pack = (blob: Blob): Buffer => compressionOf(zstd).compressBytes(blob.bytes)

const mixed = (sizeBytes: number): Blob =>
  blobOf(Buffer.concat([drawnBytes(sizeBytes / 2), Buffer.alloc(sizeBytes / 2, 'some text ')]))

/** A CAS that keeps zstd as clients send it, over `backend`. */
const serveKept = async (t: Test) => {
  const backend = await memoryStore()
  const cas = asCas(await zstdStore(backend))
  return { ...(await serve(t, { instances: { '': { cas } } })), backend, cas }
}

t.test('CMP-01, CMP-04, CMP-14: a blob that was uploaded compressed is sent in the same form', async (t) => {
  const { client, cas } = await serveKept(t)
  for (const sizeBytes of [10, 50_000, 3 * MIB]) {
    const blob = mixed(sizeBytes)
    const packed = pack(blob)
    t.equal((await write(client, messagesOf(nameOf(blob), packed))).committedSize, packed.length)
    t.ok((await readBlob(client, blob.digest, zstd)).equals(packed))
    t.ok((await readBlob(client, blob.digest)).equals(blob.bytes))
    t.ok((await get(cas, blob.digest)).equals(blob.bytes))
  }
})

t.test('CMP-03: an upload of an existing blob is answered immediately, compressed or not', async (t) => {
  const { client } = await serveKept(t)
  for (const how of ['plain', 'compressed']) {
    const blob = mixed(MIB)
    if (how === 'plain') await uploadWhole(client, blob)
    else await write(client, messagesOf(nameOf(blob), pack(blob)))
    const early = openWrite(client)
    await early.send({ resourceName: nameOf(blob), data: Buffer.from('whatever') })
    t.equal((await early.response).committedSize, -1, how)
    const plain = openWrite(client)
    await plain.send({ resourceName: uploadName(blob.digest), data: blob.bytes.subarray(0, 100) })
    t.equal((await plain.response).committedSize, MIB, how)
  }
})

t.test('CMP-19, BSW-26: an interrupted compressed upload leaves nothing behind and starts again', async (t) => {
  for (const how of ['cancelled', 'half-closed'] as const) {
    const { client, connect, cas, backend } = await serveKept(t)
    const blob = mixed(4 * MIB)
    const packed = pack(blob)
    const broken = openWrite(connect())
    for (const message of messagesOf(nameOf(blob), packed).slice(0, 20)) await broken.send(message)
    if (how === 'cancelled') broken.cancel()
    else broken.end()
    await failure(broken.response)
    t.equal((await failure(query(client, nameOf(blob)))).code, 'NOT_FOUND', `${how}: there is no offset to go on from`)
    t.notOk(await has(backend, blob.digest))
    const resumed = messagesOf(nameOf(blob), packed).slice(20)
    t.equal((await failure(write(client, resumed))).code, 'INVALID_ARGUMENT', 'going on is refused')
    t.equal((await write(client, messagesOf(nameOf(blob), packed))).committedSize, packed.length)
    t.match(await query(client, nameOf(blob)), { complete: true })
    t.ok((await get(cas, blob.digest)).equals(blob.bytes))
  }
})

t.test('CMP-20: another client finishes the blob during the upload', async (t) => {
  const { client, connect, cas } = await serveKept(t)
  for (const how of ['plain', 'compressed']) {
    const blob = randomBlob(400_000)
    const slow = openWrite(client)
    await slow.send({ resourceName: nameOf(blob), data: pack(blob).subarray(0, 200_000) })
    if (how === 'plain') await uploadWhole(connect(), blob)
    else await write(connect(), messagesOf(nameOf(blob), pack(blob)))
    t.equal((await slow.response).committedSize, -1, how)
    t.ok((await get(cas, blob.digest)).equals(blob.bytes))
  }
})

const damage = async (backend: Store, { digest }: Blob): Promise<void> => {
  const stored = Buffer.from(await getFrom(backend, digest))
  const at = stored.length >> 1
  stored[at] = (stored[at] ?? 0) ^ 1
  await putBytes(backend, digest, stored, call)
}

t.test('a damaged blob is DATA_LOSS once, then missing, until it is uploaded again', async (t) => {
  const { client, backend } = await serveKept(t)
  for (const [form, compressor] of Object.entries({ compressed: zstd, plain: undefined })) {
    for (const sizeBytes of [1000, 2 * MIB]) {
      const blob = mixed(sizeBytes)
      await write(client, messagesOf(nameOf(blob), pack(blob)))
      await damage(backend, blob)
      t.equal((await failure(readBlob(client, blob.digest, compressor))).code, 'DATA_LOSS', `${form}, ${sizeBytes}`)
      t.equal((await failure(readBlob(client, blob.digest, compressor))).code, 'NOT_FOUND')
      t.equal((await write(client, messagesOf(nameOf(blob), pack(blob)))).committedSize, pack(blob).length, 'not early')
      t.ok((await readBlob(client, blob.digest)).equals(blob.bytes))
    }
  }
})

t.test('zstd that announces more than its blob has is refused by its header alone, by every way in', async (t) => {
  for (const keepsZstd of [false, true]) {
    const { client } = await (keepsZstd ? serveKept(t) : serve(t))
    const blob = mixed(MIB)
    const header = pack(mixed(2 * MIB)).subarray(0, 100)
    const announces = {
      code: 'INVALID_ARGUMENT',
      message: /announces 2097152 bytes of content, expected at most 1048576/,
    }
    const open = openWrite(client)
    await open.send({ resourceName: nameOf(blob), data: header })
    t.match(await failure(open.response), announces, 'a Write that goes on')
    const whole = [{ resourceName: nameOf(blob), data: header, finishWrite: true }]
    t.match(await failure(write(client, whole)), announces, 'a Write of one message')
    const request = { digest: blob.digest, data: header, compressor: zstd.value }
    const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests: [request] }).response
    t.match(responses[0].status, { code: 3, message: announces.message }, 'BatchUpdateBlobs')
  }
})
