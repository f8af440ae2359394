import { readdirSync, readFileSync, realpathSync, renameSync, statSync } from 'node:fs'
import { mkdir, utimes } from 'node:fs/promises'
import type { Clock } from '../../base/clock.js'
import { advice, inWords } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { Log } from '../../log/log.js'
import { statsOf } from '../disk/inside-root.js'
import { OpenDirectory } from '../disk/open-directory.js'
import { removeTree } from '../disk/remove-tree.js'
import { newName } from '../disk/session.js'
import { FACTS, ROOT, type Unpacked } from './pull.js'

export interface ImageCacheOptions {
  /** Called when an image is here, or no more. */
  readonly onChange?: (() => void) | undefined
  readonly maxBytes: number
  /** Images that no action used for so long are removed. */
  readonly maxAgeMs: number
  readonly clock: Clock
  readonly log: Log
}

/** An image on this machine. */
interface Kept extends Unpacked {
  readonly digest: string
  /** The name of its folder. */
  readonly name: string
  users: number
  usedMs: number
  /** When `usedMs` was written to the disk. */
  notedMs: number
}

/** An image that is not removed before `release`, which is idempotent. */
export interface ImageLease extends Unpacked {
  readonly digest: string
  /** Absolute path of its file system. */
  readonly root: string
  release(): void
}

const READY = /^sha256-[0-9a-f]{64}$/
/** The socket of the folder's lock. */
const LOCK = 'lock'
const SWEEP_PERIOD_MS = 10 * 60_000
const NOTE_PERIOD_MS = 60_000

/**
 * Unpacked images in a folder of this worker alone, named by the digest of their manifest. An image gets its name by a rename when
 * it is complete, and loses it by another before it is removed. So a process that is killed leaves nothing half under such a
 * name, and `open` removes whatever has none. The least recently used go first, never one in use.
 */
export class ImageCache {
  readonly #options: ImageCacheOptions
  readonly #folder: OpenDirectory
  readonly #path: string
  /** The least recently used first. */
  readonly #kept = new Map<string, Kept>()
  readonly #stop: () => void
  #removals: Promise<void> = Promise.resolve()
  #isClosed = false

  private constructor(path: string, options: ImageCacheOptions) {
    this.#path = path
    this.#options = options
    this.#folder = OpenDirectory.open(path)
    for (const name of readdirSync(path)) {
      const kept = READY.test(name) ? keptIn(path, name) : undefined
      if (kept !== undefined) this.#kept.set(kept.digest, kept)
      else if (name !== LOCK) this.#remove(name)
    }
    const byUse = [...this.#kept.values()].sort((a, b) => a.usedMs - b.usedMs)
    for (const kept of byUse) this.#used(kept, kept.usedMs)
    this.#stop = options.clock.every(SWEEP_PERIOD_MS, () => this.sweep())
    this.sweep()
  }

  /** FAILED_PRECONDITION if the folder cannot be used. It exists, and no other worker may use it. */
  static open(directory: string, options: ImageCacheOptions): ImageCache {
    try {
      return new ImageCache(realpathSync(directory), options)
    } catch (cause) {
      const message = `container_images: the folder ${JSON.stringify(directory)} cannot be used: ${inWords(cause)}${advice(cause)}`
      throw new StatusError('FAILED_PRECONDITION', message, { cause })
    }
  }

  /** Digests of the images that are here, the least recently used first. */
  get digests(): readonly string[] {
    return [...this.#kept.keys()]
  }

  /** The image of this digest, if it is here. */
  take(digest: string): ImageLease | undefined {
    const kept = this.#kept.get(digest)
    if (kept === undefined) return undefined
    kept.users++
    this.#used(kept, this.#options.clock.now())
    let isHeld = true
    const release = (): void => {
      if (!isHeld) return
      isHeld = false
      kept.users--
      this.#used(kept, this.#options.clock.now())
    }
    return { ...kept, root: `${this.#path}/${kept.name}/${ROOT}`, release }
  }

  /**
   * Has `fill` unpack an image into an empty directory, and keeps it. RESOURCE_EXHAUSTED if images in use leave no room for it.
   */
  async add(digest: string, fill: (place: string) => Promise<Unpacked>): Promise<void> {
    const temporary = `pull-${newName()}`
    const place = `${this.#path}/${temporary}`
    await mkdir(place, { mode: 0o700 })
    try {
      const unpacked = await fill(place)
      this.#makeRoom(unpacked.bytes)
      const name = digest.replace(':', '-')
      // At once, so that two pulls cannot take the same room.
      renameSync(place, `${this.#path}/${name}`)
      const nowMs = this.#options.clock.now()
      this.#kept.set(digest, { ...unpacked, digest, name, users: 0, usedMs: nowMs, notedMs: nowMs })
      this.#options.onChange?.()
    } catch (error) {
      this.#remove(temporary)
      throw error
    }
  }

  /** Removes images that nobody used for `maxAgeMs`, and those above `maxBytes`. */
  sweep(): void {
    const oldestMs = this.#options.clock.now() - this.#options.maxAgeMs
    for (const kept of [...this.#kept.values()]) if (kept.users === 0 && kept.usedMs < oldestMs) this.#forget(kept)
    this.#evictTo(this.#options.maxBytes)
  }

  /** Resolves when everything removed so far is gone from the disk. */
  settle(): Promise<void> {
    return this.#removals
  }

  /** Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#stop()
    this.#isClosed = true
    await this.#removals
    this.#folder.close()
  }

  get #bytes(): number {
    let bytes = 0
    for (const kept of this.#kept.values()) bytes += kept.bytes
    return bytes
  }

  #makeRoom(bytes: number): void {
    const { maxBytes } = this.#options
    this.#evictTo(maxBytes - bytes)
    if (this.#bytes + bytes <= maxBytes) return
    const message = `images in use leave no room for another of ${bytes} bytes (max_bytes of container_images is ${maxBytes})`
    throw new StatusError('RESOURCE_EXHAUSTED', message)
  }

  #evictTo(bytes: number): void {
    let sum = this.#bytes
    for (const kept of [...this.#kept.values()]) {
      if (sum <= bytes) return
      if (kept.users > 0) continue
      sum -= kept.bytes
      this.#forget(kept)
    }
  }

  #forget(kept: Kept): void {
    this.#kept.delete(kept.digest)
    this.#remove(kept.name)
    this.#options.onChange?.()
  }

  /** The time is written now and then, for the next start. */
  #used(kept: Kept, atMs: number): void {
    kept.usedMs = atMs
    this.#kept.delete(kept.digest)
    this.#kept.set(kept.digest, kept)
    if (atMs - kept.notedMs < NOTE_PERIOD_MS) return
    kept.notedMs = atMs
    utimes(`${this.#path}/${kept.name}/${FACTS}`, atMs / 1000, atMs / 1000).catch((error: unknown) => {
      this.#options.log.warn('could not note when an image was used', { image: kept.digest, reason: inWords(error) })
    })
  }

  /** One after the other, so that removals do not slow down running actions. */
  #remove(name: string): void {
    const aside = { folder: this.#folder, newName: () => `gone-${newName()}`, isOver: () => this.#isClosed }
    // Not a ready name while it is being removed, and free for the next pull at once.
    const moved = removal(this.#folder, name, aside.newName())
    this.#removals = this.#removals.then(async () => {
      if (moved === undefined || this.#isClosed) return
      const [first, ...others] = await removeTree(this.#folder, moved, aside)
      if (first === undefined) return
      const message = 'could not remove an image; the next start tries again'
      this.#options.log.warn(message, { path: first.path, reason: inWords(first.error), others: others.length })
    })
  }
}

/** Moves an entry to another name in the same folder. Undefined if it is gone. */
const removal = (folder: OpenDirectory, name: string, to: string): string | undefined => {
  if (statsOf(`${folder.at}/${name}`) === undefined) return undefined
  renameSync(`${folder.at}/${name}`, `${folder.at}/${to}`)
  return to
}

/** The complete image in a folder of an earlier start; undefined if it is none. */
const keptIn = (path: string, name: string): Kept | undefined => {
  try {
    if (statsOf(`${path}/${name}/${ROOT}`)?.isDirectory() !== true) return undefined
    const facts = `${path}/${name}/${FACTS}`
    const unpacked: unknown = JSON.parse(readFileSync(facts, 'utf8'))
    if (!isUnpacked(unpacked)) return undefined
    const usedMs = statSync(facts).mtimeMs
    return { ...unpacked, digest: name.replace('-', ':'), name, users: 0, usedMs, notedMs: usedMs }
  } catch {
    // Not one of ours, or not readable: it is pulled again.
    return undefined
  }
}

const isUnpacked = (value: unknown): value is Unpacked => {
  const { bytes, entries, environment, hasVarTmp, hasResolver } = value as Partial<Unpacked>
  return (
    typeof bytes === 'number' &&
    typeof entries === 'number' &&
    Array.isArray(environment) &&
    typeof hasVarTmp === 'boolean' &&
    typeof hasResolver === 'boolean'
  )
}
