import { type Stats, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { boundedMap } from '../../base/bounded-map.js'
import { Digest } from '../../reapi/digest.js'
import { ABSENT } from '../index/blob-index.js'
import { errnoOf, fileError } from './file-error.js'
import { Found, UNKNOWN_MTIME } from './found.js'
import type { BlobName } from './layout.js'
import { markOf, type Shelf, secondsOf, UNKNOWN_MARK } from './shelf.js'

/** Listings and looks at files share four threads with the calls. */
const FOLDERS_AT_A_TIME = 2
const STATS_AT_A_TIME = 16
/** Names between two breaths: well below a millisecond. */
const SLICE = 500

/** A name of which the digest is needed. */
interface BlobFile {
  readonly digest: Digest
  readonly storedBytes: number
  readonly isTwin: boolean
}

const fileOf = ({ digestFunction, hash, sizeBytes, storedBytes, isTwin }: BlobName): BlobFile => ({
  digest: Digest.parse({ hash, sizeBytes }, digestFunction),
  storedBytes,
  isTwin,
})

/**
 * Reconciles the index with the folders after a stop that was not clean, in the background. Until a folder was listed
 * nobody answers from the index for it; who needs an answer waits for that one folder only.
 */
export class Scan {
  readonly #shelf: Shelf
  readonly #checksLengths: boolean
  readonly #waiting: Map<string, Promise<void> | undefined>
  readonly #found = new Found()
  #isStopped = false

  private constructor(shelf: Shelf, checksLengths: boolean, folders: readonly string[]) {
    this.#shelf = shelf
    this.#checksLengths = checksLengths
    this.#waiting = new Map(folders.map((folder) => [folder, undefined]))
  }

  /** `checksLengths` asks every file's size: after a power loss a name may promise more than the disk got. */
  static async of(shelf: Shelf, checksLengths: boolean): Promise<Scan> {
    return new Scan(shelf, checksLengths, await shelf.layout.folders())
  }

  covers(digest: Digest): boolean {
    return !this.#waiting.has(this.#shelf.layout.folderOf(digest))
  }

  async cover(digest: Digest): Promise<void> {
    const folder = this.#shelf.layout.folderOf(digest)
    if (this.#waiting.has(folder)) await this.#listOnce(folder)
  }

  /** For one who cannot wait: looks for the file that the checkpoint says, or that an unencoded blob would have. */
  confirmNow(digest: Digest): void {
    const { index } = this.#shelf
    const slot = index.find(digest)
    const known = slot === ABSENT ? digest.sizeBytes : index.storedBytesOf(slot)
    for (const storedBytes of new Set([known, digest.sizeBytes])) {
      const blob: BlobFile = { digest, storedBytes, isTwin: false }
      const stats = statSync(this.#pathOf(blob), { throwIfNoEntry: false })
      if (stats?.size !== storedBytes) continue
      if (slot !== ABSENT && storedBytes === known) this.#confirmWritten(slot, stats)
      else this.#adopt(blob, stats)
      return
    }
  }

  /** Resolves when everything is reconciled, or soon after `stop`. */
  async run(): Promise<void> {
    await boundedMap([...this.#waiting.keys()], FOLDERS_AT_A_TIME, async (folder) => {
      if (!this.#isStopped && this.#waiting.has(folder)) await this.#listOnce(folder)
    })
    if (!this.#isStopped) await this.#forgetDoubtful()
  }

  /** Gives what was found its place in the order of use. Calls need not wait for that; resolves early after `stop`. */
  async order(): Promise<void> {
    await this.#found.order(this.#shelf, () => this.#isStopped)
  }

  get isComplete(): boolean {
    return this.#waiting.size === 0 && !this.#isStopped
  }

  stop(): void {
    this.#isStopped = true
  }

  #listOnce(folder: string): Promise<void> {
    const underWay = this.#waiting.get(folder)
    if (underWay !== undefined) return underWay
    const work = this.#list(folder).then(
      () => void this.#waiting.delete(folder),
      (error: unknown) => {
        // The next who asks tries again.
        this.#waiting.set(folder, undefined)
        throw fileError(error, 'look for blobs in the file store')
      },
    )
    this.#waiting.set(folder, work)
    return work
  }

  async #list(folder: string): Promise<void> {
    const { layout } = this.#shelf
    const names = await readdir(layout.folderPath(folder)).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return []
      throw error
    })
    names.sort()
    const unclear: BlobName[][] = []
    for (let at = 0, count = 1; at < names.length; count++) {
      const blob = layout.parse(folder, names[at] as string)
      let end = at + 1
      // What has the same hash lies next to it.
      if (blob !== undefined) while (names[end]?.startsWith(blob.hash)) end++
      if (end - at > 1) unclear.push(...this.#sameDigest(folder, names.slice(at, end)))
      else if (blob !== undefined && !this.#settle(blob)) unclear.push([blob])
      at = end
      if (count % SLICE === 0) await setImmediate()
    }
    await boundedMap(unclear, STATS_AT_A_TIME, (blobs) => this.#resolve(blobs))
  }

  /** Files of one hash by digest: they may differ in size. */
  #sameDigest(folder: string, names: readonly string[]): BlobName[][] {
    const groups = new Map<number, BlobName[]>()
    for (const name of names) {
      const blob = this.#shelf.layout.parse(folder, name)
      if (blob !== undefined) groups.set(blob.sizeBytes, [...(groups.get(blob.sizeBytes) ?? []), blob])
    }
    return [...groups.values()]
  }

  /**
   * Decides about the only file of a digest by its name, where that says enough: files get their names when they are whole
   * (those that a kill tore were deleted, see `placings.ts`), and only a loss of power can undo that. False when the file has
   * to be looked at.
   */
  #settle(blob: BlobName): boolean {
    if (blob.isTwin || this.#checksLengths) return false
    const { index, leases, unlinker } = this.#shelf
    const { digestFunction, hash, sizeBytes, storedBytes } = blob
    const slot = index.findParts(digestFunction, hash, sizeBytes)
    if (slot !== ABSENT) {
      if (index.storedBytesOf(slot) !== storedBytes || index.hasTwin(slot)) return false
      this.#confirm(slot, UNKNOWN_MARK)
      return true
    }
    const file = fileOf(blob)
    if (unlinker.wasUnlinked(this.#pathOf(file)) || this.#shelf.isCommitting(file.digest)) return false
    const found = index.insert(file.digest, storedBytes)
    leases.arrived(file.digest, found)
    this.#found.add(found, UNKNOWN_MTIME)
    return true
  }

  /** Looks at the files of one digest: the newest whole one stays, with a twin that fits it. */
  async #resolve(group: readonly BlobName[]): Promise<void> {
    const whole: { readonly blob: BlobFile; readonly stats: Stats }[] = []
    const blobs = group.map(fileOf)
    for (const blob of blobs) {
      const stats = await this.#look(blob)
      if (stats !== undefined) whole.push({ blob, stats })
    }
    const [first] = blobs
    if (first === undefined || this.#shelf.isCommitting(first.digest)) return
    const { index } = this.#shelf
    const slot = index.find(first.digest)
    const isKnown = slot !== ABSENT && !index.isDoubtful(slot)
    const mains = whole.filter(({ blob }) => !blob.isTwin).sort((a, b) => b.stats.mtimeMs - a.stats.mtimeMs)
    // A blob written since the start is right whatever else lies there.
    const kept = isKnown ? index.storedBytesOf(slot) : mains[0]?.blob.storedBytes
    const [newest] = mains
    if (!isKnown && newest !== undefined) this.#keep(newest.blob, newest.stats)
    for (const { blob } of whole) {
      if (blob.storedBytes !== kept) this.#unlink(blob)
      else if (blob.isTwin) this.#keepTwin(blob)
    }
  }

  /** A file's stats when it is as long as its name says; else it is deleted. */
  async #look(blob: BlobFile): Promise<Stats | undefined> {
    const path = this.#pathOf(blob)
    const stats = await stat(path).catch((error: unknown) => {
      if (errnoOf(error) === 'ENOENT') return undefined
      throw error
    })
    if (stats === undefined || this.#shelf.unlinker.wasUnlinked(path)) return undefined
    if (stats.size === blob.storedBytes) return stats
    if (!this.#shelf.isCommitting(blob.digest)) this.#unlink(blob)
    return undefined
  }

  #keep(blob: BlobFile, stats: Stats): void {
    const { index } = this.#shelf
    const slot = index.find(blob.digest)
    if (slot !== ABSENT && index.storedBytesOf(slot) === blob.storedBytes) {
      this.#confirmWritten(slot, stats)
      index.setTwin(slot, false)
    } else {
      this.#adopt(blob, stats)
    }
  }

  /**
   * A blob of the checkpoint has its file. It may have been written again since, so the mark is that of what lies there
   * now. What was committed since the start is left as it is.
   */
  #confirm(slot: number, mark: number): void {
    const { index } = this.#shelf
    if (!index.isDoubtful(slot)) return
    index.setExtra(slot, mark)
    index.setDoubtful(slot, false)
  }

  /** One that was written again since the checkpoint is as recent as that. */
  #confirmWritten(slot: number, { mtimeMs }: Stats): void {
    const { index } = this.#shelf
    if (!index.isDoubtful(slot)) return
    this.#confirm(slot, markOf(mtimeMs))
    if (secondsOf(mtimeMs) <= index.accessedOf(slot)) return
    index.touch(slot, secondsOf(mtimeMs))
    this.#found.add(slot, mtimeMs)
  }

  /** Takes in a file the checkpoint does not know: it was committed later, so it is more recent than all it knows. */
  #adopt({ digest, storedBytes }: BlobFile, stats: Stats): void {
    const { index, leases } = this.#shelf
    const slot = index.insert(digest, storedBytes)
    index.setExtra(slot, markOf(stats.mtimeMs))
    index.touch(slot, secondsOf(stats.mtimeMs))
    leases.arrived(digest, slot)
    this.#found.add(slot, stats.mtimeMs)
  }

  #keepTwin(blob: BlobFile): void {
    const slot = this.#shelf.index.find(blob.digest)
    if (slot === ABSENT) this.#unlink(blob)
    else this.#shelf.index.setTwin(slot, true)
  }

  #unlink(blob: BlobFile): void {
    void this.#shelf.unlinker.unlink(this.#pathOf(blob))
  }

  #pathOf({ digest, storedBytes, isTwin }: BlobFile): string {
    const { layout } = this.#shelf
    return isTwin ? layout.twinPath(digest, storedBytes) : layout.blobPath(digest, storedBytes)
  }

  async #forgetDoubtful(): Promise<void> {
    const { index } = this.#shelf
    let count = 0
    for (const slot of index.slots()) {
      if (index.isDoubtful(slot)) index.remove(slot)
      if (++count % (SLICE * 4) === 0) await setImmediate()
    }
  }
}
