import t from 'tap'
import { PARKED_BYTES } from '../../src/ledger/kinds.js'
import { compressors } from '../../src/reapi/compressor.js'
import { formatReadName, formatWriteName } from '../../src/reapi/resource-name.js'
import { asCas } from '../../src/store/view/cas.js'
import { Lines } from '../tls/lines.js'
import { until } from '../until.js'
import { messagesOf, openWrite, query, read, readBlob, uploadName, uploadWhole, write } from './bytestream-client.js'
import { FaultyStore } from './faulty-store.js'
import {
  BLAKE3,
  BYTE_STREAM,
  blobOf,
  CAS,
  failure,
  get,
  has,
  MIB,
  memoryStore,
  put,
  randomBlob,
  SHA256,
  serve,
  wire,
} from './harness.js'

t.test('BSW-01, BSW-12, BSW-18, BSW-19, BSW-23: whole uploads in chunks of any size', async (t) => {
  const { client, connect, cas } = await serve(t)
  const other = connect()
  const sizes: [number, number][] = [
    [1, 1],
    [10, 1],
    [65_536, 16_384],
    [65_537, 65_536],
    [3 * MIB, MIB],
    [5 * MIB, 4 * MIB],
  ]
  for (const [sizeBytes, chunkBytes] of sizes) {
    const blob = randomBlob(sizeBytes)
    t.same(await uploadWhole(client, blob, chunkBytes), { committedSize: sizeBytes }, `${sizeBytes} in ${chunkBytes}`)
    t.ok((await readBlob(other, blob.digest)).equals(blob.bytes))
    t.ok(await has(cas, blob.digest))
  }
  t.equal((await uploadWhole(client, blobOf(''))).committedSize, 0, 'BSW-18')
})

t.test('INS-03, INS-04, BSW-02, BSW-03: forms of names', async (t) => {
  const { client } = await serve(t, { instances: { '': {}, 'a/b/c': {}, blake: { digestFunctions: [BLAKE3] } } })
  for (const instanceName of ['', 'a/b/c']) {
    for (const digestFunction of [SHA256, BLAKE3]) {
      const blob = blobOf(`${instanceName} ${digestFunction.name}`, digestFunction)
      const name = `${uploadName(blob.digest, { instanceName })}/foo/bar.txt`
      t.equal((await write(client, messagesOf(name, blob.bytes))).committedSize, blob.bytes.length, name)
      t.ok((await read(client, formatReadName(instanceName, blob.digest))).bytes.equals(blob.bytes))
    }
  }
  const bare = blobOf('bare', BLAKE3)
  const name = `blake/uploads/u/blobs/${bare.digest.hash}/4`
  t.equal(
    (await write(client, messagesOf(name, bare.bytes))).committedSize,
    4,
    'Buck2 sends BLAKE3 without the segment',
  )
})

t.test('BSW-04, BSW-05, BSW-16, BSW-17: names in later messages, one uuid for all, empty messages', async (t) => {
  const { client } = await serve(t)
  const blob = randomBlob(30)
  const resourceName = uploadName(blob.digest)
  const parts = [0, 10, 20].map((writeOffset) => ({
    writeOffset,
    data: blob.bytes.subarray(writeOffset, writeOffset + 10),
  }))
  const repeated = parts.map((part, index) => ({ ...part, resourceName, finishWrite: index === 2 }))
  t.equal((await write(client, repeated)).committedSize, 30, 'BSW-04: repeated')

  const changed = randomBlob(30)
  const [first, second] = [uploadName(changed.digest), uploadName(changed.digest)]
  const messages = [
    { resourceName: first, data: changed.bytes.subarray(0, 10) },
    { resourceName: second, writeOffset: 10 },
  ]
  t.match(
    await failure(write(client, messages)),
    { code: 'INVALID_ARGUMENT', message: /resource_name changed/ },
    'BSW-05',
  )

  const blobs = Array.from({ length: 10 }, () => randomBlob(200_000))
  const answers = blobs.map(({ digest, bytes }) => write(client, messagesOf(formatWriteName('', 'one', digest), bytes)))
  for (const { committedSize } of await Promise.all(answers)) t.equal(committedSize, 200_000, 'BSW-16')

  const empty = randomBlob(30)
  const [a, b, c] = [empty.bytes.subarray(0, 10), empty.bytes.subarray(10, 20), empty.bytes.subarray(20)]
  const keepAlive = [
    { resourceName: uploadName(empty.digest) },
    { data: a },
    { writeOffset: 10 },
    { writeOffset: 10, data: b },
    { writeOffset: 20, data: c },
    { writeOffset: 30, finishWrite: true },
  ]
  t.equal((await write(client, keepAlive)).committedSize, 30, 'BSW-17')
})

t.test('BSW-06, BSW-24, BSW-25, INS-02, INS-05, DIG-01: invalid names', async (t) => {
  const { client } = await serve(t)
  const { hash } = blobOf('x').digest
  const names = [
    '',
    `blobs/${hash}/1`,
    `uploads/u/blobs/${hash}`,
    `uploads/u/blobs/${hash}/x`,
    `uploads/u/blobs/${hash}/-1`,
    `uploads/u/blobs/${hash.slice(1)}/1`,
    `uploads/u/blobs/${hash.toUpperCase()}/1`,
    `nope/uploads/u/blobs/${hash}/1`,
    `actions/uploads/u/blobs/${hash}/1`,
    `uploads/u/compressed-blobs/xz/${hash}/1`,
  ]
  for (const resourceName of names) {
    const answer = write(client, [{ resourceName, data: Buffer.from('x'), finishWrite: true }])
    t.equal((await failure(answer)).code, 'INVALID_ARGUMENT', JSON.stringify(resourceName))
  }
  t.match(await failure(write(client, [])), { code: 'INVALID_ARGUMENT', message: /without a message/ }, 'BSW-25')
})

t.test('BSW-07, BSW-08: offsets', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(30)
  const ten = blob.bytes.subarray(0, 10)
  const attempt = (...later: readonly object[]) =>
    failure(write(client, [{ resourceName: uploadName(blob.digest), data: ten }, ...later]))
  t.match(
    await attempt({ writeOffset: 11, data: ten }),
    { code: 'INVALID_ARGUMENT', message: /is 11, expected 10/ },
    'gap',
  )
  t.match(
    await attempt({ writeOffset: 9, data: ten }),
    { code: 'INVALID_ARGUMENT', message: /is 9, expected 10/ },
    'overlap',
  )
  t.match(await attempt({ data: ten }), { code: 'INVALID_ARGUMENT', message: /is 0, expected 10/ }, 'left out')
  const late = write(client, [{ resourceName: uploadName(blob.digest), writeOffset: 5, data: ten, finishWrite: true }])
  t.match(await failure(late), { code: 'INVALID_ARGUMENT', message: /is 5, expected 0/ }, 'BSW-08')
  t.notOk(await has(cas, blob.digest))
})

t.test('BSW-09, BSW-10: finish_write', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(100_000)
  const messages = messagesOf(uploadName(blob.digest), blob.bytes).map((message) => ({
    ...message,
    finishWrite: false,
  }))
  t.match(
    await failure(write(client, messages)),
    { code: 'INVALID_ARGUMENT', message: /without finish_write/ },
    'BSW-09',
  )
  t.notOk(await has(cas, blob.digest))
  for (const extra of [{ writeOffset: 100_000 }, { writeOffset: 100_000, data: Buffer.from('x') }]) {
    const more = randomBlob(100_000)
    const after = write(client, [...messagesOf(uploadName(more.digest), more.bytes), extra])
    t.match(await failure(after), { code: 'INVALID_ARGUMENT', message: /follows/ }, 'BSW-10')
    const one = randomBlob(10)
    const atOnce = write(client, [...messagesOf(uploadName(one.digest), one.bytes), { writeOffset: 10 }])
    t.match(await failure(atOnce), { code: 'INVALID_ARGUMENT', message: /follows/ }, 'BSW-10, in one message')
  }
})

t.test('a client that half-closes only after the answer gets one', async (t) => {
  const { client, clock, cas } = await serve(t)
  for (const sizeBytes of [10, 200_000]) {
    const blob = randomBlob(sizeBytes)
    const { send, end, response } = openWrite(client)
    for (const message of messagesOf(uploadName(blob.digest), blob.bytes)) await send(message)
    await until(() => has(cas, blob.digest))
    let answered = false
    const done = response.then(() => {
      answered = true
    })
    await until(() => {
      clock.advance(300)
      return answered
    })
    await done
    t.equal((await response).committedSize, sizeBytes)
    end()
  }
})

t.test('BSW-11: wrong, short and long bodies', async (t) => {
  const { client, cas } = await serve(t)
  for (const sizeBytes of [10, 300_000]) {
    const blob = randomBlob(sizeBytes)
    const bodies = [
      randomBlob(sizeBytes).bytes,
      blob.bytes.subarray(0, sizeBytes - 1),
      Buffer.concat([blob.bytes, Buffer.from('x')]),
      Buffer.alloc(0),
    ]
    for (const body of bodies) {
      const answer = await failure(write(client, messagesOf(uploadName(blob.digest), body)))
      t.match(answer, { code: 'INVALID_ARGUMENT', message: /are not that blob/ }, `${body.length} of ${sizeBytes}`)
    }
    t.notOk(await has(cas, blob.digest))
    t.equal((await uploadWhole(client, blob)).committedSize, sizeBytes, 'the right ones still pass')
  }
})

t.test('BSW-13, BSW-14, CMP-03: an upload of an existing blob is answered immediately', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(8 * MIB)
  await put(cas, blob)
  const early = openWrite(client)
  await early.send({ resourceName: uploadName(blob.digest), data: blob.bytes.subarray(0, 100) })
  t.equal((await early.response).committedSize, 8 * MIB, 'BSW-13: without the end of the stream')
  t.equal((await uploadWhole(client, blob)).committedSize, 8 * MIB, 'BSW-14: a client that never looks')
  for (const compressor of compressors) {
    const resourceName = uploadName(blob.digest, { compressor })
    t.equal((await write(client, [{ resourceName, data: Buffer.from('whatever') }])).committedSize, -1, 'CMP-03')
  }
})

t.test('BSW-15, CMP-20: another client finishes the blob during the upload', async (t) => {
  const { client, connect, cas } = await serve(t)
  for (const [index, compressor] of [undefined, ...compressors].entries()) {
    const blob = randomBlob(100_000 + index)
    const slow = openWrite(client)
    await slow.send({ resourceName: uploadName(blob.digest), data: blob.bytes.subarray(0, 70_000) })
    const packed = openWrite(client)
    const frame =
      compressors[0] &&
      (await import('../../src/stream/compression/compression.js'))
        .compressionOf(compressors[0])
        .compressBytes(blob.bytes)
    await packed.send({
      resourceName: uploadName(blob.digest, { compressor: compressors[0] as never }),
      data: frame?.subarray(0, 5000) ?? Buffer.alloc(0),
    })
    if (compressor === undefined) await uploadWhole(connect(), blob)
    else {
      const { compressionOf } = await import('../../src/stream/compression/compression.js')
      const bytes = compressionOf(compressor).compressBytes(blob.bytes)
      await write(connect(), messagesOf(uploadName(blob.digest, { compressor }), bytes))
    }
    t.equal(
      (await slow.response).committedSize,
      blob.bytes.length,
      `beside ${compressor?.name ?? 'an uncompressed one'}`,
    )
    t.equal((await packed.response).committedSize, -1)
    t.ok((await get(cas, blob.digest)).equals(blob.bytes))
  }
})

t.test('concurrent uploads of one blob, some with the same name', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(2 * MIB)
  const same = uploadName(blob.digest)
  const names = [same, same, same, uploadName(blob.digest), uploadName(blob.digest)]
  const answers = await Promise.all(names.map((name) => write(client, messagesOf(name, blob.bytes))))
  for (const { committedSize } of answers) t.equal(committedSize, blob.bytes.length)
  t.ok((await get(cas, blob.digest)).equals(blob.bytes))
})

t.test('BSW-22: no space', async (t) => {
  const faulty = new FaultyStore(await memoryStore())
  const { client } = await serve(t, { instances: { '': { cas: asCas(faulty) } } })
  faulty.failWrites = 'RESOURCE_EXHAUSTED'
  for (const sizeBytes of [10, 500_000]) {
    t.equal((await failure(uploadWhole(client, randomBlob(sizeBytes)))).code, 'RESOURCE_EXHAUSTED', 'BSW-22')
  }
  const stalled = openWrite(client)
  const blob = randomBlob(500_000)
  await stalled.send({ resourceName: uploadName(blob.digest), data: blob.bytes.subarray(0, 10) })
  t.equal(
    (await failure(stalled.response)).code,
    'RESOURCE_EXHAUSTED',
    'reported immediately, although no more bytes are sent',
  )
  t.equal(faulty.openUploads, 0)
})

t.test('GEN-06, FMB-10, BSW-26: interrupted uploads leave nothing behind and block nothing', async (t) => {
  const faulty = new FaultyStore(await memoryStore())
  const cas = asCas(faulty)
  const { client, clock } = await serve(t, { instances: { '': { cas } }, bounds: { parked: 10 * 1.05 * PARKED_BYTES } })
  const blob = randomBlob(400_000)
  const name = uploadName(blob.digest)
  for (let round = 0; round < 20; round++) {
    const broken = openWrite(client)
    await broken.send({
      resourceName: round % 2 === 0 ? name : uploadName(blob.digest),
      data: blob.bytes.subarray(0, 300_000),
    })
    await until(() => faulty.openUploads > 0)
    t.notOk(await has(cas, blob.digest), 'FMB-10: missing while under way')
    broken.cancel()
    await failure(broken.response)
  }
  await until(() => faulty.openUploads <= 5)
  t.pass('the number of kept uploads is bounded')
  await until(() => {
    clock.advance(10_000)
    return faulty.openUploads === 0
  })
  t.pass('they are dropped after a time')
  t.notOk(await has(cas, blob.digest))
  t.equal((await write(client, messagesOf(name, blob.bytes))).committedSize, 400_000, 'the same name again')
})

t.test('an upload that is cancelled after its last byte is not committed', async (t) => {
  const { client, cas, uploads } = await serve(t)
  const blob = randomBlob(100_000)
  const resourceName = uploadName(blob.digest)
  const cancelled = openWrite(client)
  await cancelled.send({ resourceName, data: blob.bytes })
  await until(async () => (await failure(query(client, resourceName))).code === 'OK')
  cancelled.cancel()
  t.equal((await failure(cancelled.response)).code, 'CANCELLED')
  t.notOk(await has(cas, blob.digest))
  uploads.close()
})

t.test('BSQ-01, BSQ-02, BSQ-05, CMP-19: the status of uploads', async (t) => {
  const { client, cas } = await serve(t)
  const blob = randomBlob(1000)
  const name = uploadName(blob.digest)
  t.match(await failure(query(client, name)), { code: 'NOT_FOUND' }, 'BSQ-02')
  await put(cas, blob)
  t.match(await query(client, name), { committedSize: 1000, complete: true }, 'BSQ-01')
  for (const compressor of compressors) {
    t.match(await query(client, uploadName(blob.digest, { compressor })), { complete: true }, 'CMP-19')
  }
  for (const bad of ['', 'x', formatReadName('', blob.digest), `nope/${name}`]) {
    t.equal((await failure(query(client, bad))).code, 'INVALID_ARGUMENT', `BSQ-05: ${bad}`)
  }
})

t.test('BSQ-03, BSQ-04: an interrupted upload is resumed where it ended', async (t) => {
  for (const how of ['cancelled', 'half-closed', 'still open'] as const) {
    const { client, connect, cas } = await serve(t)
    const blob = randomBlob(10 * MIB)
    const resourceName = uploadName(blob.digest)
    const broken = openWrite(connect())
    const [first, second, third] = messagesOf(resourceName, blob.bytes, MIB)
    for (const message of [first, second, third]) await broken.send(message ?? {})
    await until(async () => (await query(client, resourceName).catch(() => undefined))?.committedSize === 3 * MIB)
    if (how === 'cancelled') broken.cancel()
    if (how === 'half-closed') broken.end()
    if (how !== 'still open') await failure(broken.response)
    t.match(await query(client, resourceName), { committedSize: 3 * MIB, complete: false }, `BSQ-03: ${how}`)

    const wrong = write(client, [{ resourceName, writeOffset: 5, data: Buffer.from('x') }])
    t.match(await failure(wrong), { code: 'INVALID_ARGUMENT', message: /is 5, expected 3145728/ })
    const rest = messagesOf('', blob.bytes.subarray(3 * MIB), MIB).map((message, index) => ({
      ...message,
      ...(index === 0 ? { resourceName } : {}),
      writeOffset: 3 * MIB + index * MIB,
    }))
    t.match(await write(client, rest), { committedSize: 10 * MIB }, 'BSQ-04')
    t.ok((await get(cas, blob.digest)).equals(blob.bytes))
    if (how === 'still open')
      t.equal((await failure(broken.response)).code === 'OK', false, 'the first one has lost it')
  }
})

t.test('the memory held by interrupted uploads is bounded', async (t) => {
  // One instance may use half of the bound.
  const { client, ledger } = await serve(t, { bounds: { parked: 2 * (2 * PARKED_BYTES + 250_000) } })
  const names: string[] = []
  for (const keptBytes of [100_000, 100_000, 100_000, 200_000]) {
    const blob = randomBlob(500_000)
    const resourceName = uploadName(blob.digest)
    names.push(resourceName)
    await failure(write(client, [{ resourceName, data: blob.bytes.subarray(0, keptBytes) }]))
  }
  const codes = await Promise.all(names.map(async (name) => (await failure(query(client, name))).code))
  t.same(codes, ['NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND', 'OK'], 'two at most, then 250 kB at most')
  t.equal(ledger.kinds.parked.heldBytes, PARKED_BYTES + 200_000)
})

t.test('interrupted uploads of one instance leave room for those of another', async (t) => {
  const cas = asCas(await memoryStore())
  const bounds = { parked: 4 * (PARKED_BYTES + 100_000) }
  const { client } = await serve(t, { instances: { a: { cas }, b: { cas } }, bounds })
  const names: string[] = []
  for (const instanceName of ['b', 'a', 'a', 'a']) {
    const blob = randomBlob(500_000)
    const resourceName = uploadName(blob.digest, { instanceName })
    names.push(resourceName)
    await failure(write(client, [{ resourceName, data: blob.bytes.subarray(0, 100_000) }]))
  }
  const codes = await Promise.all(names.map(async (name) => (await failure(query(client, name))).code))
  t.same(codes, ['OK', 'NOT_FOUND', 'OK', 'OK'])
})

t.test('an interrupted upload is dropped if a full memory store needs the room for a live one', async (t) => {
  const cas = asCas(await memoryStore(undefined, 8 * MIB))
  const { client } = await serve(t, { instances: { '': { cas } } })
  const blob = randomBlob(7 * MIB)
  const resourceName = uploadName(blob.digest)
  const parked = [{ resourceName, data: blob.bytes.subarray(0, 6 * MIB) }]
  await failure(write(client, parked))
  t.match(await query(client, resourceName), { committedSize: 6 * MIB })
  const live = randomBlob(4 * MIB)
  t.match(await write(client, messagesOf(uploadName(live.digest), live.bytes)), { committedSize: 4 * MIB })
  t.ok((await get(cas, live.digest)).equals(live.bytes))
  t.equal((await failure(query(client, resourceName))).code, 'NOT_FOUND')
})

t.test('GEN-05: a deadline ends a slow upload', async (t) => {
  const { client } = await serve(t)
  const { call, response } = client.clientStream(`${BYTE_STREAM}/Write`, { options: { deadline: Date.now() + 300 } })
  const blob = randomBlob(1000)
  call.write({ resourceName: uploadName(blob.digest), data: blob.bytes.subarray(0, 10) })
  t.equal((await failure(response)).code, 'DEADLINE_EXCEEDED')
})

t.test('a fast client waits for a slow store', async (t) => {
  const faulty = new FaultyStore(await memoryStore())
  let open = (): void => {}
  faulty.writeGate = new Promise((resolve) => {
    open = resolve
  })
  const { client } = await serve(t, { instances: { '': { cas: asCas(faulty) } } })
  const blob = randomBlob(32 * MIB)
  const { send, end, response } = openWrite(client)
  let sent = 0
  const sending = (async () => {
    for (const message of messagesOf(uploadName(blob.digest), blob.bytes, MIB)) {
      await send(message)
      sent += 1
    }
    end()
  })()
  for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.ok(sent < 12, `${sent} of 32 messages have left the client`)
  open()
  await sending
  t.equal((await response).committedSize, 32 * MIB)
})

t.test('FMB-07 over ByteStream: a blob is present once its upload is answered', async (t) => {
  const { client, connect } = await serve(t)
  const blob = randomBlob(70_000)
  const ask = async () =>
    (await connect().unary(`${CAS}/FindMissingBlobs`, { blobDigests: [wire(blob.digest)] }).response).missingBlobDigests
      .length
  t.equal(await ask(), 1)
  await uploadWhole(client, blob)
  t.equal(await ask(), 0)
})

t.test(
  'a client that sends each message with offset 0 is named in the log once a minute, and others are not',
  async (t) => {
    const said = new Lines()
    const { client, connect, clock, cas } = await serve(t, { log: said.log })
    const restarted = async (from: typeof client) => {
      const blob = randomBlob(150_000)
      const messages = messagesOf(uploadName(blob.digest), blob.bytes).map((one) => ({ ...one, writeOffset: 0 }))
      t.equal((await failure(write(from, messages))).code, 'INVALID_ARGUMENT')
      t.notOk(await has(cas, blob.digest))
    }
    const count = (): number => said.text.match(/each message with write_offset 0/g)?.length ?? 0
    await restarted(client)
    t.equal(count(), 1)
    t.match(said.text, /warn .*write_offset 0.* client="?127\.0\.0\.1:\d+/)
    t.match(said.text, /agent="?grpc-node-js/)
    for (let again = 0; again < 3; again++) await restarted(connect())
    t.equal(count(), 1, 'no more in this minute')
    clock.advance(60_000)
    await until(() => count() === 2)
    t.match(said.text, /more of these were not written.* count=3/)
    const blob = randomBlob(150_000)
    const wrong = messagesOf(uploadName(blob.digest), blob.bytes).map((one, at) => ({ ...one, writeOffset: at }))
    t.equal((await failure(write(client, wrong))).code, 'INVALID_ARGUMENT')
    t.equal(count(), 2, 'another mistake')
  },
)
