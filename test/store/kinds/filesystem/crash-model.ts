import { readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Test } from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { Code, StatusError } from '../../../../src/base/status-error.js'
import type { Store } from '../../../../src/blobs/store.js'
import { type Log, textLog } from '../../../../src/log/log.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { callWith } from '../../../../src/rpc/call.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll } from '../../blobs.js'
import { crashed } from './crashed.js'
import { type OpenFilesystem, openFilesystem } from './open.js'

const BLOBS = 2

/** Keys: what is stored under them changes. */
const digests = Array.from({ length: BLOBS }, (_, number) => digestOf(bytesOf(100, `blob ${number}`)).asKey())

/** The stored bytes differ between uploads of a blob, as below a store that encodes. */
const stored = (number: number, form: number): Buffer => bytesOf(100 + (form % 3), `form ${form} of ${number}`)

const FORMS = 6

/** Forms up to here are records, longer ones files. */
const SMALL_BYTES = 100

const isRecord = (form: number | undefined): boolean => form !== undefined && form % 3 === 0
type Step = {
  readonly kind:
    | 'put'
    | 'put together'
    | 'get'
    | 'find'
    | 'lease'
    | 'remove'
    | 'lose'
    | 'restart'
    | 'crash'
    | 'checkpoint'
    | 'clean'
    | 'churn'
  readonly number: number
  readonly form: number
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('put', 'put together', 'crash', 'churn', 'clean', 'remove') },
      { weight: 2, arbitrary: fc.constantFrom('get', 'find', 'lease', 'lose', 'checkpoint', 'restart') },
    ),
    number: fc.nat(BLOBS - 1),
    form: fc.nat(FORMS - 1),
  }),
  { minLength: 10, maxLength: 60 },
)

const read = async ({ store }: OpenFilesystem, digest: Digest): Promise<string | undefined> => {
  try {
    return (await get(store, digest)).toString()
  } catch (error) {
    if (error instanceof StatusError && error.code === Code.NOT_FOUND) return undefined
    throw error
  }
}

/** The model of a blob that was uploaded and not removed since. */
interface Kept {
  readonly form: number
  /** It is in a file with others. */
  readonly isPacked: boolean
  /** It may have been evicted, and may be back after a crash. */
  readonly mayBeEvicted: boolean
}

const expectForm = (number: number, found: string | undefined, kept: Kept | undefined): void => {
  if (kept === undefined ? found === undefined : found === stored(number, kept.form).toString()) return
  if (found === undefined && kept?.mayBeEvicted) return
  throw new Error(`blob ${number} reads as ${found}, expected form ${kept?.form}`)
}

/** Background events that must occur, or the test shows nothing. */
interface Seen {
  emptied: number
  copiedBlobs: number
  copiedRemovals: number
  replayedCopies: number
  evicted: number
  emptiedPacks: number
  movedBlobs: number
}

const watching = (seen: Seen): Log =>
  textLog('debug', (line) => {
    const value = (name: string): number => Number(new RegExp(` ${name}=(\\d+)`).exec(line)?.[1] ?? 0)
    if (line.includes('emptied a file of records')) {
      seen.emptied++
      seen.copiedBlobs += value('blobs')
      seen.copiedRemovals += value('removals')
    } else if (line.includes('emptied a pack')) {
      seen.emptiedPacks++
      seen.movedBlobs += value('blobs')
    } else if (line.includes('recovered the blobs')) seen.replayedCopies += value('copies')
  })

/** Deletes the files of a blob without the store. A record cannot be deleted alone. */
const lose = async (folder: string, { hash }: Digest): Promise<void> => {
  const path = join(folder, 'content', 'sha256', hash.slice(0, 2))
  const names = await readdir(path).catch(() => [])
  for (const name of names) {
    if (!name.startsWith(hash)) continue
    await unlink(join(path, name)).catch((error: NodeJS.ErrnoException) => {
      // The store has evicted the blob meanwhile.
      if (error.code !== 'ENOENT') throw error
    })
  }
}

const putTogether = async (store: Store, blobs: readonly (readonly [Digest, Buffer])[], together: object) => {
  const entries = blobs.map(([digest, bytes]) => ({ digest, bytes }))
  for (const failure of await putAll(store, entries, callWith(call, { together }))) if (failure) throw failure
}

/**
 * Six blobs: half of them records, the others files, or in one file. All stay, every second one, or none: so segments and
 * packs die in any order.
 */
const churn = async ({ store }: OpenFilesystem, from: number, form: number, together: object): Promise<void> => {
  const isRemoved = (number: number): boolean => (form % 3 === 2 ? number % 2 === 1 : form % 3 === 1)
  for (let number = from; number < from + 6; number++) {
    const bytes = bytesOf(SMALL_BYTES + (number % 2), `churn ${number}`)
    if (form % 2 === 0) await put(store, digestOf(bytes), bytes)
    else await putTogether(store, [[digestOf(bytes), bytes]], together)
    if (isRemoved(number)) await store.remove(digestOf(bytes), 'unwanted', call)
  }
}

const variants = {
  'without a limit': { policy: {}, segmentBytes: undefined },
  'with segments of a kilobyte': { policy: {}, segmentBytes: 1024 },
  'with segments of a kilobyte, while blobs are evicted': { policy: { max_count: 6 }, segmentBytes: 1024 },
}

/** How often the model runs again while some background work did not occur by chance. */
const ROUNDS_MAX = 20

/**
 * Few blobs, so that each of them sees many events. `hasPacks`: the store that is opened puts together what belongs together. A
 * store that service threads use keeps each blob by itself.
 */
export const crashModel = (t: Test, runs: number, opened = openFilesystem, hasPacks = true): void => {
  for (const [name, { policy, segmentBytes }] of Object.entries(variants)) {
    void t.test(`any sequence of uploads, losses, stops and crashes agrees with a model, ${name}`, async (t) => {
      const seen: Seen = {
        emptied: 0,
        copiedBlobs: 0,
        copiedRemovals: 0,
        replayedCopies: 0,
        evicted: 0,
        emptiedPacks: 0,
        movedBlobs: 0,
      }
      const log = watching(seen)
      const mayBeEvicted = 'max_count' in policy
      const holds = fc.asyncProperty(steps, async (sequence) => {
        const root = t.testdir()
        let life = 0
        let churned = 0
        const together = {}
        let folder = join(root, '0')
        const clock = new ManualClock(Date.now())
        const parts = { clock, log, policy, small_blob_size: SMALL_BYTES, ...(segmentBytes && { segmentBytes }) }
        const open = (): Promise<OpenFilesystem> => opened(folder, parts)
        let files = await open()
        const model = new Map<number, Kept>()
        for (const { kind, number, form } of sequence) {
          const digest = digests[number] as Digest
          const kept = model.get(number)
          if (kind === 'put') {
            await put(files.store, digest, stored(number, form))
            model.set(number, { form, mayBeEvicted, isPacked: false })
          } else if (kind === 'put together') {
            // Some side by side, some in files that no more are added to.
            const token = form % 2 === 0 ? together : {}
            await putTogether(files.store, [[digest, stored(number, form)]], token)
            model.set(number, { form, mayBeEvicted, isPacked: !isRecord(form) })
          } else if (kind === 'get') {
            expectForm(number, await read(files, digest), kept)
          } else if (kind === 'find') {
            const isThere = await isPresent(files.store, digest)
            if (isThere !== (kept !== undefined) && (isThere || !kept?.mayBeEvicted))
              throw new Error(`blob ${number} is said to be ${isThere ? '' : 'not '}there`)
          } else if (kind === 'lease') {
            const lease = await files.files.lease([digest], call)
            lease.release()
            const isThere = lease.missing.length === 0
            if (isThere !== (kept !== undefined) && (isThere || !kept?.mayBeEvicted))
              throw new Error(`blob ${number}: wrong lease`)
          } else if (kind === 'remove') {
            await files.store.remove(digest, 'unwanted', call)
            model.delete(number)
          } else if (kind === 'lose') {
            if (isRecord(kept?.form) || kept?.isPacked) continue
            await lose(folder, digest)
            // The store cannot know before it opens the file.
            await read(files, digest)
            model.delete(number)
          } else if (kind === 'churn') {
            await churn(files, churned, form, together)
            churned += 6
          } else if (kind === 'checkpoint') {
            clock.advance(5 * 60_000)
          } else if (kind === 'clean') {
            clock.advance(1000)
            // Until the cleaner is done, or during its work.
            for (let look = 0; look < 8 * form; look++) await readdir(folder)
          } else {
            const next = join(root, String(++life))
            if (kind === 'crash') await crashed(folder, next)
            seen.evicted += files.usage().evictedCount
            await files.close()
            if (kind === 'crash') folder = next
            files = await open()
          }
        }
        for (const [number, digest] of digests.entries()) {
          expectForm(number, await read(files, digest), model.get(number))
        }
        seen.evicted += files.usage().evictedCount
        await files.close()
      })
      const isMissing = (): boolean =>
        segmentBytes !== undefined &&
        (seen.emptied * seen.copiedBlobs * seen.copiedRemovals * seen.replayedCopies === 0 ||
          (hasPacks && seen.movedBlobs === 0) ||
          (mayBeEvicted && seen.evicted === 0))
      await t.resolves(fc.assert(holds, { numRuns: runs }))
      for (let round = 0; round < ROUNDS_MAX && isMissing(); round++)
        await t.resolves(fc.assert(holds, { numRuns: runs }))
      t.comment(JSON.stringify(seen))
      if (segmentBytes === undefined) return
      t.ok(seen.emptied > 0 && seen.copiedBlobs > 0, 'segments were emptied')
      t.ok(seen.copiedRemovals > 0, 'removals were copied')
      t.ok(seen.replayedCopies > 0, 'copies were replayed')
      if (hasPacks) t.ok(seen.emptiedPacks > 0 && seen.movedBlobs > 0, 'packs were emptied')
      if (mayBeEvicted) t.ok(seen.evicted > 0, 'blobs were evicted')
    })
  }
}
