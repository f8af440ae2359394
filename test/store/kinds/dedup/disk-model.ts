import { mkdir, open, readdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import fc from 'fast-check'
import type { Test } from 'tap'
import { isStatus } from '../../../../src/base/status-error.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { crashed } from '../filesystem/crashed.js'
import { type OnDisk, openOnDisk } from './on-disk.js'

/** Half of each blob is also in the next one, so that they share chunks. */
const part = (number: number): Buffer => bytesOf(20_000 + 7_000 * (number % 3), `part ${number}`)

const blobs = Array.from({ length: 5 }, (_, number) => {
  const bytes = Buffer.concat([part(number), part(number + 1)]).subarray(0, number === 4 ? 3000 : undefined)
  return { bytes, digest: digestOf(bytes) }
})

const AVERAGES = [2048, 4096, 16_384] as const

interface Step {
  readonly kind:
    | 'put'
    | 'splice'
    | 'read'
    | 'find'
    | 'populate'
    | 'remove'
    | 'lose a chunk'
    | 'lose a list'
    | 'damage a chunk'
    | 'restart'
    | 'crash'
    | 'crash in a put'
  readonly number: number
  readonly averageBytes: (typeof AVERAGES)[number]
}

const steps = fc.array(
  fc.record<Step>({
    kind: fc.oneof(
      { weight: 5, arbitrary: fc.constantFrom('put', 'splice', 'read', 'crash in a put') },
      { weight: 2, arbitrary: fc.constantFrom('find', 'populate', 'remove', 'crash', 'restart') },
      { weight: 2, arbitrary: fc.constantFrom('lose a chunk', 'damage a chunk', 'lose a list') },
    ),
    number: fc.nat(blobs.length - 1),
    averageBytes: fc.constantFrom(...AVERAGES),
  }),
  { minLength: 5, maxLength: 20 },
)

/** Deletes a file of chunks, or overwrites a byte of it, without the store. False if there is none. */
const harm = async (folder: string, number: number, isLost: boolean): Promise<boolean> => {
  const entries = ['sha256', 'packs'].map((name) =>
    readdir(join(folder, 'content', 'content', name), { recursive: true, withFileTypes: true }).catch(() => []),
  )
  const found = (await Promise.all(entries)).flat().filter((entry) => entry.isFile())
  const files = found.map((entry) => join(entry.parentPath, entry.name))
  const path = files.sort()[number % Math.max(1, files.length)]
  if (path === undefined) return false
  if (isLost) await unlink(path)
  else {
    const file = await open(path, 'r+')
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, 100)
    await file.write(Buffer.from([(buffer[0] as number) ^ 1]), 0, 1, 100)
    await file.close()
  }
  return true
}

/** The lists first: a list that is there after a crash was written after its chunks. */
const snapshot = async (from: string, to: string): Promise<void> => {
  await mkdir(to)
  for (const name of ['index', 'content', 'whole']) await crashed(join(from, name), join(to, name))
}

/** What must occur, or the test shows nothing. */
interface Seen {
  readonly restarts: Set<string>
  damaged: number
  mended: number
  joined: number
}

class Run {
  readonly #root: string
  readonly #seen: Seen
  #life = 0
  #averageBytes: number = AVERAGES[0]
  #disk: OnDisk | undefined
  /** Blobs that were acknowledged and not removed since, and whether a chunk may have been lost or damaged since. */
  readonly #kept = new Map<number, { isHarmed: boolean }>()
  /** Whether a put or a removal was cut off, so that nothing is known. */
  readonly #unknown = new Set<number>()
  /** Whether any chunk was lost or damaged. */
  #isHarmed = false

  constructor(root: string, seen: Seen) {
    this.#root = root
    this.#seen = seen
  }

  async close(): Promise<void> {
    await this.#disk?.close()
  }

  async step({ kind, number, averageBytes }: Step): Promise<void> {
    const { digest } = blobs[number] as (typeof blobs)[0]
    const disk = await this.#opened()
    if (kind === 'put') {
      await this.#put(disk, number)
    } else if (kind === 'splice') await this.#splice(disk, number)
    else if (kind === 'read') await this.#read(disk, number)
    else if (kind === 'find') this.#check(number, await isPresent(disk.store, digest))
    else if (kind === 'populate') await this.#populate(disk, number)
    else if (kind === 'remove') {
      await disk.store.remove(digest, 'unwanted', call)
      this.#kept.delete(number)
      this.#unknown.delete(number)
    } else if (kind === 'lose a list') {
      await disk.index.store.remove(digest.asKey(), 'wrong', call)
      this.#harmAll()
    } else if (kind === 'lose a chunk' || kind === 'damage a chunk') {
      if (await harm(this.#folder, number, kind === 'lose a chunk')) this.#harmAll()
    } else await this.#restart(kind, number, averageBytes)
  }

  get #folder(): string {
    return join(this.#root, String(this.#life))
  }

  async #opened(): Promise<OnDisk> {
    this.#disk ??= await openOnDisk(this.#folder, { averageBytes: this.#averageBytes })
    return this.#disk
  }

  #acknowledged(number: number): void {
    this.#kept.set(number, { isHarmed: false })
    this.#unknown.delete(number)
  }

  /**
   * A store learns by a read that the file of a chunk is gone or damaged. Until then an upload relies on that chunk, and
   * the next read fails: then the chunk is missing, and the client uploads again.
   */
  async #put({ store }: OnDisk, number: number): Promise<void> {
    const { bytes, digest } = blobs[number] as (typeof blobs)[0]
    for (let attempt = 0; attempt < 100; attempt++) {
      await put(store, digest, bytes)
      try {
        if (this.#isHarmed && !(await get(store, digest)).equals(bytes))
          throw new Error(`blob ${number} has other bytes`)
        if (attempt > 0) this.#seen.mended += 1
        this.#acknowledged(number)
        return
      } catch (error) {
        if (!isStatus(error, 'NOT_FOUND') && !isStatus(error, 'DATA_LOSS')) throw error
      }
    }
    throw new Error(`uploads of blob ${number} do not mend it`)
  }

  #harmAll(): void {
    this.#isHarmed = true
    for (const kept of this.#kept.values()) kept.isHarmed = true
  }

  #check(number: number, isThere: boolean): void {
    const kept = this.#kept.get(number)
    if (this.#unknown.has(number) || kept?.isHarmed) return
    if (isThere !== (kept !== undefined)) throw new Error(`blob ${number} is said to be ${isThere ? '' : 'not '}there`)
  }

  /** Bytes are right, or the read fails and the blob is missing after as many reads as it has chunks. */
  async #read({ store }: OnDisk, number: number): Promise<void> {
    const { bytes, digest } = blobs[number] as (typeof blobs)[0]
    const isThere = await isPresent(store, digest)
    this.#check(number, isThere)
    for (let attempt = 0; attempt < 100; attempt++) {
      try {
        const found = await get(store, digest)
        if (!found.equals(bytes)) throw new Error(`blob ${number} has other bytes`)
        if (!isThere) throw new Error(`blob ${number} can be read although it is missing`)
        return
      } catch (error) {
        const isLost = isStatus(error, 'NOT_FOUND')
        if (!isLost && !isStatus(error, 'DATA_LOSS')) throw error
        if (isThere && !this.#unknown.has(number) && !this.#kept.get(number)?.isHarmed) throw error
        if (isThere) this.#seen.damaged += 1
        if (!(await isPresent(store, digest))) return
      }
    }
    throw new Error(`blob ${number} is there and cannot be read`)
  }

  /** A client cuts by itself and uploads the chunks, or only names them if they are there. */
  async #splice(disk: OnDisk, number: number): Promise<void> {
    const { bytes, digest } = blobs[number] as (typeof blobs)[0]
    const maxBytes = disk.store.chunks?.chunking.maxBytes ?? 0
    if (bytes.length <= maxBytes) return
    const pieces: Digest[] = []
    for (let at = 0; at < bytes.length; at += maxBytes - 10) {
      const piece = bytes.subarray(at, at + maxBytes - 10)
      pieces.push(digestOf(piece))
      if (!(await isPresent(disk.store, digestOf(piece)))) await put(disk.store, digestOf(piece), piece)
    }
    try {
      await disk.store.chunks?.splice(digest, { chunks: pieces, chunkingFunction: 0 }, call)
    } catch (error) {
      // A chunk was damaged on disk and is found only now.
      if (isStatus(error, 'DATA_LOSS') || isStatus(error, 'NOT_FOUND')) return
      throw error
    }
    if (this.#isHarmed) this.#kept.set(number, { isHarmed: true })
    else this.#acknowledged(number)
  }

  async #populate({ store, files }: OnDisk, number: number): Promise<void> {
    const { bytes, digest } = blobs[number] as (typeof blobs)[0]
    try {
      await files.populate(digest, call)
    } catch (error) {
      if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'DATA_LOSS')) return
      throw error
    }
    if (!(await isPresent(store, digest))) return
    this.#seen.joined += 1
    const found = await get(store, digest).catch((error: unknown) => {
      if (!this.#kept.get(number)?.isHarmed && !this.#unknown.has(number)) throw error
    })
    if (found !== undefined && !found.equals(bytes)) throw new Error(`blob ${number} has other bytes as a file`)
  }

  async #restart(kind: Step['kind'], number: number, averageBytes: number): Promise<void> {
    const disk = await this.#opened()
    const { bytes, digest } = blobs[number] as (typeof blobs)[0]
    this.#seen.restarts.add(`${kind} ${averageBytes > this.#averageBytes ? 'larger' : 'not larger'}`)
    const under = kind === 'crash in a put' ? put(disk.store, digest, bytes) : undefined
    const next = join(this.#root, String(this.#life + 1))
    if (kind !== 'restart') await snapshot(this.#folder, next)
    await under
    await disk.close()
    if (kind !== 'restart') this.#life += 1
    if (under !== undefined && !this.#kept.has(number)) this.#unknown.add(number)
    this.#averageBytes = averageBytes
    this.#disk = undefined
  }
}

/** A short run says less: what must occur is asked of a long one. */
const LONG_RUNS = 100

export const diskModel = (t: Test, runs: number): void => {
  void t.test(
    'any sequence of uploads, losses, damage, crashes and changes of sizes agrees with a model',
    async (t) => {
      const seen: Seen = { restarts: new Set(), damaged: 0, mended: 0, joined: 0 }
      const holds = fc.asyncProperty(steps, async (sequence) => {
        const run = new Run(t.testdir(), seen)
        try {
          for (const step of sequence) await run.step(step)
          for (let number = 0; number < blobs.length; number++)
            await run.step({ kind: 'read', number, averageBytes: 2048 })
        } finally {
          await run.close()
        }
      })
      await fc.assert(holds, { numRuns: runs })
      if (runs < LONG_RUNS) return
      t.ok(seen.restarts.size >= 5, [...seen.restarts].join(', '))
      t.ok(seen.damaged > 0, `${seen.damaged} reads found a chunk gone or damaged`)
      t.ok(seen.mended > 0, `${seen.mended} uploads mended a blob`)
      t.ok(seen.joined > 0, `${seen.joined} blobs became files`)
    },
  )
}
