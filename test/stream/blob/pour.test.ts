import { Readable } from 'node:stream'
import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import type { BlobFeed, FeedTaker } from '../../../src/stream/blob/feed.js'
import { pour } from '../../../src/stream/blob/pour.js'
import { PushedFeed } from '../../../src/stream/blob/pushed-feed.js'
import { zstdCompress } from '../../../src/stream/compression/zstd.js'
import { bytesOf, call, cut, digestOf, feedOf, LentFeed } from '../../store/blobs.js'

const LARGE_BYTES = 600 * 1024
const bytes = bytesOf(LARGE_BYTES)
const { signal } = call

/** A feed that overwrites one buffer for each chunk. */
const feed = (chunkBytes: number): BlobFeed =>
  feedOf(async (taker) => {
    const lent = Buffer.alloc(chunkBytes)
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const count = bytes.copy(lent, 0, at, at + chunkBytes)
      await taker(lent.subarray(0, count))
      lent.fill(0)
    }
  })

/** A feed that stays silent until it is discarded. */
const silent = (): BlobFeed => {
  let end: (error: Error) => void = () => {}
  return feedOf(
    () =>
      new Promise((_, reject) => {
        end = reject
      }),
    () => end(new StatusError('CANCELLED', 'it was given up')),
  )
}

const forms = {
  bytes: () => Blob.ofBytes(bytes),
  feed: () => Blob.ofFeed(feed(100_000)),
  path: () => Blob.ofPath([Readable.from([bytes.subarray(0, 5), bytes.subarray(5)])]),
}

for (const [kind, blob] of Object.entries(forms)) {
  t.test(`the bytes of a blob as ${kind} arrive in order, one chunk at a time`, async (t) => {
    const found: Buffer[] = []
    let isTaking = false
    const taker: FeedTaker = async (lent) => {
      t.equal(isTaking, false, 'nothing comes while there is no room')
      isTaking = true
      found.push(Buffer.from(lent))
      await new Promise(setImmediate)
      isTaking = false
    }
    await pour(await blob().take(), taker, signal)
    t.ok(Buffer.concat(found).equals(bytes))
  })

  t.test(`the taker of a blob as ${kind} can reject it`, async (t) => {
    let count = 0
    const full = new StatusError('RESOURCE_EXHAUSTED', 'the disk is full')
    const taker: FeedTaker = () => {
      count += 1
      return Promise.reject(full)
    }
    await t.rejects(
      blob()
        .take()
        .then((form) => pour(form, taker, signal)),
      { message: 'the disk is full' },
    )
    t.equal(count, 1, 'and is given nothing more')
  })

  t.test(`an aborted call gets no more bytes of a blob as ${kind}`, async (t) => {
    const abort = new AbortController()
    let count = 0
    const taker: FeedTaker = async () => {
      count += 1
      abort.abort(new StatusError('DEADLINE_EXCEEDED', 'too late'))
      if (kind === 'feed') throw new StatusError('CANCELLED', 'the feed was given up')
    }
    await t.rejects(
      blob()
        .take()
        .then((form) => pour(form, taker, abort.signal)),
      { message: 'too late' },
    )
    t.equal(count, 1)
  })
}

t.test('an already aborted call takes nothing', async (t) => {
  const over = AbortSignal.abort(new StatusError('DEADLINE_EXCEEDED', 'too late'))
  for (const blob of [...Object.values(forms), () => Blob.ofFeed(silent())]) {
    const form = await blob().take()
    await t.rejects(
      pour(form, async () => void t.fail('it takes something'), over),
      { message: 'too late' },
    )
  }
})

t.test('an abort during a silent feed does not wait for more bytes', async (t) => {
  const abort = new AbortController()
  const poured = pour({ kind: 'feed', feed: silent() }, () => undefined, abort.signal)
  abort.abort(new StatusError('DEADLINE_EXCEEDED', 'too late'))
  await t.rejects(poured, { message: 'too late' })
})

/** A taker that keeps its first chunk until it is told to go on. */
const gated = () => {
  const gate = { isSettled: false, chunkCount: 0, open: () => {}, reached: Promise.resolve() }
  let reach = (): void => {}
  gate.reached = new Promise((resolve) => {
    reach = resolve
  })
  const taker: FeedTaker = async () => {
    gate.chunkCount += 1
    if (gate.chunkCount > 1) return
    await new Promise<void>((resolve) => {
      gate.open = resolve
      reach()
    })
    gate.isSettled = true
  }
  return { gate, taker }
}

const turns = async (): Promise<void> => {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate)
}

for (const [kind, blob] of Object.entries({
  ...forms,
  feed: () => Blob.ofFeed(new LentFeed(cut(bytes))),
  pushed: () => {
    const feed = new PushedFeed()
    void feed.push(bytes)
    return Blob.ofFeed(feed)
  },
  checked: () => Blob.ofFeed(new LentFeed(cut(bytes))).verify(digestOf(bytes), { fault: 'client' }),
  decoded: () => Blob.ofFeed(new LentFeed(cut(zstdCompress(bytes))), { encoding: 'ZSTD' }).as('IDENTITY', bytes.length),
})) {
  t.test(`an abort while the taker of a blob as ${kind} works is reported after its work has ended`, async (t) => {
    const abort = new AbortController()
    const { gate, taker } = gated()
    let isOver = false
    const poured = pour(await blob().take(), taker, abort.signal).finally(() => {
      isOver = true
    })
    poured.catch(() => {})
    await gate.reached
    abort.abort(new StatusError('DEADLINE_EXCEEDED', 'too late'))
    await turns()
    t.equal(isOver, false, 'the taker still works')
    gate.open()
    await t.rejects(poured, { message: 'too late' })
    t.ok(gate.isSettled)
    t.equal(gate.chunkCount, 1, 'and got nothing more')
  })
}

for (const [kind, begin] of Object.entries({
  feed: () => {
    const feed = new PushedFeed()
    void feed.push(bytes)
    return { blob: Blob.ofFeed(feed), fail: (error: StatusError) => feed.fail(error) }
  },
  path: () => {
    const source = new Readable({ read() {} })
    source.push(bytes)
    return { blob: Blob.ofPath([source]), fail: (error: StatusError) => void source.destroy(error) }
  },
})) {
  t.test(`a ${kind} that fails while its taker works tells it, and fails after it`, async (t) => {
    const { blob, fail } = begin()
    const { gate, taker } = gated()
    const told: unknown[] = []
    const poured = pour(await blob.take(), taker, signal, (error) => {
      told.push(error)
      gate.open()
    })
    await gate.reached
    fail(new StatusError('UNAVAILABLE', 'broken'))
    await t.rejects(poured, { message: 'broken' })
    t.ok(gate.isSettled)
    t.match(told[0], { message: 'broken' })
  })
}

t.test('a taker that gives up the transfer when a blob fails does not hide why it failed', async (t) => {
  const gone = new StatusError('UNAVAILABLE', 'the lender is gone')
  const source = new Readable({ read: () => void source.destroy(gone) })
  for (const blob of [Blob.ofFeed(new LentFeed(cut(bytes), gone)), Blob.ofPath([source])]) {
    const controller = new AbortController()
    const poured = pour(
      await blob.take(),
      () => undefined,
      controller.signal,
      () => controller.abort(),
    )
    await t.rejects(poured, { code: gone.code, message: gone.message })
  }
})

t.test('a taker that fails, and gives up the transfer then, does not hide why it failed', async (t) => {
  const late = new StatusError('DEADLINE_EXCEEDED', 'the server is late')
  for (const blob of [Blob.ofFeed(feed(100_000)), Blob.ofPath([Readable.from(cut(bytes))])]) {
    const controller = new AbortController()
    const take = async (): Promise<void> => {
      throw late
    }
    const poured = pour(await blob.take(), take, controller.signal, () => controller.abort())
    await t.rejects(poured, { code: late.code, message: late.message })
  }
})
