import { Readable } from 'node:stream'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { DirectoryTrees } from '../../src/content/directory-trees.js'
import { silentLog, textLog } from '../../src/log/log.js'
import { SparingLog } from '../../src/log/sparing-log.js'
import { codec } from '../../src/proto/codec.js'
import { compressors } from '../../src/reapi/compressor.js'
import { Digest } from '../../src/reapi/digest.js'
import { internalCall } from '../../src/rpc/call.js'
import { batchReadBlobs } from '../../src/service/cas/batch-read-blobs.js'
import { FAULT_RATION } from '../../src/service/cas/options.js'
import { asCas } from '../../src/store/view/cas.js'
import { collect } from '../../src/stream/collect.js'
import { compressionOf } from '../../src/stream/compression/compression.js'
import { parseZstdFrame } from '../../src/stream/compression/zstd-frame.js'
import { drawnBytes } from '../drawn.js'
import { FaultyStore } from './faulty-store.js'
import {
  BLAKE3,
  type Blob,
  blobOf,
  CAS,
  failure,
  get,
  has,
  MIB,
  memoryStore,
  put,
  randomBlob,
  SHA1,
  SHA256,
  serve,
  wire,
} from './harness.js'

const EMPTY = Digest.of(Buffer.alloc(0), SHA256)
const absent = (text: string) => wire(blobOf(text).digest)
const responseCodec = codec('build.bazel.remote.execution.v2.BatchReadBlobsResponse')
const batchReadCodec = codec('build.bazel.remote.execution.v2.BatchReadBlobsRequest')

t.test('INS-01, INS-02, INS-05, INS-06: instances', async (t) => {
  const blob = blobOf('tenant')
  const { client } = await serve(t, { instances: { '': {}, a: {}, 'projects/p/instances/i': {} } })
  const find = async (instanceName: string) =>
    (await client.unary(`${CAS}/FindMissingBlobs`, { instanceName, blobDigests: [wire(blob.digest)] }).response)
      .missingBlobDigests.length
  const request = { instanceName: 'a', requests: [{ digest: wire(blob.digest), data: blob.bytes }] }
  t.equal((await client.unary(`${CAS}/BatchUpdateBlobs`, request).response).responses[0].status.code, 0)
  t.equal(await find('a'), 0)
  t.equal(await find(''), 1, 'INS-06: another tenant does not see it')
  t.equal(await find('projects/p/instances/i'), 1)
  for (const method of ['FindMissingBlobs', 'BatchUpdateBlobs', 'BatchReadBlobs']) {
    const unknown = await failure(client.unary(`${CAS}/${method}`, { instanceName: 'nope' }).response)
    t.equal(unknown.code, 'INVALID_ARGUMENT', `INS-02: ${method}`)
    t.match(unknown.message, /"nope" is not configured, expected one of "", "a", "projects\/p\/instances\/i"/)
    const reserved = await failure(client.unary(`${CAS}/${method}`, { instanceName: 'a/blobs/b' }).response)
    t.match(reserved, { code: 'INVALID_ARGUMENT', message: /blobs is reserved/ }, `INS-05: ${method}`)
  }
})

t.test('DIG-01 to DIG-09: digests of requests', async (t) => {
  const { client } = await serve(t, {
    instances: { '': {}, blake: { digestFunctions: [BLAKE3] }, old: { digestFunctions: [SHA256, SHA1] } },
  })
  const find = (request: object) => client.unary(`${CAS}/FindMissingBlobs`, request).response
  const good = absent('good')
  const bad: [string, object][] = [
    ['DIG-01: upper case', { hash: good.hash.toUpperCase(), sizeBytes: 4 }],
    ['DIG-01: 63 digits', { hash: good.hash.slice(1), sizeBytes: 4 }],
    ['DIG-01: 65 digits', { hash: `${good.hash}0`, sizeBytes: 4 }],
    ['DIG-01: not hex', { hash: `${good.hash.slice(1)}g`, sizeBytes: 4 }],
    ['DIG-03: negative size', { hash: good.hash, sizeBytes: -1 }],
    ['DIG-04: empty hash', { hash: '', sizeBytes: 4 }],
    ['DIG-04: nothing', {}],
  ]
  for (const [title, digest] of bad) {
    t.equal((await failure(find({ blobDigests: [digest] }))).code, 'INVALID_ARGUMENT', title)
    const late = await failure(find({ blobDigests: [good, digest] }))
    t.equal(late.code, 'INVALID_ARGUMENT', `FMB-06, ${title}, among good ones`)
    t.match(late.message, /blob_digests\[1\]/, 'names the field')
    t.equal(
      (await failure(client.unary(`${CAS}/BatchReadBlobs`, { digests: [digest] }).response)).code,
      'INVALID_ARGUMENT',
      `BRB-09, ${title}`,
    )
    const update = { requests: [{ digest, data: Buffer.from('x') }] }
    t.equal(
      (await failure(client.unary(`${CAS}/BatchUpdateBlobs`, update).response)).code,
      'INVALID_ARGUMENT',
      `BUB-15, ${title}`,
    )
  }
  const sha1 = { hash: 'a'.repeat(40), sizeBytes: 4 }
  t.equal(
    (await failure(find({ blobDigests: [good], digestFunction: 2 }))).code,
    'INVALID_ARGUMENT',
    'DIG-06: SHA1 is not served',
  )
  t.equal((await failure(find({ blobDigests: [sha1], digestFunction: 1 }))).code, 'INVALID_ARGUMENT', 'DIG-07: length')
  t.equal(
    (await failure(find({ instanceName: 'old', blobDigests: [good, sha1] }))).code,
    'INVALID_ARGUMENT',
    'DIG-08: mixed',
  )
  t.equal((await find({ instanceName: 'old', blobDigests: [sha1] })).missingBlobDigests.length, 1, 'DIG-05: inferred')

  const blake = blobOf('content', BLAKE3)
  const entry = { digest: wire(blake.digest), data: blake.bytes }
  const update = async (request: object) =>
    (await client.unary(`${CAS}/BatchUpdateBlobs`, request).response).responses[0].status.code
  t.equal(await update({ requests: [entry] }), 3, 'DIG-09: without the field it is a SHA256 that does not fit')
  t.equal(await update({ requests: [entry], digestFunction: 9 }), 0)
  t.equal((await find({ blobDigests: [wire(blake.digest)], digestFunction: 9 })).missingBlobDigests.length, 0)
  t.equal((await find({ blobDigests: [wire(blake.digest)] })).missingBlobDigests.length, 1, 'DIG-10: not under SHA256')
  t.equal(await update({ instanceName: 'blake', requests: [entry] }), 0, 'a BLAKE3-only instance takes it bare')
})

t.test('FMB-01, FMB-02, FMB-03, FMB-04, FMB-11, DIG-02, DIG-12, DIG-13: missing blobs', async (t) => {
  const { client, cas } = await serve(t)
  const here = [blobOf('one'), blobOf('two')]
  await put(cas, ...here)
  const find = async (...blobDigests: object[]) =>
    (await client.unary(`${CAS}/FindMissingBlobs`, { blobDigests }).response).missingBlobDigests
  const [one, two] = here.map(({ digest }) => wire(digest))
  t.match(await find(one ?? {}, absent('x'), two ?? {}, absent('y')), [absent('x'), absent('y')])
  t.same(await find(one ?? {}, two ?? {}), [])
  t.same(await find(), [])
  t.ok((await find(absent('x'), absent('x'))).length >= 1)
  t.same(await find(wire(EMPTY)), [], 'FMB-04: the empty blob is always there')
  t.equal((await find({ hash: one?.hash, sizeBytes: 4 })).length, 1, 'DIG-02: the size is part of it')
  t.equal((await find({ hash: absent('x').hash, sizeBytes: 0 })).length, 1, 'DIG-13')
})

t.test('FMB-05: large requests', async (t) => {
  const { client } = await serve(t)
  const many = Array.from({ length: 14_000 }, (_, index) => absent(String(index)))
  const { missingBlobDigests } = await client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: many }).response
  t.equal(missingBlobDigests.length, many.length)
  const tooMany = Array.from({ length: 62_000 }, () => many[0])
  const refused = await failure(client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: tooMany }).response)
  t.match(refused, { code: 'INVALID_ARGUMENT', message: /too many/ }, 'GEN-04: no answer above 4 MiB')
})

t.test('FMB-07, BUB-01, BUB-07, BUB-08: uploads in batches', async (t) => {
  const { client, connect } = await serve(t)
  const blobs = [blobOf('a'), blobOf('bb'), randomBlob(300_000)]
  const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
  for (const round of ['new', 'BUB-07: present']) {
    const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, {
      requests: [...requests, { digest: wire(EMPTY) }],
    }).response
    t.same(
      responses.map(({ status }: { status: { code: number } }) => status.code),
      [0, 0, 0, 0],
      round,
    )
    t.match(
      responses.map(({ digest }: { digest: object }) => digest),
      [...requests.map(({ digest }) => digest), wire(EMPTY)],
    )
  }
  const blobDigests = requests.map(({ digest }) => digest)
  const { missingBlobDigests } = await connect().unary(`${CAS}/FindMissingBlobs`, { blobDigests }).response
  t.same(missingBlobDigests, [], 'FMB-07: there for everybody at once')
  t.same((await client.unary(`${CAS}/BatchUpdateBlobs`, {}).response).responses, [], 'BUB-08')
})

t.test('BUB-02, BUB-03, BUB-06, BUB-09: an entry fails on its own', async (t) => {
  const { client, cas } = await serve(t)
  const [good, wrong, short, long] = [blobOf('good'), blobOf('wrong'), blobOf('short'), blobOf('long!')]
  const requests = [
    { digest: wire(good.digest), data: good.bytes },
    { digest: wire(wrong.digest), data: Buffer.from('wrung') },
    { digest: { ...wire(short.digest), sizeBytes: 6 }, data: short.bytes },
    { digest: { ...wire(long.digest), sizeBytes: 4 }, data: long.bytes },
    { digest: wire(good.digest), data: good.bytes },
    { digest: wire(wrong.digest), data: wrong.bytes, compressor: 77 },
  ]
  const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  t.same(
    responses.map(({ status }: { status: { code: number } }) => status.code),
    [0, 3, 3, 3, 0, 3],
  )
  t.match(responses[1].status.message, /are not that blob/)
  t.match(responses[5].status.message, /compressor 77 is not served/)
  t.ok(await has(cas, good.digest))
  t.notOk(await has(cas, wrong.digest))
})

t.test('BUB-04, BUB-05, GEN-03: the limit of a batch is the one announced', async (t) => {
  const { client } = await serve(t)
  const update = (blobs: readonly Blob[]) =>
    client.unary(`${CAS}/BatchUpdateBlobs`, {
      requests: blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes })),
    }).response
  const full = [randomBlob(2 * MIB), randomBlob(2 * MIB)]
  t.match(
    (await update(full)).responses,
    [{ status: { code: 0 } }, { status: { code: 0 } }],
    'BUB-05: exactly the limit',
  )
  const over = await failure(update([...full, blobOf('x')]))
  t.match(over, { code: 'INVALID_ARGUMENT', message: /expected at most 4194304 bytes/ }, 'BUB-04')
  const lie = { digest: { ...wire(blobOf('x').digest) }, data: Buffer.alloc(5 * MIB) }
  t.equal(
    (await failure(client.unary(`${CAS}/BatchUpdateBlobs`, { requests: [lie] }).response)).code,
    'INVALID_ARGUMENT',
    'a lying size',
  )
})

t.test('BUB-13: no space', async (t) => {
  const faulty = new FaultyStore(await memoryStore())
  const { client } = await serve(t, { instances: { '': { cas: asCas(faulty) } } })
  const { digest, bytes } = blobOf('small')
  faulty.failWrites = 'RESOURCE_EXHAUSTED'
  const requests = [{ digest: wire(digest), data: bytes }]
  const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
  t.equal(responses[0].status.code, 8)
})

t.test('BUB-16: fifty clients upload the same blob concurrently', async (t) => {
  const { connect, cas } = await serve(t)
  const blob = randomBlob(100_000)
  const request = { requests: [{ digest: wire(blob.digest), data: blob.bytes }] }
  const clients = Array.from({ length: 5 }, connect)
  const answers = Array.from(
    { length: 50 },
    (_, index) => clients[index % 5]?.unary(`${CAS}/BatchUpdateBlobs`, request).response,
  )
  for (const { responses } of await Promise.all(answers)) t.equal(responses[0].status.code, 0)
  t.ok((await get(cas, blob.digest)).equals(blob.bytes))
})

t.test('BRB-01, BRB-02, BRB-05, BRB-06, BRB-10: reads in batches', async (t) => {
  const { client, cas } = await serve(t)
  const blobs = [blobOf('a'), randomBlob(200_000)]
  await put(cas, ...blobs)
  const [a, b] = blobs.map(({ digest }) => wire(digest))
  const read = async (...digests: object[]) =>
    (await client.unary(`${CAS}/BatchReadBlobs`, { digests }).response).responses
  const responses = await read(a ?? {}, b ?? {}, absent('x'), wire(EMPTY), a ?? {})
  t.equal(responses.length, 4, 'BRB-05: duplicates are answered once')
  t.same(
    responses.map(({ status }: { status: { code: number } }) => status.code),
    [0, 0, 5, 0],
  )
  t.match(responses[2].status.message, absent('x').hash)
  t.ok(responses[0].data.equals(blobs[0]?.bytes))
  t.ok(responses[1].data.equals(blobs[1]?.bytes))
  t.equal(responses[3].data.length, 0, 'BRB-06')
  t.same(await read(), [], 'BRB-10')
})

t.test('BRB-03: the status is on the wire, also for success', async (t) => {
  const { client, cas } = await serve(t)
  await put(cas, blobOf('a'))
  const { responses } = await client.unary(`${CAS}/BatchReadBlobs`, { digests: [wire(blobOf('a').digest)] }).response
  t.not(responses[0].status, null)
  t.ok(responseCodec.encode({ responses }).includes(Buffer.from([0x1a, 0])), 'field 3, empty')
})

t.test('BRB-04, GEN-04: the limits of a batch and of a message', async (t) => {
  const { client, cas } = await serve(t)
  const blobs = [randomBlob(2 * MIB), randomBlob(2 * MIB), blobOf('x')]
  await put(cas, ...blobs)
  const digests = blobs.map(({ digest }) => wire(digest))
  const over = await failure(client.unary(`${CAS}/BatchReadBlobs`, { digests }).response)
  t.match(over, { code: 'INVALID_ARGUMENT', message: /expected at most 4194304/ }, 'BRB-04')
  const { responses } = await client.unary(`${CAS}/BatchReadBlobs`, { digests: digests.slice(0, 2) }).response
  t.same(
    responses.map(({ status }: { status: { code: number } }) => status.code),
    [0, 8],
    'blobs that no longer fit are listed',
  )
  const many = Array.from({ length: 30_000 }, (_, index) => absent(`${index}`))
  const answer = await client.unary(`${CAS}/BatchReadBlobs`, {
    digests: many.map((digest) => ({ ...digest, sizeBytes: 1 })),
  }).response
  t.equal(answer.responses.length, 30_000)
  t.ok(answer.responses.every(({ status }: { status: { code: number } }) => status.code === 5))
})

t.test('BRB-07, BRB-11, BUB-10, BUB-11, BUB-12, CAP-12: compressed batches', async (t) => {
  const { client, cas } = await serve(t)
  const { compressors } = await import('../../src/reapi/compressor.js')
  const { compressionOf } = await import('../../src/stream/compression/compression.js')
  for (const compressor of compressors) {
    const { value } = compressor
    const { compressBytes } = compressionOf(compressor)
    const blob = blobOf(`${compressor.name} `.repeat(20_000))
    const bomb = Buffer.alloc(8 * MIB)
    const data = compressBytes(blob.bytes)
    const requests = [
      { digest: wire(blob.digest), data, compressor: value },
      { digest: absent('other'), data: compressBytes(Buffer.from('wrong')), compressor: value },
      { digest: absent('cut'), data: data.subarray(0, data.length - 3), compressor: value },
      { digest: { hash: absent('bomb').hash, sizeBytes: 10 }, data: compressBytes(bomb), compressor: value },
      { digest: absent('junk'), data: Buffer.from('no compressed data at all'), compressor: value },
    ]
    const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
    t.same(
      responses.map(({ status }: { status: { code: number } }) => status.code),
      [0, 3, 3, 3, 3],
      compressor.name,
    )
    t.ok((await get(cas, blob.digest)).equals(blob.bytes))

    const read = async (acceptableCompressors: number[]) =>
      (await client.unary(`${CAS}/BatchReadBlobs`, { digests: [wire(blob.digest)], acceptableCompressors }).response)
        .responses[0]
    const packed = await read([99, value])
    t.equal(packed.compressor, value)
    t.ok(packed.data.length < blob.bytes.length / 10)
    const plain = await read([])
    t.equal(plain.compressor, 0)
    t.ok(plain.data.equals(blob.bytes))
    t.equal((await read([0, 99])).compressor, 0, 'IDENTITY is always allowed')
  }
})

t.test('BatchReadBlobs does not block the event loop while it compresses 4 MiB', async (t) => {
  const cas = asCas(await memoryStore())
  const blob = blobOf(drawnBytes(2 * MIB - 5_000).toString('hex'))
  await put(cas, blob)
  const instance = { cas, digestFunctions: [SHA256], compressors, chunked: undefined }
  const limits = { maxBatchBytes: 4 * MIB, maxResponseBytes: 4 * MIB }
  const clock = new ManualClock()
  const parts = { trees: new DirectoryTrees(), clock, faults: new SparingLog(silentLog, clock, FAULT_RATION) }
  const handler = batchReadBlobs({ instances: new Map([['', instance]]), ...limits, ...parts })
  const rpc = Object.assign(internalCall(), {
    ...{ peer: 'test', metadata: new Map(), compressesResponses: false },
    ...{ setHeaders: () => {}, setTrailers: () => {}, note: () => {}, cameCompressed: () => false },
    reserveAnswer: async () => {},
  })
  for (const { name, value } of compressors) {
    const request = { digests: [wire(blob.digest)], acceptableCompressors: [value] }
    let turnCount = 0
    const turn = (): void => {
      turnCount += 1
      timer = setImmediate(turn)
    }
    let timer = setImmediate(turn)
    const { responses } = await handler(batchReadCodec.decode(batchReadCodec.encode(request)), rpc)
    clearImmediate(timer)
    const [answer] = responses ?? []
    t.equal(answer?.compressor, value, name)
    t.ok(turnCount > 3, `${name}: ${turnCount} turns`)
    const data = answer?.data as Buffer
    if (name === 'ZSTD') {
      t.match(
        parseZstdFrame(data),
        { contentBytes: blob.bytes.length },
        'clients that decode at once know how much comes',
      )
    }
    const back = await collect([Readable.from([data], { objectMode: false }), compressionOf({ name }).decompress()], {
      maxBytes: 8 * MIB,
      signal: rpc.signal,
    })
    t.ok(back.equals(blob.bytes), name)
  }
})

t.test('BSR-08, BRB-08: a read from a failing backend or of a truncated blob never succeeds', async (t) => {
  const faulty = new FaultyStore(await memoryStore())
  const { client } = await serve(t, { instances: { '': { cas: asCas(faulty) } } })
  const blob = randomBlob(1000)
  await put(asCas(faulty), blob)
  const code = async () =>
    (await client.unary(`${CAS}/BatchReadBlobs`, { digests: [wire(blob.digest)] }).response).responses[0].status.code
  faulty.breakReads = { afterBytes: 500, how: 'fail' }
  t.equal(await code(), 14)
  faulty.breakReads = { afterBytes: 500, how: 'end' }
  t.equal(await code(), 15)
  faulty.breakReads = undefined
  faulty.failReads = 'UNAVAILABLE'
  t.equal(
    (await failure(client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: [wire(blob.digest)] }).response)).code,
    'UNAVAILABLE',
  )
})

t.test('SPL-01, CAP-14, GEN-02: SplitBlob and SpliceBlob are not served', async (t) => {
  const { client } = await serve(t)
  for (const method of ['SplitBlob', 'SpliceBlob']) {
    t.equal((await failure(client.unary(`${CAS}/${method}`, {}).response)).code, 'UNIMPLEMENTED', method)
  }
})

t.test('FMB-08, BRB-11: FindMissingBlobs and reads extend the lifetime of blobs', async (t) => {
  const cas = asCas(await memoryStore(undefined, 3000))
  const { client } = await serve(t, { instances: { '': { cas } } })
  const [first, second, third] = [randomBlob(900), randomBlob(900), randomBlob(900)]
  await put(cas, first, second, third)
  await client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: [wire(first.digest)] }).response
  await client.unary(`${CAS}/BatchReadBlobs`, { digests: [wire(second.digest)] }).response
  await put(cas, randomBlob(900))
  const blobDigests = [first, second, third].map(({ digest }) => wire(digest))
  const { missingBlobDigests } = await client.unary(`${CAS}/FindMissingBlobs`, { blobDigests }).response
  t.match(missingBlobDigests, [wire(third.digest)])
})

t.test(
  'a store that is away is a line a minute with a count for uploads and one for reads, without a stack',
  async (t) => {
    const faulty = new FaultyStore(await memoryStore())
    const lines: string[] = []
    const log = textLog('info', (line) => lines.push(line.replace(/^\S+ /, '').trim()))
    const { client, clock } = await serve(t, { instances: { '': { cas: asCas(faulty) } }, log })
    faulty.failWrites = 'UNAVAILABLE'
    faulty.failReads = 'UNAVAILABLE'
    for (let count = 0; count < 3; count++) {
      const blobs = Array.from({ length: 100 }, (_, number) => blobOf(Buffer.from(`blob ${count} ${number}`)))
      const requests = blobs.map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
      await client.unary(`${CAS}/BatchUpdateBlobs`, { requests }).response
      await client.unary(`${CAS}/BatchReadBlobs`, { digests: requests.map(({ digest }) => digest) }).response
    }
    clock.advance(60_000)
    t.equal(lines.length, 4, lines.join('\n'))
    t.match(lines[0], /^warn {2}could not store a blob digest=\S+ code=UNAVAILABLE error="UNAVAILABLE: [^\\]*"$/)
    t.match(lines[1], /^warn {2}could not read a blob digest=/)
    t.match(lines[2], 'could not store a blob: more of these were not written count=299')
    t.match(lines[3], 'could not read a blob: more of these were not written count=299')
  },
)
