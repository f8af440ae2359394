import { readdir } from 'node:fs/promises'
import { PassThrough, Readable, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import type { Test } from 'tap'
import { Code, isStatus, StatusError } from '../../src/base/status-error.js'
import { getBytes, keep, missingOf, putBytes, type Store } from '../../src/blobs/store.js'
import { Digest } from '../../src/reapi/digest.js'
import { DigestBatch } from '../../src/reapi/digest-batch.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { join } from '../../src/stream/join.js'
import { WHOLE } from '../../src/stream/path.js'
import { until } from '../until.js'
import {
  bytesOf,
  call,
  cut,
  digestOf,
  feedOf,
  get,
  isPresent,
  LentFeed,
  put,
  putAll,
  putLent,
  putStream,
  source,
} from './blobs.js'

export interface OpenStore {
  readonly store: Store
  close(): Promise<void>
  /** Closes the store and opens it again on its data; needed when `isPersistent`. */
  reopen?(): Promise<OpenStore>
  /** Names of leftovers between transfers, mainly temporary files. */
  leftovers?(): Promise<readonly string[]>
}

export interface SuiteOptions {
  readonly name: string
  /** A fresh and empty store without eviction limits. `t` is the test that uses it, for `t.testdir`. */
  open(t: Test): Promise<OpenStore>
  readonly isPersistent: boolean
  /** The store rejects bytes that do not match the digest, so it gets no others. */
  readonly checksUploads?: boolean
  /** Blobs can be removed. False for another server. */
  readonly removes?: boolean
  /** The backend is another process, which may have written a small blob before it saw the cancellation. */
  readonly isElsewhere?: boolean
  /** How many blobs, cuts and ranges are tried. */
  readonly runs?: number
  /** The same shapes with fewer and smaller blobs: for wrappers, whose code has no limit of its own that lies higher. */
  readonly isBrief?: boolean
}

/** The number of tiers in the stores that the tests open. */
const TIERS_MAX = 3

const KIB = 1024
const MIB = 1024 * KIB

/** Empty, small, and around the sizes at which stages cut. */
const SIZES = [
  0,
  1,
  1000,
  64 * KIB - 1,
  64 * KIB,
  64 * KIB + 1,
  256 * KIB - 1,
  256 * KIB,
  256 * KIB + 1,
  3 * MIB + 17,
] as const

const BRIEF_SIZES = [0, 1, 64 * KIB + 1, 256 * KIB, 600_017] as const

const sizesOf = ({ isBrief = false }: SuiteOptions): readonly number[] => (isBrief ? BRIEF_SIZES : SIZES)

/** The contract of every kind of store (src/blobs/store.ts). The test of a kind starts with it. */
export const storeSuite = (t: Test, options: SuiteOptions): void => {
  const withStore = (name: string, work: (t: Test, open: OpenStore) => Promise<void>): void => {
    void t.test(`${options.name}: ${name}`, async (t) => {
      const descriptors = await openDescriptors()
      const open = await options.open(t)
      await work(sparing(t), open)
      await until(async () => ((await open.leftovers?.())?.length ?? 0) === 0, 'no leftovers')
      t.same((await open.leftovers?.()) ?? [], [], 'leaves nothing behind')
      await open.close()
      await until(async () => (await openDescriptors()) <= descriptors, 'that no file is left open')
    })
  }

  contents(withStore, options)
  ranges(withStore, options)
  uploads(withStore, options)
  downloads(withStore, options)
  wholeBlobs(withStore, options)
  if (options.isPersistent) restart(withStore)
}

/**
 * Reports only the assertions of these kinds that fail. A suite makes four hundred, and reporting those that hold takes
 * longer than the stores do.
 */
const sparing = (t: Test): Test => {
  const holds: Readonly<Record<string, (...values: unknown[]) => boolean>> = {
    ok: (value) => Boolean(value),
    notOk: (value) => !value,
    equal: (found, wanted) => found === wanted,
  }
  return new Proxy(t, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name, target)
      if (typeof method !== 'function') return method
      const isSo = holds[String(name)]
      return (...values: unknown[]) => isSo?.(...values) === true || method.apply(target, values)
    },
  })
}

type WithStore = (name: string, work: (t: Test, open: OpenStore) => Promise<void>) => void

const contents = (withStore: WithStore, options: SuiteOptions): void => {
  withStore('an absent blob is NOT_FOUND before there is a stream', async (t, { store }) => {
    const absent = ['a', 'b', 'c'].map((text) => digestOf(Buffer.from(text)))
    for (const digest of absent) await rejects(t, store.get(digest, WHOLE, call), 'NOT_FOUND')
    t.same(keys(await missingOf(store, absent, call)), keys(absent), 'all are missing, in the order asked')
    t.same(await missingOf(store, [], call), [])
  })

  withStore('returns blobs of every size', async (t, { store }) => {
    for (const sizeBytes of sizesOf(options)) {
      const bytes = bytesOf(sizeBytes)
      const digest = digestOf(bytes)
      await put(store, digest, bytes)
      t.ok(await isPresent(store, digest), `${sizeBytes} bytes are present`)
      t.ok((await get(store, digest)).equals(bytes), `${sizeBytes} bytes came back`)
      const other = bytesOf(sizeBytes, 'delivered')
      const otherDigest = digestOf(other)
      await putBytes(store, otherDigest, other, call)
      t.ok((await get(store, otherDigest)).equals(other), `${sizeBytes} delivered bytes came back`)
    }
  })

  withStore('keep is a question that promises: it finds the same, and what it found is there', async (t, { store }) => {
    const [present, absent] = ['present', 'absent'].map((text) => digestOf(Buffer.from(text))) as [Digest, Digest]
    await put(store, present, Buffer.from('present'))
    t.ok(store.properties.retentionMs >= 0)
    const missing = await keep(store, DigestBatch.of([absent, present]), 24 * 3_600_000, call)
    t.same(keys(missing.digests()), keys([absent]))
    t.ok(await isPresent(store, present))
  })

  withStore('finds blobs by their hash alone if it says so', async (t, { store }) => {
    for (const sizeBytes of [1, 64 * KIB + 1, 600_017]) {
      const digest = digestOf(bytesOf(sizeBytes, 'by hash'))
      const named = Digest.parse({ hash: digest.hash, sizeBytes: 0 }, digest.function)
      t.equal(await store.sizeOf(named, call), undefined)
      await put(store, digest, bytesOf(sizeBytes, 'by hash'))
      const found = await store.sizeOf(named, call)
      t.ok(found === sizeBytes || (found === undefined && !store.properties.findsByHash), `${found} of ${sizeBytes}`)
      if (options.removes === false) continue
      await store.remove(digest, 'unwanted', call)
      t.equal(await store.sizeOf(named, call), undefined, 'no more')
    }
  })

  withStore('never says that it lacks a blob that it has', async (t, { store }) => {
    for (const sizeBytes of [1, 600_017]) {
      const bytes = bytesOf(sizeBytes, 'lacked')
      const digest = digestOf(bytes)
      if (store.lacks(digest, call)) await rejects(t, store.get(digest, WHOLE, call), 'NOT_FOUND')
      await put(store, digest, bytes)
      t.equal(store.lacks(digest, call), false, `${sizeBytes} bytes`)
      if (options.removes === false) continue
      await store.remove(digest, 'unwanted', call)
      if (store.lacks(digest, call)) await rejects(t, store.get(digest, WHOLE, call), 'NOT_FOUND')
    }
  })

  withStore('finds missing blobs among present ones', async (t, { store }) => {
    const blobs = Array.from({ length: 20 }, (_, i) => Buffer.from(`blob ${i}`))
    for (const [i, bytes] of blobs.entries()) if (i % 3 === 0) await put(store, digestOf(bytes), bytes)
    const missing = blobs.filter((_, i) => i % 3 !== 0)
    t.same(keys(await missingOf(store, blobs.map(digestOf), call)), keys(missing.map(digestOf)))
    const asked = [...blobs, ...blobs.slice(0, 5)].map(digestOf)
    const absent = asked.filter((_, i) => (i % 20) % 3 !== 0)
    t.same(keys((await store.findMissing(DigestBatch.of(asked), call)).digests()), keys(absent), 'and so in a batch')
    const present = blobs.filter((_, i) => i % 3 === 0)
    t.equal((await store.findMissing(DigestBatch.of(present.map(digestOf)), call)).count, 0)
  })

  withStore('keeps digest functions apart', async (t, { store }) => {
    const bytes = bytesOf(100)
    const digest = digestOf(bytes)
    await put(store, digest, bytes)
    const twin = Digest.parse(digest.toMessage(), digestFunctions.BLAKE3)
    t.same(keys(await missingOf(store, [twin], call)), [twin.key])
    t.ok(await isPresent(store, digest))
    await rejects(t, store.get(twin, WHOLE, call), 'NOT_FOUND')
  })

  if (options.removes !== false)
    withStore('forgets removed blobs', async (t, { store }) => {
      const bytes = bytesOf(5000)
      const digest = digestOf(bytes)
      await store.remove(digest, 'unwanted', call)
      await put(store, digest, bytes)
      await store.remove(digest, 'unwanted', call)
      t.notOk(await isPresent(store, digest))
      await rejects(t, store.get(digest, WHOLE, call), 'NOT_FOUND')
      await put(store, digest, bytes)
      t.ok((await get(store, digest)).equals(bytes), 'and takes it again')
      // A store of tiers drops the copy of one of them each time.
      for (let tier = 0; tier < TIERS_MAX && (await isPresent(store, digest)); tier++)
        await store.remove(digest, 'wrong', call)
      t.notOk(await isPresent(store, digest), 'a blob damaged in every tier is absent')
    })

  withStore('reports that it works, and that it keeps blobs', async (t, { store }) => {
    t.equal(store.properties.keepsNothing, false)
    const { state, message } = await store.health(call)
    t.equal(state, 'Ok')
    t.match(message, /./)
  })

  if (options.checksUploads === true) return
  withStore('stores and replaces blobs under keys', async (t, { store }) => {
    const digest = digestOf(Buffer.from('an action')).asKey()
    for (const sizeBytes of [300 * KIB, 0, 12]) {
      const bytes = bytesOf(sizeBytes, 'a result')
      await put(store, digest, bytes)
      t.ok((await get(store, digest)).equals(bytes), `${sizeBytes} bytes`)
      t.ok(await isPresent(store, digest))
    }
  })
}

const ranges = (withStore: WithStore, { runs = 40 }: SuiteOptions): void => {
  withStore('reads any part of a blob', async (t, { store }) => {
    const sizeBytes = 700 * KIB + 3
    const bytes = bytesOf(sizeBytes)
    const digest = digestOf(bytes)
    await put(store, digest, bytes)
    const all = Number.POSITIVE_INFINITY
    const parts: [offset: number, limit: number][] = [
      [0, all],
      [0, 1],
      [0, sizeBytes],
      [0, sizeBytes + 1],
      [1, all],
      [1, 1],
      [64 * KIB - 1, 2],
      [64 * KIB, 64 * KIB],
      [200_000, 300_000],
      [sizeBytes - 1, all],
      [sizeBytes - 1, 1],
      [sizeBytes, all],
      [sizeBytes, 5],
      [5, 0],
      [256 * KIB - 1, 256 * KIB + 2],
    ]
    for (const [offset, limit] of parts) {
      const expected = bytes.subarray(offset, Math.min(sizeBytes, offset + limit))
      const part = await store.get(digest, { offset, limit }, call)
      if (part.encoding === 'IDENTITY' && part.sizeBytes !== undefined)
        t.equal(part.sizeBytes, expected.length, `the length announced for ${limit} bytes from ${offset}`)
      t.ok((await part.bytes(Number.POSITIVE_INFINITY, call)).equals(expected), `${limit} bytes from ${offset}`)
    }
    for (const [back, limit] of [
      [1, all],
      [5, 3],
      [300_000, 100],
      [sizeBytes, all],
      [sizeBytes, 7],
      [sizeBytes + 1, all],
      [sizeBytes * 3, 9],
    ] as const) {
      const from = Math.max(0, sizeBytes - back)
      const found = await get(store, digest, { offset: -back, limit })
      t.ok(
        found.equals(bytes.subarray(from, Math.min(sizeBytes, from + limit))),
        `${limit} bytes, ${back} from the end`,
      )
    }
    for (const offset of [sizeBytes + 1, sizeBytes * 10]) {
      await rejects(t, get(store, digest, { offset, limit: all }), 'OUT_OF_RANGE')
      await rejects(t, get(store, digest, { offset, limit: 3 }), 'OUT_OF_RANGE')
    }
  })

  withStore('any split of the bytes and any range', async (t, { store }) => {
    const arbitrary = fc.record({
      sizeBytes: fc.oneof(fc.nat(2000), fc.nat(600 * KIB)),
      sizes: fc.array(fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.integer({ min: 1, max: 300 * KIB })), {
        minLength: 1,
        maxLength: 5,
      }),
      from: fc.double({ min: 0, max: 1, noNaN: true }),
      limit: fc.oneof(fc.nat(600 * KIB), fc.constant(Number.POSITIVE_INFINITY)),
    })
    const holds = fc.asyncProperty(arbitrary, async ({ sizeBytes, sizes, from, limit }) => {
      const bytes = bytesOf(sizeBytes, `${sizeBytes}`)
      const digest = digestOf(bytes)
      const isTiny = Math.min(...sizes) < 100 && sizeBytes > 5000
      await put(store, digest, bytes, { sizes: isTiny ? sizes.map((size) => size + 1000) : sizes })
      const offset = Math.floor(from * sizeBytes)
      const found = await get(store, digest, { offset, limit })
      return found.equals(bytes.subarray(offset, Math.min(sizeBytes, offset + limit)))
    })
    await t.resolves(fc.assert(holds, { numRuns: runs }))
  })
}

const uploads = (withStore: WithStore, options: SuiteOptions): void => {
  const { isBrief = false } = options
  /** More than all stages of a path hold. */
  const largeBytes = isBrief ? 2 * MIB : 5 * MIB
  withStore('a cancelled upload leaves nothing', async (t, { store, leftovers }) => {
    const bytes = bytesOf(MIB)
    const digest = digestOf(bytes)
    for (const at of [0, 1, 300 * KIB]) {
      const controller = new AbortController()
      const bytesThenAbort = aborting(bytes.subarray(0, at), () => controller.abort())
      await rejects(t, putStream(store, digest, bytesThenAbort, controller.signal), 'CANCELLED')
      t.notOk(await isPresent(store, digest), `after ${at} bytes`)
      t.same((await leftovers?.()) ?? [], [], `nothing is left after ${at} bytes`)
    }
    const aborted = AbortSignal.abort()
    await rejects(t, putBytes(store, digest, bytes, { ...call, signal: aborted }), 'CANCELLED')
    t.notOk(await isPresent(store, digest), 'aborted before it began')
  })

  withStore('keeps bytes that were only lent', async (t, { store }) => {
    for (const sizeBytes of isBrief ? sizesOf(options) : [...SIZES, 3 * MIB]) {
      for (const sizes of [[64 * KIB], [1, 16_379, 300_000]]) {
        const bytes = bytesOf(sizeBytes, `lent ${sizes}`)
        await putLent(store, digestOf(bytes), new LentFeed(cut(bytes, sizes)))
        t.ok((await get(store, digestOf(bytes))).equals(bytes), `${sizeBytes} bytes in portions of ${sizes}`)
      }
    }
  })

  withStore('a lender that fails, or whose call ends, leaves nothing', async (t, { store, leftovers }) => {
    const bytes = bytesOf(MIB)
    const digest = digestOf(bytes)
    const unavailable = new StatusError('UNAVAILABLE', 'the lender is gone')
    for (const at of [0, 1, 100 * KIB, 700 * KIB]) {
      const feed = new LentFeed(cut(bytes.subarray(0, at)), unavailable)
      await rejects(t, putLent(store, digest, feed), 'UNAVAILABLE')
      t.notOk(await isPresent(store, digest), `after ${at} bytes`)
      t.same((await leftovers?.()) ?? [], [], `nothing is left after ${at} bytes`)
    }
    const controller = new AbortController()
    // Returns all but the last byte and then stays silent forever.
    const stuck = new LentFeed(cut(bytes.subarray(1)))
    const silent = feedOf(
      (taker) => stuck.into(taker).then(() => new Promise((_, reject) => setSilent(reject))),
      () => fail?.(unavailable),
    )
    let fail: ((error: Error) => void) | undefined
    const setSilent = (reject: (error: Error) => void): void => {
      fail = reject
      controller.abort()
    }
    await rejects(t, putLent(store, digest, silent, controller.signal), 'CANCELLED')
    t.notOk(await isPresent(store, digest))
    t.same((await leftovers?.()) ?? [], [])
    const refused = new LentFeed(cut(bytes))
    await rejects(t, putLent(store, digest, refused, AbortSignal.abort()), 'CANCELLED')
    t.ok(refused.isDiscarded)
  })

  withStore('a blob without a reader leaves nothing', async (t, { store }) => {
    for (const sizeBytes of [1000, MIB]) {
      const bytes = bytesOf(sizeBytes)
      const digest = digestOf(bytes)
      await put(store, digest, bytes)
      for (const how of ['at once', 'later']) {
        const blob = await store.get(digest, WHOLE, call)
        if (how === 'later') await setImmediate()
        blob.discard()
        blob.discard()
        await t.rejects(blob.take(), { message: 'a blob was used twice' })
      }
      t.ok((await get(store, digest)).equals(bytes))
    }
  })

  withStore('a rejected blob is discarded', async (t, { store }) => {
    const bytes = bytesOf(MIB)
    const stream = source(cut(bytes))
    await rejects(t, putStream(store, digestOf(bytes), stream, AbortSignal.abort()), 'CANCELLED')
    t.ok(stream.destroyed)
    t.notOk(await isPresent(store, digestOf(bytes)))
  })

  withStore('an upload with a failing source leaves the old blob', async (t, { store }) => {
    const bytes = bytesOf(MIB)
    const digest = digestOf(bytes)
    const failing = async (): Promise<void> => putStream(store, digest, failingAfter(bytes.subarray(0, 400 * KIB)))
    await rejects(t, failing(), 'UNAVAILABLE')
    t.notOk(await isPresent(store, digest))
    await put(store, digest, bytes)
    await rejects(t, failing(), 'UNAVAILABLE')
    t.ok((await get(store, digest)).equals(bytes))
  })

  withStore('concurrent uploads of the same blob succeed even if one fails', async (t, { store }) => {
    const bytes = bytesOf((isBrief ? 300 : 900) * KIB)
    const digest = digestOf(bytes)
    const writers = Array.from({ length: 8 }, (_, i) => put(store, digest, bytes, { sizes: [10_000 * (i + 1)] }))
    const failing = putStream(store, digest, failingAfter(bytes.subarray(0, 1)))
    await rejects(t, failing, 'UNAVAILABLE')
    await Promise.all(writers)
    t.ok((await get(store, digest)).equals(bytes))
  })

  withStore('a read in flight finishes with the old bytes', async (t, { store }) => {
    const bytes = bytesOf(largeBytes)
    const isCas = options.checksUploads === true
    const digest = isCas ? digestOf(bytes) : digestOf(bytes).asKey()
    const next = isCas ? bytes : bytesOf(largeBytes, 'next')
    await put(store, digest, bytes)
    const gate = new Gate()
    const reading = (await store.get(digest, WHOLE, call)).into([gate], call.signal)
    await gate.reached
    await put(store, digest, next)
    t.ok((await get(store, digest)).equals(next), 'a new reader gets the new ones')
    gate.open()
    await reading
    t.ok(gate.bytes.equals(bytes))
  })
}

const downloads = (withStore: WithStore, options: SuiteOptions): void => {
  withStore('a cancelled download frees its resources', async (t, { store }) => {
    const bytes = bytesOf(2 * MIB)
    const digest = digestOf(bytes)
    await put(store, digest, bytes)
    const controller = new AbortController()
    const gate = new Gate()
    const reading = (await store.get(digest, WHOLE, call)).into([gate], controller.signal)
    await gate.reached
    controller.abort()
    await rejects(t, reading, 'CANCELLED')
    const sink = new PassThrough().resume()
    await rejects(t, (await store.get(digest, WHOLE, call)).into([sink], AbortSignal.abort()), 'CANCELLED')
    t.ok((await get(store, digest)).equals(bytes), 'the next reader is not disturbed')
  })

  withStore('a stalled reader holds back the store', async (t, { store }) => {
    const bytes = Buffer.alloc(options.isBrief === true ? 6 * MIB : 24 * MIB, 'the same words again and again. ')
    const digest = digestOf(bytes)
    await put(store, digest, bytes, { sizes: [MIB] })
    const path = (await store.get(digest, WHOLE, call)).path()
    const gate = new Gate()
    const reading = join([...path, gate], call.signal)
    await gate.reached
    for (let i = 0; i < 100; i++) await setImmediate()
    const waiting = [...path, gate].reduce((sum, stage) => sum + bufferedBytes(stage), 0)
    t.ok(waiting < 4 * MIB, `${waiting} bytes wait in ${path.length} stages`)
    gate.open()
    await reading
    t.ok(gate.bytes.equals(bytes))
  })

  withStore('concurrent readers of a blob', async (t, { store }) => {
    const bytes = bytesOf(MIB + 5)
    const digest = digestOf(bytes)
    await put(store, digest, bytes)
    const found = await Promise.all(Array.from({ length: 12 }, () => get(store, digest)))
    t.ok(
      found.every((blob) => blob.equals(bytes)),
      options.name,
    )
  })
}

/** Blobs that are in memory as a whole. */
const wholeBlobs = (withStore: WithStore, options: SuiteOptions): void => {
  const manyCount = options.isBrief === true ? 60 : 200
  const whole = (store: Store, digest: Digest): Promise<Buffer> =>
    getBytes(store, digest, Number.POSITIVE_INFINITY, call)

  withStore(
    'blobs of every size as bytes and as streams, written in one form and read in the other',
    async (t, { store }) => {
      for (const sizeBytes of sizesOf(options)) {
        const bytes = bytesOf(sizeBytes, 'as bytes')
        const digest = digestOf(bytes)
        if (sizeBytes > 0) await rejects(t, whole(store, digest), 'NOT_FOUND')
        const given = Buffer.from(bytes)
        await putBytes(store, digest, given, call)
        given.fill(0)
        t.ok(await isPresent(store, digest), `${sizeBytes} bytes are present`)
        t.ok((await get(store, digest)).equals(bytes), `${sizeBytes} bytes come back as a stream`)
        t.ok((await whole(store, digest)).equals(bytes), `${sizeBytes} bytes come back as bytes`)
        t.ok((await getBytes(store, digest, sizeBytes, call)).equals(bytes), 'at the very limit')
        const streamed = bytesOf(sizeBytes, 'as a stream')
        await put(store, digestOf(streamed), streamed)
        t.ok((await whole(store, digestOf(streamed))).equals(streamed), `${sizeBytes} streamed bytes as bytes`)
        if (sizeBytes === 0) continue
        await rejects(t, getBytes(store, digest, sizeBytes - 1, call), 'RESOURCE_EXHAUSTED')
        if (options.removes === false) continue
        await store.remove(digest, 'unwanted', call)
        await rejects(t, whole(store, digest), 'NOT_FOUND')
        t.notOk(await isPresent(store, digest), 'and is gone once removed')
      }
    },
  )

  withStore('bytes of an aborted call are not written', async (t, { store, leftovers }) => {
    const bytes = bytesOf(5000)
    const digest = digestOf(bytes)
    await rejects(t, putBytes(store, digest, bytes, { ...call, signal: AbortSignal.abort() }), 'CANCELLED')
    t.notOk(await isPresent(store, digest))
    const controller = new AbortController()
    const blobs = Array.from({ length: 60 }, (_, i) => bytesOf(3000 + i, `${i}`))
    const writing = blobs.map((blob) =>
      putBytes(store, digestOf(blob), blob, { ...call, signal: controller.signal }).then(
        () => true,
        (error: unknown) => {
          t.equal(error instanceof StatusError ? error.code : error, Code.CANCELLED)
          return false
        },
      ),
    )
    await setImmediate()
    controller.abort()
    for (const [i, isWritten] of (await Promise.all(writing)).entries()) {
      const blob = blobs[i] ?? bytes
      if (!isWritten && options.isElsewhere === true) continue
      t.equal(await isPresent(store, digestOf(blob)), isWritten, `${i}: there or not, as was said`)
      if (isWritten) t.ok((await whole(store, digestOf(blob))).equals(blob))
    }
    t.same((await leftovers?.()) ?? [], [])
  })

  withStore('many concurrent blobs, and one blob many times', async (t, { store }) => {
    const blobs = Array.from({ length: manyCount }, (_, i) => bytesOf(i * 37 + 1, `of many ${i}`))
    const same = bytesOf(2000, 'the same')
    const work = blobs.map(async (blob) => {
      await Promise.all([
        putBytes(store, digestOf(blob), blob, call),
        putBytes(store, digestOf(same), same, call),
        put(store, digestOf(same), same),
      ])
      return (await whole(store, digestOf(blob))).equals(blob) && (await whole(store, digestOf(same))).equals(same)
    })
    t.ok((await Promise.all(work)).every(Boolean))
    t.same(await missingOf(store, blobs.map(digestOf), call), [])
  })

  withStore(
    'blobs of a batch are written independently, also when one comes twice',
    async (t, { store, leftovers }) => {
      t.same(await putAll(store, [], call), [])
      const sizes = [...sizesOf(options), ...Array.from({ length: manyCount - 40 }, (_, i) => 1000 + i), 4096, 4096]
      const blobs = sizes.map((sizeBytes) => bytesOf(sizeBytes, 'together'))
      const entries = blobs.map((bytes) => ({ digest: digestOf(bytes), bytes }))
      for (const round of [1, 2]) {
        const copies = entries.map(({ digest, bytes }) => ({ digest, bytes: Buffer.from(bytes) }))
        t.same(
          await putAll(store, copies),
          blobs.map(() => undefined),
          `round ${round}`,
        )
        for (const { bytes } of copies) bytes.fill(0)
        for (const [i, bytes] of blobs.entries()) {
          if (!(await whole(store, digestOf(bytes))).equals(bytes)) t.fail(`${sizes[i]} bytes, round ${round}`)
        }
      }
      const writing = [entries, entries, entries].map((each) => putAll(store, each))
      const streamed = blobs.slice(0, 20).map((bytes) => put(store, digestOf(bytes), bytes))
      for (const outcomes of await Promise.all(writing)) t.ok(outcomes.every((outcome) => outcome === undefined))
      await Promise.all(streamed)
      for (const bytes of blobs)
        if (!(await whole(store, digestOf(bytes))).equals(bytes)) t.fail(`${bytes.length} bytes`)
      const aborted = { ...call, signal: AbortSignal.abort() }
      const others = sizes.map((sizeBytes) => bytesOf(sizeBytes + 1, 'aborted'))
      const outcomes = await putAll(
        store,
        others.map((bytes) => ({ digest: digestOf(bytes), bytes })),
        aborted,
      )
      t.ok(outcomes.every((outcome) => isStatus(outcome, 'CANCELLED')))
      t.equal((await missingOf(store, others.map(digestOf), call)).length, others.length)
      t.same((await leftovers?.()) ?? [], [])
    },
  )

  if (options.checksUploads === true) {
    withStore('only the wrong blobs of a batch are rejected', async (t, { store }) => {
      const blobs = Array.from({ length: 40 }, (_, i) => bytesOf(1000 + i, 'some wrong'))
      const outcomes = await putAll(
        store,
        blobs.map((bytes, i) => ({ digest: digestOf(bytes), bytes: i % 3 === 0 ? bytes.subarray(i % 2) : bytes })),
        call,
      )
      for (const [i, bytes] of blobs.entries()) {
        const isWrong = i % 3 === 0 && i % 2 === 1
        t.equal(isStatus(outcomes[i], 'INVALID_ARGUMENT'), isWrong)
        t.equal(await isPresent(store, digestOf(bytes)), !isWrong)
      }
    })
    withStore('wrong bytes are rejected and leave the old blob', async (t, { store }) => {
      const bytes = bytesOf(4000)
      const digest = digestOf(bytes)
      const wrong = [
        bytes.subarray(1),
        Buffer.concat([bytes, Buffer.from('x')]),
        bytesOf(4000, 'other'),
        Buffer.alloc(0),
      ]
      for (const body of wrong) await rejects(t, putBytes(store, digest, body, call), 'INVALID_ARGUMENT')
      t.notOk(await isPresent(store, digest))
      await putBytes(store, digest, bytes, call)
      for (const body of wrong) await rejects(t, putBytes(store, digest, body, call), 'INVALID_ARGUMENT')
      t.ok((await whole(store, digest)).equals(bytes))
    })
    return
  }
  withStore(
    "no digest of a client reaches what lies under a key of the server's own, before and after a restart",
    async (t, open) => {
      const record = bytesOf(5000, 'record')
      // A store has a key either for content or for something else, so a client asks for each of two records in one of these ways.
      const [own, other] = [Digest.ofOwn('ASSET', 'of an asset'), Digest.ofOwn('ASSET', 'of another')]
      const namedLike = ({ hash, sizeBytes }: Digest): Digest[] =>
        Object.values(digestFunctions).flatMap((of) => {
          const named = of.hexLength === hash.length ? Digest.parse({ hash, sizeBytes }, of) : []
          return named instanceof Digest ? [named] : []
        })
      const keys = namedLike(other).map((digest) => digest.asKey())
      const isApart = async (store: Store): Promise<void> => {
        for (const digest of [...namedLike(own), ...keys]) t.equal(await isPresent(store, digest), false, digest.key)
        for (const digest of [own, other]) t.ok((await whole(store, digest)).equals(record))
      }
      await putBytes(open.store, other, record, call)
      await putBytes(open.store, own, record, call)
      await isApart(open.store)
      t.ok(await isPresent(open.store, own))
      const again = await open.reopen?.()
      if (again !== undefined) {
        await isApart(again.store)
        for (const digest of keys.slice(0, 1)) {
          await putBytes(again.store, digest, bytesOf(digest.sizeBytes, 'forged'), call)
          t.ok((await whole(again.store, other)).equals(record), 'after a client wrote there')
        }
        await again.close()
      }
    },
  )
  withStore('bytes replace a blob under a key, in either form', async (t, { store }) => {
    const digest = digestOf(Buffer.from('an action')).asKey()
    for (const [i, sizeBytes] of [3000, 12, 12, 0, 3000].entries()) {
      const bytes = bytesOf(sizeBytes, `result ${i}`)
      await putBytes(store, digest, bytes, call)
      t.ok((await whole(store, digest)).equals(bytes), `${sizeBytes} bytes`)
      t.ok((await whole(store, digest)).equals(bytes), `${sizeBytes} bytes again`)
      const streamed = bytesOf(sizeBytes, `streamed ${i}`)
      await put(store, digest, streamed)
      t.ok((await whole(store, digest)).equals(streamed), `${sizeBytes} bytes streamed over them`)
    }
  })
}

const restart = (withStore: WithStore): void => {
  withStore('finds its blobs again after a restart', async (t, open) => {
    const { reopen } = open
    if (reopen === undefined) throw new Error('a persistent store needs reopen')
    const blobs = [0, 1, 5000, 400 * KIB].map((sizeBytes) => bytesOf(sizeBytes, 'kept'))
    for (const bytes of blobs) await put(open.store, digestOf(bytes), bytes)
    const again = await reopen()
    t.same(await missingOf(again.store, blobs.map(digestOf), call), [])
    for (const bytes of blobs) t.ok((await get(again.store, digestOf(bytes))).equals(bytes), `${bytes.length} bytes`)
    if (again.store.properties.findsByHash)
      for (const bytes of blobs) t.equal(await again.store.sizeOf(digestOf(bytes), call), bytes.length, 'by its hash')
    await again.close()
  })
}

const keys = (digests: readonly Digest[]): string[] => digests.map(({ key }) => key)

/** Rejects with that status, as a StatusError. */
export const rejects = async (t: Test, work: Promise<unknown>, code: keyof typeof Code): Promise<void> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  t.type(error, StatusError, `fails with ${code}`)
  if (error instanceof StatusError) t.equal(error.code, Code[code], `${code}: ${error.message}`)
}

/** Some bytes, then an action, and never an end. */
const aborting = (bytes: Buffer, abort: () => void): Readable => {
  const chunks = cut(bytes)
  return new Readable({
    read() {
      const chunk = chunks.shift()
      if (chunk === undefined) void setImmediate().then(abort)
      else this.push(chunk)
    },
  })
}

const failingAfter = (bytes: Buffer): Readable =>
  source(
    (function* () {
      yield* cut(bytes)
      throw new StatusError('UNAVAILABLE', 'the source broke')
    })(),
  )

/** Takes one chunk, then nothing until it is opened. */
class Gate extends Writable {
  readonly reached: Promise<void>
  readonly #chunks: Buffer[] = []
  #reach: () => void = () => {}
  #resume: (() => void) | undefined
  #isOpen = false

  constructor() {
    super()
    this.reached = new Promise((resolve) => {
      this.#reach = resolve
    })
  }

  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  open(): void {
    this.#isOpen = true
    this.#resume?.()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: () => void): void {
    this.#chunks.push(chunk)
    this.#reach()
    if (this.#isOpen) callback()
    else this.#resume = callback
  }
}

const bufferedBytes = (stage: Readable | Writable): number =>
  (stage instanceof Readable ? stage.readableLength : 0) + (stage instanceof Writable ? stage.writableLength : 0)

/** Open files, sockets and the like of this process. */
const openDescriptors = async (): Promise<number> => (await readdir('/proc/self/fd')).length
