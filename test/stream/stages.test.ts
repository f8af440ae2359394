import { PassThrough, Readable, Transform, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { ByteQueue } from '../../src/stream/byte-queue.js'
import { collect, deliver } from '../../src/stream/collect.js'
import { join } from '../../src/stream/join.js'
import type { WritePath } from '../../src/stream/path.js'
import { bytesOf, call, cut, source } from '../store/blobs.js'
import { rejects } from '../store/suite.js'

type Failure = 'open' | 'write' | 'commit'

/** A sink in memory. It fails on demand; if slow, it consumes a chunk only on demand. */
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
const bytes = bytesOf(3_000_000)

const path = (sink: Sink): WritePath => [new PassThrough(), sink]

const drivers = {
  run: (stages: WritePath, by: AbortSignal = signal) => join([source(cut(bytes)), ...stages], by),
  deliver: (stages: WritePath, by: AbortSignal = signal) => deliver(bytes, stages, by),
}

for (const [name, drive] of Object.entries(drivers)) {
  t.test(`${name}: moves the bytes, and resolves after the commit`, async (t) => {
    const sink = new Sink()
    await drive(path(sink))
    t.ok(sink.isCommitted)
    t.ok(sink.bytes.equals(bytes))
  })

  t.test(`${name}: a failing stage destroys all stages, and its error is the result`, async (t) => {
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

  t.test(`${name}: an unknown error and an early close are INTERNAL`, async (t) => {
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

t.test('a stage that failed before it was joined fails the transfer with its own error', async (t) => {
  const failed = new PassThrough().on('error', () => {})
  failed.destroy(broken())
  await setImmediate()
  t.ok(failed.closed)
  await rejects(t, join([failed, new Sink()], call.signal), 'UNAVAILABLE')
})

t.test('many transfers share one signal without a warning', async (t) => {
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

t.test('collect: returns the bytes, or fails before it holds too many', async (t) => {
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

t.test('ByteQueue returns the added bytes in portions of any size', async (t) => {
  const same = fc.property(fc.array(fc.uint8Array({ maxLength: 20 })), fc.array(fc.nat(30)), (chunks, wanted) => {
    const queue = new ByteQueue()
    for (const chunk of chunks) queue.add(Buffer.from(chunk))
    const taken = wanted.map((count) => queue.take(Math.min(count, queue.sizeBytes)))
    taken.push(queue.take(queue.sizeBytes))
    return queue.sizeBytes === 0 && Buffer.concat(taken).equals(Buffer.concat(chunks))
  })
  t.doesNotThrow(() => fc.assert(same))
})
