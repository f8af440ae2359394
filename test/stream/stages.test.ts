import { PassThrough, Readable, Transform, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { ByteQueue } from '../../src/stream/byte-queue.js'
import type { WritePath } from '../../src/stream/path.js'
import { collect, deliver, run } from '../../src/stream/run.js'
import { Spill } from '../../src/stream/spill.js'
import { Tee } from '../../src/stream/tee.js'
import { bytesOf, call, cut, source } from '../store/blobs.js'
import { rejects } from '../store/suite.js'

type Failure = 'open' | 'write' | 'commit'

/** Keeps what is written; fails where told, and takes a chunk only when told if it is slow. */
class Sink extends Writable {
  readonly chunks: Buffer[] = []
  isCommitted = false
  order = 0
  #held: (() => void) | undefined

  constructor(
    readonly fails?: Failure,
    readonly isSlow = false,
  ) {
    super()
  }

  get bytes(): Buffer {
    return Buffer.concat(this.chunks)
  }

  take(): void {
    const held = this.#held
    this.#held = undefined
    held?.()
  }

  override _construct(callback: (error?: Error) => void): void {
    callback(this.fails === 'open' ? broken() : undefined)
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error) => void): void {
    this.chunks.push(chunk)
    if (this.fails === 'write') callback(broken())
    else if (this.isSlow) this.#held = callback
    else callback()
  }

  override _final(callback: (error?: Error) => void): void {
    if (this.fails === 'commit') {
      callback(broken())
      return
    }
    this.isCommitted = true
    this.order = ++commits
    callback()
  }
}

let commits = 0
const broken = () => new StatusError('UNAVAILABLE', 'broken')
const { signal } = call
const all = { maxBytes: Number.POSITIVE_INFINITY, signal }
const bytes = bytesOf(3_000_000)

const path = (sink: Sink): WritePath => [new PassThrough(), sink]

const drivers = {
  run: (stages: WritePath, by: AbortSignal = signal) => run([source(cut(bytes)), ...stages], by),
  deliver: (stages: WritePath, by: AbortSignal = signal) => deliver(bytes, stages, by),
}

for (const [name, drive] of Object.entries(drivers)) {
  t.test(`${name}: moves the bytes and resolves after the commit`, async (t) => {
    const sink = new Sink()
    await drive(path(sink))
    t.ok(sink.isCommitted)
    t.ok(sink.bytes.equals(bytes))
  })

  t.test(`${name}: a failing stage destroys all and is the error`, async (t) => {
    const thrower = () => new Transform({ transform: (_chunk, _encoding, callback) => callback(broken()) })
    const late = () =>
      new Transform({ transform: (_c, _e, callback) => callback(), flush: (callback) => callback(broken()) })
    for (const failing of [new Sink('open'), new Sink('write'), new Sink('commit')]) {
      const stages = path(failing)
      await rejects(t, drive(stages), 'UNAVAILABLE')
      t.ok(stages.every((stage) => stage.destroyed && stage.closed))
    }
    for (const failing of [thrower(), late()]) {
      const sink = new Sink()
      await rejects(t, drive([failing, sink]), 'UNAVAILABLE')
      t.ok(sink.closed && !sink.isCommitted, 'the sink did not commit')
    }
  })

  t.test(`${name}: what is not understood is INTERNAL, what closes early too`, async (t) => {
    const odd = new Transform({ transform: (_c, _e, callback) => callback(new Error('/secret/path')) })
    await rejects(t, drive([odd, new Sink()]), 'INTERNAL')
    const closing = new Transform({
      transform(_chunk, _encoding, callback) {
        this.destroy()
        callback()
      },
    })
    const sink = new Sink()
    await rejects(t, drive([closing, sink]), 'INTERNAL')
    t.notOk(sink.isCommitted)
    const dead = new Sink()
    dead.destroy()
    await setImmediate()
    await rejects(t, drive([new PassThrough(), dead]), 'INTERNAL')
  })

  t.test(`${name}: an abort is CANCELLED or the reason of the signal, at any time`, async (t) => {
    for (const [reason, code] of [
      [undefined, 'CANCELLED'],
      [new StatusError('DEADLINE_EXCEEDED', 'too late'), 'DEADLINE_EXCEEDED'],
    ] as const) {
      await rejects(t, drive(path(new Sink()), AbortSignal.abort(reason)), code)
      const controller = new AbortController()
      const slow = new Sink(undefined, true)
      const stages = path(slow)
      const transfer = drive(stages, controller.signal)
      for (let i = 0; i < 5; i++) await setImmediate()
      controller.abort(reason)
      await rejects(t, transfer, code)
      t.ok(stages.every(({ closed }) => closed) && !slow.isCommitted)
    }
    const controller = new AbortController()
    await drive(path(new Sink()), controller.signal)
    controller.abort()
  })
}

t.test('one signal carries many transfers without a warning', async (t) => {
  const warnings: string[] = []
  const listen = (warning: Error): void => void warnings.push(warning.message)
  process.on('warning', listen)
  const transfers = Array.from({ length: 60 }, (_, i) =>
    i % 2 === 0 ? drivers.run(path(new Sink())) : drivers.deliver(path(new Sink())),
  )
  await Promise.all(transfers)
  await setImmediate()
  process.off('warning', listen)
  t.same(warnings, [])
})

t.test('collect: gives the bytes, or refuses before it keeps too many', async (t) => {
  t.ok((await collect([source(cut(bytes)), new PassThrough()], { maxBytes: bytes.length, signal })).equals(bytes))
  t.equal((await collect([source([])], { maxBytes: 0, signal })).length, 0)
  let given = 0
  const endless = new Readable({
    read() {
      given += 1
      this.push(Buffer.alloc(1000))
    },
  })
  const stages = [endless, new PassThrough()] as const
  await rejects(t, collect(stages, { maxBytes: 5000, signal }), 'RESOURCE_EXHAUSTED')
  t.ok(given < 200 && stages.every(({ closed }) => closed), `${given} chunks were read`)
  await rejects(t, collect([source(cut(bytes))], { maxBytes: 1e9, signal: AbortSignal.abort() }), 'CANCELLED')
})

t.test('Tee: every branch gets all bytes, optional ones commit after the required', async (t) => {
  const [a, b, c] = [new Sink(), new Sink(), new Sink()]
  let after: readonly StatusError[] | undefined
  const afterCommit = async (dropped: readonly StatusError[]): Promise<void> => {
    t.ok(a.isCommitted && b.isCommitted && c.isCommitted, 'afterCommit runs last')
    after = dropped
  }
  await drivers.run([new Tee({ required: [path(a), path(b)], optional: [path(c)], afterCommit })])
  t.same(after, [])
  for (const sink of [a, b, c]) t.ok(sink.isCommitted && sink.bytes.equals(bytes))
  t.ok(c.order > a.order && c.order > b.order)
})

t.test('Tee: a required branch failing fails all, an optional one is dropped', async (t) => {
  for (const fails of ['open', 'write', 'commit'] as const) {
    const [required, optional] = [new Sink(), new Sink()]
    const tee = new Tee({ required: [path(required), path(new Sink(fails))], optional: [path(optional)] })
    await rejects(t, drivers.run([tee]), 'UNAVAILABLE')
    t.ok(optional.closed && !optional.isCommitted, `a required one failed at ${fails}: the cache claims nothing`)
    t.ok(required.closed)

    const kept = new Sink()
    let dropped = 0
    const lenient = new Tee({
      required: [path(kept)],
      optional: [path(new Sink(fails))],
      afterCommit: async (errors) => {
        dropped = errors.length
      },
    })
    await drivers.deliver([lenient])
    t.ok(kept.isCommitted && kept.bytes.equals(bytes), `an optional one failed at ${fails}`)
    t.equal(dropped, 1)
  }
  const failing = new Tee({
    required: [path(new Sink())],
    optional: [],
    afterCommit: async () => {
      throw broken()
    },
  })
  await rejects(t, drivers.run([failing]), 'UNAVAILABLE')
})

t.test('Tee: the slowest live branch paces the source, a dying one lets it go', async (t) => {
  const [fast, slow] = [new Sink(), new Sink(undefined, true)]
  const transfer = drivers.run([new Tee({ required: [[fast]], optional: [[slow]] })])
  for (let i = 0; i < 50; i++) await setImmediate()
  const waiting = fast.bytes.length
  t.ok(waiting < 1_000_000, `${waiting} bytes went ahead`)
  slow.take()
  for (let i = 0; i < 50; i++) await setImmediate()
  t.ok(fast.bytes.length > waiting && fast.bytes.length < 2_000_000)
  slow.destroy(broken())
  await transfer
  t.ok(fast.bytes.equals(bytes))
})

t.test('Spill: fills the cache, and never fails the read', async (t) => {
  const cache = new Sink()
  const spill = new Spill(path(cache))
  t.ok((await collect([source(cut(bytes)), spill], all)).equals(bytes))
  t.ok(cache.isCommitted && cache.bytes.equals(bytes), 'committed when the read ends')
  t.equal(await spill.outcome, undefined)
  for (const fails of ['open', 'write', 'commit'] as const) {
    const failing = new Spill(path(new Sink(fails)))
    t.ok((await collect([source(cut(bytes)), failing], all)).equals(bytes), `the cache fails at ${fails}`)
    t.match(await failing.outcome, { message: 'broken' })
  }
  const dying = new Sink(undefined, true)
  const reading = collect([source(cut(bytes)), new Spill([dying])], all)
  for (let i = 0; i < 20; i++) await setImmediate()
  dying.destroy()
  t.ok((await reading).equals(bytes), 'a cache that dies while the read waits for it')
})

t.test('Spill: a read that fails leaves nothing in the cache', async (t) => {
  const cache = new Sink()
  const failing = source(
    (function* () {
      yield bytes.subarray(0, 1_000_000)
      throw broken()
    })(),
  )
  await rejects(t, collect([failing, new Spill(path(cache))], all), 'UNAVAILABLE')
  t.ok(cache.closed && !cache.isCommitted)
})

t.test('ByteQueue gives back what was put in, however it is asked', async (t) => {
  const same = fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), fc.array(fc.nat(30)), (chunks, wanted) => {
    const queue = new ByteQueue()
    for (const chunk of chunks) queue.add(Buffer.from(chunk))
    const taken = wanted.map((count) => queue.take(Math.min(count, queue.sizeBytes)))
    taken.push(queue.take(queue.sizeBytes))
    return queue.sizeBytes === 0 && Buffer.concat(taken).equals(Buffer.concat(chunks))
  })
  t.doesNotThrow(() => fc.assert(same))
})
