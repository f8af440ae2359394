import { once } from 'node:events'
import { Metadata, status } from '@grpc/grpc-js'
import t from 'tap'
import { textLog } from '../../src/log/log.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { asCas } from '../../src/store/view/cas.js'
import { heldBytes } from '../held-memory.js'
import { collect } from '../server/client.js'
import { messagesOf, query, read, readBlob, uploadName, uploadWhole, write } from './bytestream-client.js'
import { FaultyStore, verified } from './faulty-store.js'
import { BLAKE3, BYTE_STREAM, blobOf, CAS, failure, MIB, memoryStore, put, randomBlob, serve } from './harness.js'

t.test('BSR-01, BSR-09, BSR-12, DIG-12: whole blobs, in messages well below 4 MiB', async (t) => {
  const { client, cas } = await serve(t)
  for (const sizeBytes of [1, 1000, 256 * 1024, 256 * 1024 + 1, 9 * MIB]) {
    const blob = randomBlob(sizeBytes)
    await put(cas, blob)
    const { bytes, chunks } = await read(client, formatReadName('main', blob.digest))
    t.ok(bytes.equals(blob.bytes), `${sizeBytes} bytes`)
    t.ok(chunks.every(({ length }) => length <= 256 * 1024))
  }
  t.equal((await readBlob(client, blobOf('').digest)).length, 0, 'BSR-09')
  t.equal((await readBlob(client, blobOf('', BLAKE3).digest)).length, 0, 'DIG-12: of every function')
})

t.test('BSR-03, BSR-04, BSR-05, BSR-06, BSR-07: offsets and limits', async (t) => {
  const { client, cas } = await serve(t)
  for (const sizeBytes of [10, 700_000]) {
    const { bytes, digest } = randomBlob(sizeBytes)
    await put(cas, { bytes, digest })
    const name = formatReadName('', digest)
    const half = sizeBytes / 2
    const ranges: [number, number][] = [
      [0, 0],
      [1, 0],
      [half, 0],
      [sizeBytes - 1, 0],
      [0, 1],
      [3, 4],
      [half, sizeBytes],
      [0, sizeBytes],
      [sizeBytes, 5],
      [half, half - 1],
    ]
    for (const [readOffset, readLimit] of ranges) {
      const expected = bytes.subarray(readOffset, readLimit === 0 ? sizeBytes : readOffset + readLimit)
      t.ok(
        (await read(client, name, { readOffset, readLimit })).bytes.equals(expected),
        `${readOffset}+${readLimit} of ${sizeBytes}`,
      )
    }
    t.equal((await read(client, name, { readOffset: sizeBytes })).bytes.length, 0, 'BSR-04')
    for (const readOffset of [-1, sizeBytes + 1, 2 ** 33]) {
      t.equal((await failure(read(client, name, { readOffset }))).code, 'OUT_OF_RANGE', `BSR-05: ${readOffset}`)
    }
    t.equal((await failure(read(client, name, { readLimit: -1 }))).code, 'INVALID_ARGUMENT', 'BSR-07')
  }
})

t.test('BSR-02, BSR-10, BSR-11, INS-02: reads that fail', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(10)
  await put(cas, blob)
  const { hash } = blob.digest
  t.equal((await failure(readBlob(client, blobOf('absent').digest))).code, 'NOT_FOUND', 'BSR-02')
  t.equal((await failure(read(client, `blobs/${hash}/11`))).code, 'NOT_FOUND', 'BSR-11')
  t.equal((await failure(read(client, `blobs/blake3/${hash}/10`))).code, 'NOT_FOUND', 'DIG-10')
  const names = [
    '',
    hash,
    `blobs/${hash}`,
    `blobs/${hash}/x`,
    `uploads/u/blobs/${hash}/10`,
    `nope/blobs/${hash}/10`,
    `blobs/${hash.slice(2)}/10`,
    `//blobs/${hash}/10`,
  ]
  for (const name of names) t.equal((await failure(read(client, name))).code, 'INVALID_ARGUMENT', JSON.stringify(name))
})

t.test('BSR-08: a read from a backend that fails or ends early never succeeds', async (t) => {
  const faulty = new FaultyStore(await memoryStore())
  const cas = asCas(faulty)
  const { client } = await serve(t, { instances: { '': { cas } } })
  for (const sizeBytes of [1000, 2 * MIB]) {
    const blob = randomBlob(sizeBytes)
    await put(cas, blob)
    faulty.breakReads = { afterBytes: sizeBytes / 2, how: 'fail' }
    t.equal((await failure(readBlob(client, blob.digest))).code, 'UNAVAILABLE')
    faulty.breakReads = { afterBytes: sizeBytes / 2, how: 'end' }
    t.equal((await failure(readBlob(client, blob.digest))).code, 'DATA_LOSS')
    faulty.breakReads = undefined
    t.ok((await readBlob(client, blob.digest)).equals(blob.bytes))
  }
  faulty.failReads = 'UNAVAILABLE'
  t.equal((await failure(readBlob(client, randomBlob(10).digest))).code, 'UNAVAILABLE', 'a fault is no miss')
})

t.test('BSR-14, BRB-08: a damaged blob behind a verify store is never delivered as success', async (t) => {
  const faulty = new FaultyStore(await memoryStore())
  const cas = asCas(await verified(faulty))
  const { client } = await serve(t, { instances: { '': { cas } } })
  for (const sizeBytes of [1000, 2 * MIB]) {
    const blob = randomBlob(sizeBytes)
    await put(cas, blob)
    const digests = [{ hash: blob.digest.hash, sizeBytes }]
    const batch = () => client.unary(`${CAS}/BatchReadBlobs`, { digests }).response
    t.equal((await batch()).responses[0].status.code, 0)
    t.ok((await readBlob(client, blob.digest)).equals(blob.bytes))
    faulty.breakReads = { afterBytes: sizeBytes / 2, how: 'flip' }
    t.equal((await failure(readBlob(client, blob.digest))).code, 'DATA_LOSS', 'BSR-14')
    await put(cas, blob)
    const [entry] = (await batch()).responses
    t.equal(entry.status.code, 15, 'BRB-08')
    t.equal(entry.data.length, 0)
    faulty.breakReads = undefined
  }
})

t.test('BSR-13, GEN-08: a hundred readers that do not read', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(20 * MIB)
  await put(cas, blob)
  const resourceName = formatReadName('', blob.digest)
  const before = heldBytes()
  const stalled = Array.from({ length: 100 }, () => client.serverStream(`${BYTE_STREAM}/Read`, { resourceName }))
  await Promise.all(stalled.map((stream) => once(stream, 'readable')))
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  const grownBytes = heldBytes() - before
  // Includes the window and buffers of the client, which runs in the same process. The whole blobs would be 2 GiB.
  t.ok(grownBytes < 100 * MIB, `${Math.round(grownBytes / MIB)} MiB for both ends`)
  t.ok((await readBlob(client, blob.digest)).equals(blob.bytes), 'other clients can still read')
  for (const stream of stalled) {
    stream.on('error', () => {})
    stream.cancel()
  }
})

t.test('BSR-15: reading keeps a blob alive', async (t) => {
  const cas = asCas(await memoryStore(undefined, 3000))
  const { client } = await serve(t, { instances: { '': { cas } } })
  const [first, second] = [randomBlob(1000), randomBlob(1000)]
  await put(cas, first, second)
  await readBlob(client, first.digest)
  await put(cas, randomBlob(1000), randomBlob(1000))
  t.ok((await readBlob(client, first.digest)).equals(first.bytes))
  t.equal((await failure(readBlob(client, second.digest))).code, 'NOT_FOUND')
})

t.test('DIG-11: sizes above 2^32 are refused or missing, never wrapped', async (t) => {
  const { client } = await serve(t)
  const { hash } = blobOf('x').digest
  for (const sizeBytes of [2 ** 31, 2 ** 32, 5 * 2 ** 30, 2 ** 32 + 1]) {
    const name = `blobs/${hash}/${sizeBytes}`
    t.equal(
      (await failure(read(client, name, { readOffset: 4_294_967_295 }))).code,
      sizeBytes < 4_294_967_295 ? 'OUT_OF_RANGE' : 'NOT_FOUND',
    )
    t.equal((await failure(query(client, `uploads/u/${name}`))).code, 'NOT_FOUND')
  }
})

t.test('RMD-01, RMD-02, RMD-03, GEN-11, GEN-12: metadata of every kind', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(10)
  await put(cas, blob)
  const resourceName = formatReadName('', blob.digest)
  const headers: [string, string | Buffer][] = [
    ['x-foo', 'bar'],
    ['build.bazel.remote.execution.v2.requestmetadata-bin', Buffer.from('\xff\xff garbage')],
    ['build.bazel.remote.execution.v2.requestmetadata-bin', Buffer.alloc(8000, 10)],
    ['build.bazel.remote.execution.v2.resource-name', `uploads/u/${resourceName}`],
  ]
  for (const [name, value] of headers) {
    const metadata = new Metadata()
    metadata.set(name, value)
    t.ok(
      (
        await client.unary(
          `${BYTE_STREAM}/QueryWriteStatus`,
          { resourceName: `uploads/u/${resourceName}` },
          { metadata },
        ).response
      ).complete,
      name,
    )
  }
})

t.test('GEN-12: a call whose header has another resource name than its message is refused', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(10)
  await put(cas, blob)
  const name = formatReadName('', blob.digest)
  const metadata = new Metadata()
  metadata.set('build.bazel.remote.execution.v2.resource-name', `other/${name}`)
  const upload = { resourceName: `uploads/u/${name}` }
  const writing = client.clientStream(`${BYTE_STREAM}/Write`, { metadata })
  writing.call.write({ ...upload, data: blob.bytes, finishWrite: true })
  writing.call.end()
  const calls = {
    Read: collect(client.serverStream(`${BYTE_STREAM}/Read`, { resourceName: name }, { metadata })),
    Write: writing.response.catch((status: unknown) => ({ status })),
    QueryWriteStatus: client
      .unary(`${BYTE_STREAM}/QueryWriteStatus`, upload, { metadata })
      .response.catch((status: unknown) => ({ status })),
  }
  const expected = { status: { code: status.INVALID_ARGUMENT, details: /"other\/.* the same name, or no header/ } }
  for (const [method, call] of Object.entries(calls)) t.match(await call, expected, method)
})

t.test('a read returns the written bytes', async (t) => {
  const { client, connect } = await serve(t)
  const blobs = Array.from({ length: 20 }, (_, index) => randomBlob(index * 30_000))
  await Promise.all(blobs.map((blob) => uploadWhole(client, blob)))
  const other = connect()
  for (const { bytes, equals } of await Promise.all(
    blobs.map(async (blob) => ({ bytes: await readBlob(other, blob.digest), equals: blob.bytes })),
  )) {
    t.ok(bytes.equals(equals))
  }
})

t.test('the log says which instance a Read, a Write and a QueryWriteStatus are for', async (t) => {
  const lines: string[] = []
  const { client } = await serve(t, { log: textLog('debug', (line) => void lines.push(line)) })
  const { digest, bytes } = randomBlob(10)
  const name = uploadName(digest, { instanceName: 'main' })
  await write(client, messagesOf(name, bytes))
  await query(client, name)
  await read(client, formatReadName('main', digest))
  for (const method of ['Write', 'QueryWriteStatus', 'Read']) {
    const line = lines.find((line) => line.includes(`method=/${BYTE_STREAM}/${method} `))
    t.match(line, / instance=main /, method)
  }
})
