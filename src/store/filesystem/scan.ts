import { type Stats, statSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { boundedMap } from '../../base/bounded-map.js'
import { Digest } from '../../reapi/digest.js'
import { ABSENT } from '../index/blob-index.js'
import { errnoOf, fileError } from './file-error.js'
import type { BlobName } from './layout.js'
import { markOf, type Shelf } from './shelf.js'

const FOLDERS_AT_A_TIME = 4
const STATS_AT_A_TIME = 16
/** Names between two breaths, well below a millisecond each. */
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
  readonly #found: { readonly digest: Digest; readonly accessedS: number; readonly mtimeMs: number }[] = []
  #isStopped = false

  /** `checksLengths` asks every file's size: after a power loss a name may promise more than the disk got. */
  constructor(shelf: Shelf, checksLengths: boolean) {
    this.#shelf = shelf
    this.#checksLengths = checksLengths
    this.#waiting = new Map(shelf.layout.folders().map((folder) => [folder, undefined]))
  }

  covers(digest: Digest): boolean {
    return !this.#waiting.has(this.#shelf.layout.folderOf(digest))
  }

  async cover(digest: Digest): Promise<void> {
    const folder = this.#shelf.layout.folderOf(digest)
    if (this.#waiting.has(folder)) await this.#listOnce(folder)
  }

  /** For one who cannot wait: looks whether the blob has the file the checkpoint, or an unencoded blob, would have. */
  confirmNow(digest: Digest): void {
    const { index, layout } = this.#shelf
    const slot = index.find(digest)
    const storedBytes = slot === ABSENT ? digest.sizeBytes : index.storedBytesOf(slot)
    const stats = statSync(layout.blobPath(digest, storedBytes), { throwIfNoEntry: false })
    if (stats?.size !== storedBytes) return
    if (slot === ABSENT) this.#adopt({ digest, storedBytes, isTwin: false }, stats)
    else index.setDoubtful(slot, false)
  }

  /** Resolves when everything is reconciled, or soon after `stop`. */
  async run(): Promise<void> {
    await boundedMap([...this.#waiting.keys()], FOLDERS_AT_A_TIME, async (folder) => {
      if (!this.#isStopped && this.#waiting.has(folder)) await this.#listOnce(folder)
    })
    if (this.#isStopped) return
    await this.#forgetDoubtful()
    await this.#order()
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
    // Names of one digest differ only behind the last hyphen.
    const groups = new Map<string, string | string[]>()
    for (const name of names) {
      const group = name.slice(0, name.lastIndexOf('-'))
      const others = groups.get(group)
      groups.set(group, others === undefined ? name : [others, name].flat())
    }
    const unclear: BlobName[][] = []
    let count = 0
    for (const group of groups.values()) {
      if (typeof group === 'string') {
        const blob = layout.parse(folder, group)
        if (blob !== undefined && !this.#confirm(blob)) unclear.push([blob])
      } else {
        unclear.push(group.flatMap((name) => layout.parse(folder, name) ?? []))
      }
      if (++count % SLICE === 0) await setImmediate()
    }
    await boundedMap(unclear, STATS_AT_A_TIME, (blobs) => this.#resolve(blobs))
  }

  /** True when the only file of a digest is the one the checkpoint says. */
  #confirm(blob: BlobName): boolean {
    if (blob.isTwin || this.#checksLengths) return false
    const { index } = this.#shelf
    const slot = index.findParts(blob.digestFunction, blob.hash, blob.sizeBytes)
    if (slot === ABSENT || index.storedBytesOf(slot) !== blob.storedBytes || index.hasTwin(slot)) return false
    index.setDoubtful(slot, false)
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
      index.setDoubtful(slot, false)
      index.setTwin(slot, false)
    } else {
      this.#adopt(blob, stats)
    }
  }

  /** Takes in a file the checkpoint does not know: it was committed later, so it is more recent than all it knows. */
  #adopt({ digest, storedBytes }: BlobFile, stats: Stats): void {
    const { index, leases } = this.#shelf
    const slot = index.insert(digest, storedBytes)
    const accessedS = Math.ceil(stats.mtimeMs / 1000)
    index.setExtra(slot, markOf(stats.mtimeMs))
    index.touch(slot, accessedS)
    leases.arrived(digest, slot)
    this.#found.push({ digest, accessedS, mtimeMs: stats.mtimeMs })
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
      if (++count % (SLICE * 20) === 0) await setImmediate()
    }
  }

  /** Found blobs become recent in the order they were written, those used meanwhile stay where they are. */
  async #order(): Promise<void> {
    const { index } = this.#shelf
    this.#found.sort((a, b) => a.mtimeMs - b.mtimeMs)
    for (const [at, { digest, accessedS }] of this.#found.entries()) {
      const slot = index.find(digest)
      if (slot !== ABSENT && index.accessedOf(slot) === accessedS) index.touch(slot, accessedS)
      if (at % SLICE === SLICE - 1) await setImmediate()
    }
  }
}
