import { Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { pour } from '../../../src/stream/blob/pour.js'
import { PushedFeed } from '../../../src/stream/blob/pushed-feed.js'
import { putBoth } from '../../../src/stream/blob/put-both.js'
import { bytesOf, call, cut, digestOf, feedOf, source } from '../../store/blobs.js'
import { rejects } from '../../store/suite.js'

const { signal } = call
const bytes = bytesOf(3_000_000)
const digest = digestOf(bytes)
const broken = (): StatusError => new StatusError('UNAVAILABLE', 'broken')
let commits = 0

type Failure = 'open' | 'write' | 'commit'

/** A store in memory. It fails on demand; if slow, it consumes a chunk only on demand. */
class Place {
  chunks: Buffer[] = []
  commit = 0
  sink: Writable | undefined
  #held: (() => void) | undefined

  constructor(
    readonly fails?: Failure,
    readonly isSlow = false,
  ) {}

  get bytes(): Buffer {
    return Buffer.concat(this.chunks)
  }

  put = async (blob: Blob): Promise<void> => {
    if (this.fails === 'open') {
      blob.discard()
      throw broken()
    }
    this.sink = new Writable({
      write: (chunk: Buffer, _encoding, done) => {
        this.chunks.push(chunk)
        if (this.fails === 'write') done(broken())
        else if (this.isSlow) this.#held = done
        else done()
      },
      final: (done) => {
        if (this.fails !== 'commit') this.commit = ++commits
        done(this.fails === 'commit' ? broken() : null)
      },
    })
    await blob.into([this.sink], signal)
  }

  take(): void {
    this.#held?.()
  }
}

/** A feed that lends one buffer repeatedly, like a connection. */
const fed = (): PushedFeed => {
  const feed = new PushedFeed()
  const buffer = Buffer.alloc(100_000)
  const bring = async (): Promise<void> => {
    for (let at = 0; at < bytes.length; at += buffer.length) {
      const length = bytes.copy(buffer, 0, at)
      await feed.push(buffer.subarray(0, length))
    }
    feed.finish()
  }
  void bring()
  return feed
}

const forms = {
  feed: () => Blob.ofFeed(fed()),
  bytes: () => Blob.ofBytes(bytes),
  streams: () => Blob.ofPath([source(cut(bytes))]),
}

for (const [form, blob] of Object.entries(forms)) {
  t.test(`${form}: both stores get all bytes, the optional one commits after the required one`, async (t) => {
    const [required, optional] = [new Place(), new Place()]
    t.equal(await putBoth(digest, blob(), { required: required.put, optional: optional.put }, signal), undefined)
    t.ok(required.bytes.equals(bytes) && optional.bytes.equals(bytes))
    t.ok(optional.commit > required.commit && required.commit > 0)
  })

  t.test(`${form}: a failure of the required store rejects, one of the optional store is returned`, async (t) => {
    for (const fails of ['open', 'write', 'commit'] as const) {
      const [required, optional] = [new Place(fails), new Place()]
      await rejects(
        t,
        putBoth(digest, blob(), { required: required.put, optional: optional.put }, signal),
        'UNAVAILABLE',
      )
      t.equal(optional.commit, 0, `failed at ${fails}: the cache claims nothing`)
      t.ok(optional.sink?.closed !== false)

      const [kept, failing] = [new Place(), new Place(fails)]
      const failure = await putBoth(digest, blob(), { required: kept.put, optional: failing.put }, signal)
      t.match(failure, { message: 'broken' })
      t.ok(kept.commit > 0 && kept.bytes.equals(bytes), `the optional one failed at ${fails}`)
    }
  })

  t.test(`${form}: a pending check is done once, by the required store`, async (t) => {
    const seen: boolean[] = []
    const see = (place: Place) => (half: Blob) => {
      seen.push(half.isVerified(digest))
      return place.put(half)
    }
    const [required, optional] = [new Place(), new Place()]
    const right = blob().verify(digest, { fault: 'client' })
    await putBoth(digest, right, { required: see(required), optional: see(optional) }, signal)
    t.same(seen, [true, true], 'nobody below has to hash it again')

    const other = digestOf(Buffer.from('other'))
    const [refusing, cache] = [new Place(), new Place()]
    const wrong = blob().verify(other, { fault: 'client' })
    await rejects(t, putBoth(other, wrong, { required: refusing.put, optional: cache.put }, signal), 'INVALID_ARGUMENT')
    t.equal(refusing.commit + cache.commit, 0, 'neither keeps a wrong blob')
  })
}

t.test('a failing source leaves nothing in either store', async (t) => {
  const [required, optional] = [new Place(), new Place()]
  const failing = source(
    (function* () {
      yield bytes.subarray(0, 1_000_000)
      throw broken()
    })(),
  )
  const places = { required: required.put, optional: optional.put }
  await rejects(t, putBoth(digest, Blob.ofPath([failing]), places, signal), 'UNAVAILABLE')
  t.equal(required.commit + optional.commit, 0)
  t.ok(required.sink?.closed && optional.sink?.closed)
})

t.test('a feed that breaks off leaves nothing in either store', async (t) => {
  const [required, optional] = [new Place(), new Place()]
  const feed = new PushedFeed()
  const places = { required: required.put, optional: optional.put }
  const putting = putBoth(digest, Blob.ofFeed(feed), places, signal)
  await feed.push(bytes.subarray(0, 1_000_000))
  feed.fail(broken())
  await rejects(t, putting, 'UNAVAILABLE')
  t.equal(required.commit + optional.commit, 0)
  t.ok(required.sink?.closed && optional.sink?.closed)
})

for (const form of ['feed', 'streams'] as const) {
  t.test(`${form}: an abort ends both puts`, async (t) => {
    const controller = new AbortController()
    const [required, optional] = [new Place(undefined, true), new Place()]
    const places = { required: required.put, optional: optional.put }
    const putting = putBoth(digest, forms[form](), places, controller.signal)
    for (let i = 0; i < 20; i++) await setImmediate()
    controller.abort()
    await rejects(t, putting, 'CANCELLED')
    t.ok(required.sink?.closed && optional.sink?.closed)
  })

  t.test(`${form}: the slower store sets the pace, a dead one does not block the source`, async (t) => {
    const [quick, slow] = [new Place(), new Place(undefined, true)]
    const putting = putBoth(digest, forms[form](), { required: quick.put, optional: slow.put }, signal)
    for (let i = 0; i < 50; i++) await setImmediate()
    const waiting = quick.bytes.length
    t.ok(waiting < 1_500_000, `${waiting} bytes went ahead`)
    slow.take()
    for (let i = 0; i < 50; i++) await setImmediate()
    t.ok(quick.bytes.length > waiting && quick.bytes.length < 2_500_000)
    slow.sink?.destroy(broken())
    t.match(await putting, { message: 'broken' })
    t.ok(quick.bytes.equals(bytes))
  })
}

t.test('stores that take feeds get the lent bytes without a copy, however late they start', async (t) => {
  const [first, second]: Buffer[][] = [[], []]
  const lent = new Set<ArrayBufferLike>()
  const into =
    (taken: Buffer[] = []) =>
    async (blob: Blob): Promise<void> => {
      for (let i = 0; i < 10; i++) await setImmediate()
      const form = await blob.take()
      t.equal(form.kind, 'feed')
      const take = (chunk: Buffer): undefined => {
        lent.add(chunk.buffer)
        taken.push(Buffer.from(chunk))
      }
      await pour(form, take, signal)
    }
  t.equal(await putBoth(digest, forms.feed(), { required: into(first), optional: into(second) }, signal), undefined)
  t.ok(Buffer.concat(first ?? []).equals(bytes) && Buffer.concat(second ?? []).equals(bytes))
  t.equal(lent.size, 1, 'the one buffer that was lent')
})

t.test('a feed is discarded, not read to its end, if the required store fails', async (t) => {
  let taken = 0
  const feed = new PushedFeed()
  const counted = feedOf(
    (taker, onStop) =>
      feed.into((chunk) => {
        taken += chunk.length
        return taker(chunk)
      }, onStop),
    () => feed.discard(),
  )
  const places = { required: new Place('open').put, optional: new Place().put }
  const putting = putBoth(digest, Blob.ofFeed(counted), places, signal)
  await rejects(t, putting, 'UNAVAILABLE')
  await feed.push(bytes)
  t.equal(taken, 0)
})

t.test('a required store that skips the bytes leaves the optional one all of them', async (t) => {
  const optional = new Place()
  const required = async (blob: Blob): Promise<void> => blob.discard()
  t.equal(await putBoth(digest, forms.feed(), { required, optional: optional.put }, signal), undefined)
  t.ok(optional.bytes.equals(bytes))
})
