import { once } from 'node:events'
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type CodeName, StatusError } from '../../../../src/base/status-error.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import type { Store } from '../../../../src/blobs/store.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { Call } from '../../../../src/rpc/call.js'
import { compression } from '../../../../src/store/kinds/compression/kind.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { verify } from '../../../../src/store/kinds/verify/kind.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import type { BlobFile } from '../../../../src/stream/blob/file.js'
import { WHOLE } from '../../../../src/stream/path.js'
import { until } from '../../../until.js'
import { bytesOf, call, cut, digestOf, get, isPresent, put, putStream, source } from '../../blobs.js'
import { buildStore, given, memoryStore, tierDefaults } from '../../build.js'
import { rejects } from '../../suite.js'
import { Watched } from '../../watched.js'
import { openFilesystem } from '../filesystem/open.js'

// A failing fast tier never fails a call, not even in the middle of a blob, and damaged blobs in it are never served.

const tiers = (fast: Store, slow: Store): Promise<Store> =>
  buildStore(
    fastSlow,
    {
      fast: given,
      slow: given,
      ...tierDefaults,
    },
    { children: { fast, slow } },
  )

const verified = (backend: Store): Promise<Store> =>
  buildStore(verify, { backend: given, verify_size: true, verify_hash: true }, { children: { backend } })

const SIZE = 3_000_000

/** Returns this many bytes of each blob, and then fails or ends. */
class BreakingOff extends ForwardingStore {
  constructor(
    backend: Store,
    readonly afterBytes: number,
    readonly failure: StatusError | undefined,
  ) {
    super(backend)
  }

  protected override outgoing(blob: Blob): Blob {
    const { sizeBytes, offset } = blob
    let left = this.afterBytes
    const cutter = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        const passed = chunk.subarray(0, Math.min(chunk.length, left))
        left -= passed.length
        if (passed.length > 0) cutter.push(passed)
        done(left > 0 ? null : this.failure)
      },
    })
    return Blob.ofPath([...blob.path(), cutter], { sizeBytes, offset })
  }
}

/** Returns files that cannot be read after this many bytes. */
class BreakingFiles extends ForwardingStore {
  closed = 0

  constructor(
    backend: Store,
    readonly afterBytes: number,
  ) {
    super(backend)
  }

  protected override outgoing(blob: Blob): Blob {
    const { sizeBytes = 0, offset } = blob
    const reading = blob.bytes(SIZE, call)
    const file: BlobFile = {
      sizeBytes,
      bufferBytes: SIZE,
      read: async (into, position) => {
        if (position >= this.afterBytes) throw new StatusError('DATA_LOSS', 'the disk of the store reports an error')
        return (await reading).copy(into, 0, position, Math.min(this.afterBytes, position + into.length))
      },
      close: async () => {
        await setImmediate()
        this.closed++
      },
    }
    return Blob.ofFile(file, { offset })
  }
}

/** Counts the streams of reads that have not closed. */
class Open extends Watched {
  open = 0

  protected override outgoing(blob: Blob): Blob {
    const path = super.outgoing(blob).path()
    this.open += 1
    path[0].once('close', () => {
      this.open -= 1
    })
    return Blob.ofPath(path, { sizeBytes: blob.sizeBytes, offset: blob.offset })
  }
}

const setUp = async (wrap: (backend: Store) => Store | Promise<Store>, sizeBytes = SIZE) => {
  const fast = await wrap(await memoryStore())
  const slow = new Open(await memoryStore())
  const bytes = bytesOf(sizeBytes)
  const digest = digestOf(bytes)
  const store = await tiers(fast, slow)
  await put(store, digest, bytes)
  return { fast, slow, store, bytes, digest }
}

const failure = (code: CodeName): StatusError => new StatusError(code, 'the fast tier broke')

t.test('a read that breaks off in the fast tier continues in the slow tier at its position', async (t) => {
  for (const after of [1, 1_000_000, SIZE - 1]) {
    for (const error of [failure('UNAVAILABLE'), failure('INTERNAL')]) {
      const { store, slow, bytes, digest } = await setUp((backend) => new BreakingOff(backend, after, error))
      t.ok((await get(store, digest)).equals(bytes), `after ${after} bytes`)
      t.equal(slow.reads, 1)
      t.equal(slow.readBytes, SIZE - after, 'and no byte of it twice')
    }
  }
})

t.test('a blob that the fast tier ends too early without an error continues from the slow tier', async (t) => {
  const { store, bytes, digest } = await setUp((backend) => new BreakingOff(backend, 1_000_000, undefined))
  t.ok((await get(store, digest)).equals(bytes))
})

t.test('a partial read that breaks off in the fast tier continues to the end of its range', async (t) => {
  const { store, slow, bytes, digest } = await setUp((backend) => new BreakingOff(backend, 600_000, failure('UNKNOWN')))
  for (const [offset, limit] of [
    [500_000, 1_500_000],
    [500_000, Number.POSITIVE_INFINITY],
    [-2_000_000, 1_500_000],
  ] as const) {
    const from = offset < 0 ? SIZE + offset : offset
    const before = slow.reads
    t.ok((await get(store, digest, { offset, limit })).equals(bytes.subarray(from, Math.min(SIZE, from + limit))))
    t.equal(slow.reads, before + 1)
  }
})

t.test('a file of the fast tier that fails in the middle continues from the slow tier', async (t) => {
  for (const after of [0, 1_000_000]) {
    const { fast, slow, store, bytes, digest } = await setUp((backend) => new BreakingFiles(backend, after))
    const before = slow.reads
    const form = await (await store.get(digest, WHOLE, call)).take()
    if (form.kind !== 'file') throw new Error(`expected a file, not ${form.kind}`)
    const found = Buffer.alloc(SIZE)
    for (let filled = 0; filled < SIZE; ) {
      filled += await form.file.read(found.subarray(filled, filled + 100_000), filled)
    }
    await form.file.close()
    t.ok(found.equals(bytes), `after ${after} bytes`)
    t.equal(slow.reads, before + 1, 'slow is read once, from there on')
    t.equal((fast as BreakingFiles).closed, 1, 'the file below is closed with it, not later')
  }
})

t.test('a file that continued from the slow tier can be read again from an earlier position', async (t) => {
  const { slow, store, bytes, digest } = await setUp((backend) => new BreakingFiles(backend, 1_000_000))
  const form = await (await store.get(digest, WHOLE, call)).take()
  if (form.kind !== 'file') throw new Error(`expected a file, not ${form.kind}`)
  const part = Buffer.alloc(1000)
  for (const position of [999_500, 1_000_000, 1_000_001, 999_000, 1_000_001]) {
    const count = await form.file.read(part, position)
    t.ok(part.subarray(0, count).equals(bytes.subarray(position, position + count)), `at ${position}`)
  }
  await until(() => slow.open === 1, 'the end of the rests that are not read any more')
  await form.file.close()
  await until(() => slow.open === 0, 'the end of the last one')
})

/** Returns a stream that needs turns to close. */
class ClosingLate extends ForwardingStore {
  source: Readable | undefined

  protected override outgoing(blob: Blob): Blob {
    const [source] = blob.path()
    const destroy = source._destroy.bind(source)
    source._destroy = async (error, callback) => {
      for (let turns = 0; turns < 5; turns++) await setImmediate()
      destroy(error, callback)
    }
    this.source = source
    return Blob.ofPath([source], { sizeBytes: SIZE })
  }
}

t.test('a read from the fast tier has closed all below it when it has closed, also one that never began', async (t) => {
  for (const reads of [true, false]) {
    const { fast, store, digest } = await setUp((backend) => new ClosingLate(backend))
    const [source] = (await store.get(digest, WHOLE, call)).path()
    if (reads) {
      source.resume()
      await once(source, 'data')
    }
    source.destroy()
    await once(source, 'close')
    t.ok((fast as ClosingLate).source?.closed, reads ? 'in the middle' : 'never read')
  }
})

t.test('if both tiers fail, the call fails with the error of the slow one', async (t) => {
  const { store, slow, digest } = await setUp((backend) => new BreakingOff(backend, 1000, failure('INTERNAL')))
  slow.fails.read = failure('UNAVAILABLE')
  await rejects(t, get(store, digest), 'UNAVAILABLE')
  await slow.remove(digest, 'unwanted', call)
  slow.fails.read = failure('NOT_FOUND')
  await rejects(t, get(store, digest), 'INTERNAL')
})

t.test(
  'a result that breaks off in the fast tier does not continue, because the slow tier may have another one',
  async (t) => {
    const { store, digest: content, bytes } = await setUp((it) => new BreakingOff(it, 1000, failure('UNAVAILABLE')))
    const digest = content.asKey()
    await put(store, digest, bytes)
    await rejects(t, get(store, digest), 'UNAVAILABLE')
  },
)

t.test('a reader that leaves in the middle is not a failure of the fast tier', async (t) => {
  const { store, slow, digest } = await setUp((backend) => backend)
  const controller = new AbortController()
  const blob = await store.get(digest, WHOLE, call)
  const leaving = new Transform({
    transform: (_chunk, _encoding, done) => {
      controller.abort()
      done()
    },
  })
  await rejects(t, blob.into([leaving], controller.signal), 'CANCELLED')
  ;(await store.get(digest, WHOLE, call)).discard()
  t.equal(slow.reads, 0)
})

/** Asks its backend before it accepts an upload. */
class Asking extends ForwardingStore {
  constructor(
    backend: Store,
    readonly asked: () => Promise<void>,
  ) {
    super(backend)
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    await this.asked()
    return super.put(digest, blob, call)
  }
}

t.test(
  'an upload cancelled while the slow tier is asked about it is CANCELLED and does not end the process',
  async (t) => {
    for (const which of ['slow', 'fast'] as const) {
      const controller = new AbortController()
      const asked = async (): Promise<void> => {
        controller.abort()
        for (let turns = 0; turns < 5; turns++) await setImmediate()
      }
      const [memory, asking] = [await memoryStore(), new Asking(await memoryStore(), asked)]
      const store = await (which === 'slow' ? tiers(memory, asking) : tiers(asking, memory))
      const bytes = bytesOf(SIZE)
      await rejects(t, putStream(store, digestOf(bytes), source(cut(bytes)), controller.signal), 'CANCELLED')
      t.notOk(await isPresent(store, digestOf(bytes)), which)
    }
  },
)

/** A fast tier on disk whose blob was changed before it starts. */
const damaged = async (t: Test, sizeBytes: number, damage: (path: string) => Promise<void>) => {
  const folder = t.testdir()
  const slow = new Watched(await memoryStore())
  const bytes = bytesOf(sizeBytes)
  const digest = digestOf(bytes)
  const before = await openFilesystem(folder)
  await put(await tiers(before.store, slow), digest, bytes)
  await before.close()
  const files = await readdir(folder, { recursive: true, withFileTypes: true })
  for (const file of files)
    if (file.isFile() && file.name.includes(digest.hash)) await damage(join(file.parentPath, file.name))
  const { store: fast, close } = await openFilesystem(folder)
  return { fast, slow, close, store: await tiers(fast, slow), bytes, digest }
}

const flip = async (path: string): Promise<void> => {
  const bytes = await readFile(path)
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
  await writeFile(path, bytes)
}

t.test('a small damaged file of the fast tier is never served: the same call reads the slow tier', async (t) => {
  for (const damage of [flip, (path: string) => truncate(path, 1000)]) {
    const { store, slow, fast, bytes, digest, close } = await damaged(t, 200_000, damage)
    t.ok((await get(store, digest)).equals(bytes))
    t.equal(slow.reads, 1)
    await until(() => isPresent(fast, digest))
    t.ok((await get(store, digest)).equals(bytes))
    t.equal(slow.reads, 1, 'and the fast tier has it right again')
    await close()
  }
})

t.test(
  'a large damaged file of the fast tier is not served completely, and then comes from the slow tier',
  async (t) => {
    const { store, fast, bytes, digest, close } = await damaged(t, SIZE, flip)
    await rejects(t, get(store, digest), 'DATA_LOSS')
    t.ok((await get(store, digest)).equals(bytes))
    await until(() => isPresent(fast, digest))
    await close()
  },
)

t.test('a large truncated file of the fast tier is read from the slow tier in the same call', async (t) => {
  const { store, bytes, digest, close } = await damaged(t, SIZE, (path) => truncate(path, 1_000_000))
  t.ok((await get(store, digest)).equals(bytes))
  await close()
})

t.test('a damaged blob of a compressing fast tier comes from the slow tier', async (t) => {
  const lz4 = { block_size: 64 * 1024, max_decode_block_size: 0 }
  for (const sizeBytes of [1000, SIZE]) {
    const memory = await memoryStore()
    const options = { backend: given, compression_algorithm: { lz4 } }
    const wrap = () => buildStore(compression, options, { children: { backend: memory } })
    const { store, bytes, digest } = await setUp(wrap, sizeBytes)
    const kept = Buffer.from(await get(memory, digest.asKey()))
    // The first block: no byte was returned before it is read.
    kept.fill(0xff, 60, 400)
    await put(memory, digest.asKey(), kept)
    t.ok((await get(store, digest)).equals(bytes), `${sizeBytes} bytes`)
  }
})

t.test('a blob that a check above finds damaged in the fast tier is fetched again from the slow one', async (t) => {
  for (const sizeBytes of [1000, SIZE]) {
    const { fast, slow, store, bytes, digest } = await setUp((backend) => backend, sizeBytes)
    const cas = await verified(store)
    await put(fast, digest, bytesOf(sizeBytes, 'wrong'))
    await rejects(t, get(cas, digest), 'DATA_LOSS')
    t.notOk(await isPresent(fast, digest), 'dropped')
    t.ok(await isPresent(slow, digest), 'there only')
    t.ok((await get(cas, digest)).equals(bytes))
    await until(() => isPresent(fast, digest))
    await put(fast, digest, bytesOf(sizeBytes, 'wrong'))
    await put(slow, digest, bytesOf(sizeBytes, 'wrong'))
    for (const _ of ['fast', 'slow']) await rejects(t, get(cas, digest), 'DATA_LOSS')
    await rejects(t, get(cas, digest), 'NOT_FOUND')
  }
})
