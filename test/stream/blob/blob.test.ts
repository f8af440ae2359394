import { once } from 'node:events'
import { PassThrough, Readable, Transform, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Digest } from '../../../src/reapi/digest.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import type { BlobFile } from '../../../src/stream/blob/file.js'
import type { BlobStage } from '../../../src/stream/blob/stage.js'
import { ZstdCompress, zstdCompress } from '../../../src/stream/compression/zstd.js'
import { discard } from '../../../src/stream/path.js'
import { bytesOf, call, cut, digestOf, LentFeed, source } from '../../store/blobs.js'
import { rejects } from '../../store/suite.js'

const { signal } = call
const all = [Number.POSITIVE_INFINITY, { signal }] as const
const bytes = bytesOf(100_000)
const digest = digestOf(bytes)
const wrong = digestOf(Buffer.from('another blob'))

/** A range of a fake file. */
class Part implements BlobFile {
  readonly sizeBytes = bytes.length
  readonly bufferBytes = 1000
  reads = 0
  isClosed = false

  async read(into: Buffer, position: number): Promise<number> {
    this.reads += 1
    return bytes.copy(into, 0, position, Math.min(bytes.length, position + 30_000))
  }

  async close(): Promise<void> {
    this.isClosed = true
  }
}

const upper: BlobStage = {
  windowBytes: 0,
  bytes: (given) => Buffer.from(given.map((byte) => byte ^ 0x20)),
  stream: () =>
    new Transform({
      transform: (chunk: Buffer, _encoding, done) =>
        done(
          null,
          chunk.map((byte) => byte ^ 0x20),
        ),
    }),
}

t.test('content that is checked on the way into an encoding is not checked again behind it', async (t) => {
  const digest = digestOf(Buffer.from('content'))
  const checked = Blob.ofBytes(Buffer.from('content')).verify(digest, { fault: 'client' }).as('ZSTD')
  t.ok(checked.isVerified(digest))
  t.ok(checked.as('IDENTITY').isVerified(digest))
  const known = Blob.ofBytes(Buffer.from('content')).assumeVerified(digest).as('ZSTD')
  t.ok(known.isVerified(digest))
  t.notOk(Blob.ofBytes(Buffer.from('content')).as('ZSTD').isVerified(digest))
})

t.test('a blob is taken in its own form, completely and once', async (t) => {
  const part = new Part()
  const path = [source(cut(bytes))] as const
  t.match(await Blob.ofBytes(bytes).take(), { kind: 'bytes', bytes })
  t.match(await Blob.ofFile(part).take(), { kind: 'file', file: part })
  t.match(await Blob.ofPath(path).take(), { kind: 'path', path, isImmutable: false })
  for (const make of [
    () => Blob.ofBytes(bytes),
    () => Blob.ofFile(new Part()),
    () => Blob.ofPath([source(cut(bytes))]),
    () => Blob.ofPath([source(cut(bytes)), new PassThrough()]),
  ]) {
    t.ok((await make().bytes(...all)).equals(bytes))
    const chunks: Buffer[] = []
    const sink = new Writable({ write: (chunk, _encoding, done) => done(void chunks.push(chunk)) })
    await make().into([sink], signal)
    t.ok(Buffer.concat(chunks).equals(bytes))
    await make().drain(signal)
    const used = make()
    await used.drain(signal)
    t.throws(() => used.path(), { message: 'a blob was used twice' })
    t.throws(() => used.through(upper), { message: 'a blob was used twice' })
    const moved = make()
    moved.through(upper).discard()
    await t.rejects(moved.take(), { message: 'a blob was used twice' })
  }
})

t.test('immutable bytes stay immutable behind every stage', async (t) => {
  const given = [
    Blob.ofPath([source(cut(bytes))]).immutable(),
    Blob.ofBytes(bytes).through({ windowBytes: 0, stream: upper.stream }).immutable(),
    // A stream copies the bytes of these forms.
    Blob.ofFile(new Part()).through({ windowBytes: 0, stream: upper.stream }),
    Blob.ofFeed(new LentFeed(cut(bytes))).through({ windowBytes: 0, stream: upper.stream }),
    Blob.ofPath([source(cut(bytes))])
      .immutable()
      .through(upper)
      .verify(digest, { fault: 'client' })
      .as('ZSTD'),
  ]
  for (const blob of given) {
    const form = await blob.take()
    t.match(form, { kind: 'path', isImmutable: true })
    if (form.kind === 'path') discard(form.path)
  }
  t.match(
    await Blob.ofBytes(bytes).through({ windowBytes: 0, stream: upper.stream }).take(),
    { kind: 'path', isImmutable: false },
    'a caller may write to its own',
  )
})

t.test('bytes: a blob above maxBytes is rejected and released', async (t) => {
  const part = new Part()
  const stream = source(cut(bytes))
  await rejects(t, Blob.ofFile(part).bytes(99_999, { signal }), 'RESOURCE_EXHAUSTED')
  t.ok(part.isClosed && part.reads === 0)
  await rejects(t, Blob.ofPath([stream]).bytes(99_999, { signal }), 'RESOURCE_EXHAUSTED')
  t.ok(stream.closed)
  await rejects(t, Blob.ofBytes(bytes).bytes(99_999, { signal }), 'RESOURCE_EXHAUSTED')
  const [other, aborted] = [new Part(), AbortSignal.abort()]
  await rejects(t, Blob.ofFile(other).bytes(1e9, { signal: aborted }), 'CANCELLED')
  t.ok(other.isClosed)
})

t.test('a discarded blob holds no resources', async (t) => {
  const part = new Part()
  const stream = source(cut(bytes))
  Blob.ofFile(part).through(upper).verify(digest, { fault: 'client' }).discard()
  Blob.ofPath([stream]).as('ZSTD').discard()
  t.ok(part.isClosed && stream.destroyed)
})

t.test('bytes stay bytes through stages that support it', async (t) => {
  const swapped = Buffer.from(bytes.map((byte) => byte ^ 0x20))
  const twice = (blob: Blob): Blob => blob.through(upper).through(upper).through(upper)
  t.match(await twice(Blob.ofBytes(bytes)).take(), { kind: 'bytes', bytes: swapped })
  const { bytes: _, ...streamed } = upper
  const mixed = Blob.ofBytes(bytes).through(upper).through(streamed).through(upper)
  const form = await mixed.take()
  t.equal(form.kind, 'path')
  if (form.kind === 'path') t.equal(form.path.length, 3, 'from the first stage that cannot')
  t.ok((await twice(Blob.ofPath([source(cut(bytes))])).bytes(...all)).equals(swapped))
})

t.test('a damaged blob is blamed on its sender or backend, and never passed on whole', async (t) => {
  for (const [fault, code] of [
    ['client', 'INVALID_ARGUMENT'],
    ['backend', 'DATA_LOSS'],
  ] as const) {
    for (const make of [() => Blob.ofBytes(bytes), () => Blob.ofPath([source(cut(bytes))])]) {
      let repaired = 0
      const repair = async (): Promise<void> => void repaired++
      await rejects(
        t,
        make()
          .verify(wrong, { fault, repair })
          .bytes(...all),
        code,
      )
      t.equal(repaired, 1)
      t.ok(
        (
          await make()
            .verify(digest, { fault, repair })
            .bytes(...all)
        ).equals(bytes),
      )
    }
  }
})

t.test('a file is checked while it is read, also if a part is read again', async (t) => {
  let repairs = 0
  const repair = async (): Promise<void> => {
    repairs += 1
  }
  const readAll = async (as: Digest): Promise<Buffer> => {
    const form = await Blob.ofFile(new Part()).verify(as, { fault: 'backend', repair }).take()
    if (form.kind !== 'file') throw new Error(`it is ${form.kind}`)
    const all = Buffer.alloc(bytes.length)
    for (let at = 0; at < all.length; ) {
      at += await form.file.read(all.subarray(at), at)
      if (at === 60_000) at = 10_000 + (await form.file.read(all.subarray(10_000), 10_000))
    }
    return all
  }
  t.ok(bytes.equals(await readAll(digest)))
  t.equal(repairs, 0)
  const sameLength = digestOf(Buffer.alloc(bytes.length))
  await rejects(t, readAll(sameLength), 'DATA_LOSS')
  t.equal(repairs, 1)
  const form = await Blob.ofFile(new Part()).verify(wrong, { fault: 'backend' }).take()
  t.equal(form.kind, 'path', 'another length is found by the stage')
})

t.test('a blob is hashed once even if several stores request a check', async (t) => {
  let hashed = 0
  const counting: Digest = Object.create(digest, {
    function: {
      value: {
        ...digest.function,
        hash: (given: Uint8Array) => {
          hashed += 1
          return digest.function.hash(given)
        },
        createHasher: () => {
          hashed += 1
          return digest.function.createHasher(undefined)
        },
      },
    },
    key: { value: digest.key },
    hash: { value: digest.hash },
    sizeBytes: { value: digest.sizeBytes },
    content: { get: () => counting },
  })
  for (const make of [() => Blob.ofBytes(bytes), () => Blob.ofPath([source(cut(bytes))])]) {
    hashed = 0
    const checked = make()
      .verify(counting, { fault: 'client' })
      .verify(counting, { fault: 'client' })
      .verify(counting, { fault: 'backend' })
    t.ok(checked.isVerified(digest))
    t.ok((await checked.bytes(...all)).equals(bytes))
    t.equal(hashed, 1)
    await make().assumeVerified(digest).verify(counting, { fault: 'client' }).drain(signal)
    t.equal(hashed, 1, 'not at all when it is known')
    await make()
      .verify(counting, { fault: 'client', checksHash: false })
      .verify(counting, { fault: 'client' })
      .drain(signal)
    t.equal(hashed, 2, 'half a check is none')
    const changed = make().assumeVerified(digest).through(upper)
    t.notOk(changed.isVerified(digest), 'a stage makes another blob')
    changed.discard()
  }
})

t.test('a blob passes unchanged if it already has the wanted encoding', async (t) => {
  const made = zstdCompress(bytes, undefined)
  const upload = (): Blob => Blob.ofBytes(made, { encoding: 'ZSTD' })
  t.equal(upload().as('ZSTD').encoding, 'ZSTD')
  const plain = upload().as('IDENTITY', bytes.length)
  t.equal(plain.encoding, 'IDENTITY')
  t.equal(plain.sizeBytes, bytes.length)
  t.ok(plain.isIn('ZSTD') && !plain.isIn('BROTLI'))
  t.equal(await plain.as('ZSTD').bytes(...all), made, 'undone: the very same buffer')
  t.ok(
    (
      await upload()
        .as('IDENTITY', bytes.length)
        .bytes(...all)
    ).equals(bytes),
  )
  t.equal(
    await Blob.ofBytes(bytes)
      .as('DEFLATE')
      .as('IDENTITY')
      .bytes(...all),
    bytes,
  )
  const recoded = await upload()
    .as('BROTLI')
    .bytes(...all)
  t.ok(
    (
      await Blob.ofBytes(recoded, { encoding: 'BROTLI' })
        .as('IDENTITY')
        .bytes(...all)
    ).equals(bytes),
  )
})

t.test('a check moves with the blob into another encoding', async (t) => {
  const made = (): Blob => Blob.ofPath([source(cut(bytes)), new ZstdCompress()], { encoding: 'ZSTD' })
  const checked = (as: typeof digest): Blob => made().as('IDENTITY').verify(as, { fault: 'client' }).as('ZSTD')
  const right = await checked(digest).bytes(...all)
  t.ok(
    (
      await Blob.ofBytes(right, { encoding: 'ZSTD' })
        .as('IDENTITY')
        .bytes(...all)
    ).equals(bytes),
  )
  await rejects(t, checked(wrong).bytes(...all), 'INVALID_ARGUMENT')
  const encoded = Blob.ofBytes(bytes).verify(wrong, { fault: 'backend' }).as('ZSTD')
  await rejects(t, encoded.bytes(...all), 'DATA_LOSS')
})

t.test('a stage with doesCheck receives the check', async (t) => {
  const given: unknown[] = []
  const stage: BlobStage = {
    windowBytes: 0,
    doesCheck: true,
    stream: (check) => {
      given.push(check?.digest.key)
      return new PassThrough()
    },
  }
  await Blob.ofPath([source(cut(bytes))])
    .verify(wrong, { fault: 'client' })
    .through(stage)
    .drain(signal)
  await Blob.ofPath([source(cut(bytes))])
    .through(stage)
    .drain(signal)
  t.same(given, [wrong.key, undefined])
})

t.test('bytes in memory are returned without creating a signal', async (t) => {
  const call = {
    get signal(): AbortSignal {
      throw new Error('a signal was made')
    },
  }
  t.equal(await Blob.ofBytes(bytes).bytes(1e9, call), bytes)
  await t.rejects(Blob.ofPath([source(cut(bytes))]).bytes(1e9, call), /a signal was made/)
})

t.test('a file is closed after the read that its stream was destroyed in', async (t) => {
  const events: string[] = []
  let finish: (count: number) => void = () => {}
  const file: BlobFile = {
    sizeBytes: 10,
    bufferBytes: 10,
    read: () => new Promise((resolve) => (finish = resolve)),
    close: async () => void events.push('closed'),
  }
  const [stream] = Blob.ofFile(file).path()
  const closed = once(stream, 'close')
  stream.read()
  stream.destroy()
  await setImmediate()
  events.push('read')
  finish(10)
  await closed
  t.same(events, ['read', 'closed'])
})

t.test('the chunks of a stream may be kept without a copy only if somebody vouches for them', async (t) => {
  const stream = () => Blob.ofPath([Readable.from([Buffer.from('chunk')])])
  for (const [blob, isImmutable] of [
    [stream(), false],
    [stream().immutable(), true],
  ] as const) {
    const form = await blob.take()
    t.match(form, { kind: 'path', isImmutable })
    if (form.kind === 'path') for (const stage of form.path) stage.destroy()
  }
})
