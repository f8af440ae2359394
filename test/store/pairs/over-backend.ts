import type { Test } from 'tap'
import { missingOf, putBytes, type Store } from '../../../src/blobs/store.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { bytesOf, call, cut, digestOf, get, isPresent, put, putAll, source } from '../blobs.js'
import { rejects } from '../suite.js'
import { wrappers } from '../wrappers.js'
import { type RemoteBackend, remoteBackends } from './backends.js'

// The whole suite runs on each backend alone. Here wrappers run on each remote backend, with operations whose answers
// they could lose: sizes, parts, absence, replacement, cancelled uploads.

/** Sizes of a small blob, of one chunk or part more, and of a blob sent in several. */
const SIZES = [1, 5000, 64 * 1024 + 1, 400_017]

const contents = async (t: Test, store: Store, seed: string): Promise<void> => {
  const blobs = SIZES.map((sizeBytes) => bytesOf(sizeBytes, seed))
  const streamed = SIZES.map((sizeBytes) => bytesOf(sizeBytes + 1, seed))
  const together = [2000, 2001, 70_000].map((sizeBytes) => bytesOf(sizeBytes, seed))
  const all = [...blobs, ...streamed, ...together]
  t.equal((await missingOf(store, all.map(digestOf), call)).length, all.length, 'nothing is there at first')
  for (const bytes of all.slice(1, 3)) await rejects(t, get(store, digestOf(bytes)), 'NOT_FOUND')
  await Promise.all(blobs.map((bytes) => putBytes(store, digestOf(bytes), bytes, call)))
  for (const bytes of streamed) await put(store, digestOf(bytes), bytes)
  const outcomes = await putAll(
    store,
    together.map((bytes) => ({ digest: digestOf(bytes), bytes })),
  )
  t.ok(outcomes.every((outcome) => outcome === undefined))
  t.same(await missingOf(store, all.map(digestOf), call), [], 'all is there then')
  for (const bytes of all) if (!(await get(store, digestOf(bytes))).equals(bytes)) t.fail(`${bytes.length} bytes`)
}

const parts = async (t: Test, store: Store, seed: string): Promise<void> => {
  const bytes = bytesOf(400_017, seed)
  const ranges = [
    [0, 1],
    [65_535, 2],
    [262_143, 100_000],
    [400_016, 1],
    [400_017, 9],
    [-5, 3],
  ] as const
  for (const [offset, limit] of ranges) {
    const from = offset < 0 ? bytes.length + offset : offset
    const found = await get(store, digestOf(bytes), { offset, limit })
    t.ok(found.equals(bytes.subarray(from, from + limit)), `${limit} bytes from ${offset}`)
  }
  await rejects(t, get(store, digestOf(bytes), { offset: 400_018, limit: 1 }), 'OUT_OF_RANGE')
}

const givenUp = async (t: Test, store: Store, seed: string): Promise<void> => {
  const bytes = bytesOf(390_000, seed)
  const controller = new AbortController()
  const chunks = source(cut(bytes.subarray(0, 200_000))).on('end', () => controller.abort())
  const upload = store.put(digestOf(bytes), Blob.ofPath([chunks]), { ...call, signal: controller.signal })
  await t.rejects(upload, 'an upload that is cancelled or too short')
  t.notOk(await isPresent(store, digestOf(bytes)), 'leaves nothing to be read')
}

const replaced = async (t: Test, store: Store): Promise<void> => {
  const digest = digestOf(Buffer.from('an action')).asKey()
  for (const sizeBytes of [300_000, 12, 5000]) {
    const bytes = bytesOf(sizeBytes, 'a result')
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes), `a result of ${sizeBytes} bytes`)
  }
}

/** Wrappers over one backend, all of them unless some are chosen. */
export const wrappersOver = (t: Test, name: keyof typeof remoteBackends, chosen = Object.keys(wrappers)): void => {
  const { skip, start, isOthers = false }: RemoteBackend = remoteBackends[name]
  void t.test(`wrappers over ${name}`, { skip }, async (t) => {
    const open = await start(t)
    for (const outer of chosen) {
      const wrapper = wrappers[outer]
      if (wrapper === undefined) throw new Error(`there is no wrapper ${outer}`)
      const { wrap, checksUploads = false, isBeside = false, changes } = wrapper
      // The CAS of another server accepts only blobs that match their digests.
      const cannot = isOthers && changes !== undefined
      const why = cannot ? 'what it would keep there is no blob of its digest: such a configuration is refused' : false
      await t.test(`${outer} ${name}`, { skip: why }, async (t) => {
        const { store: backend, close } = await open()
        const store = await wrap(backend)
        if (outer !== 'CAS') t.match(await store.health(call), { state: 'Ok' })
        await contents(t, store, outer)
        await parts(t, store, outer)
        const isKnown = outer === 'CAS' || checksUploads || (isOthers && !isBeside)
        if (isKnown || !isOthers) await givenUp(t, store, outer)
        if (!checksUploads && !isOthers) await replaced(t, store)
        await close()
      })
    }
  })
}
