import { constants, statSync } from 'node:fs'
import { access, chmod, copyFile, link, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import type { Call } from '../../../base/call.js'
import { errnoOf } from '../../../base/errno.js'
import { StatusError } from '../../../base/status-error.js'
import { SingleFlight } from '../../../base/work/single-flight.js'
import type { Digest } from '../../../reapi/digest.js'
import type { BlobFiles, BlobLease } from '../../store.js'
import { fileError } from '../file-error.js'
import type { Inspection } from '../inspection.js'
import { ATTEMPTS_MAX, type Located, notFound } from '../located.js'
import type { Shelf } from '../shelf.js'
import { FILE_MODE } from './open-file.js'

/** What a link cannot do and a copy can. */
const CANNOT_LINK = new Set(['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP'])

const EXECUTABLE_MODE = 0o555

/**
 * Blobs as files of a worker: a small one is a private copy, a larger one a hard link. The permission to execute belongs to
 * the file and not to the link, so a file that is needed executable gets a second one, its twin, made once and evicted with
 * it. What is linked has been compared with its checksum since the start.
 */
export class LinkedFiles implements BlobFiles {
  readonly #shelf: Shelf
  readonly #inspection: Inspection
  readonly #twins = new SingleFlight<boolean>()
  readonly #checks = new SingleFlight<boolean>()

  constructor(shelf: Shelf, inspection: Inspection) {
    this.#shelf = shelf
    this.#inspection = inspection
  }

  lease(digests: readonly Digest[]): BlobLease {
    return this.#shelf.leases.lease(digests)
  }

  async link(digest: Digest, destination: string, isExecutable: boolean): Promise<void> {
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const located = this.#shelf.locate(digest)
        const isThere = located.isInline
          ? await this.#copy(located, destination, isExecutable)
          : await this.#link(located, destination, isExecutable)
        if (isThere) return
        if (this.#shelf.isCommitting(digest)) await this.#shelf.commits.settled(digest)
      }
    } catch (error) {
      throw fileError(error, `link blob ${digest.key}`)
    }
    throw notFound(digest)
  }

  async populate(digest: Digest, _call: Call): Promise<void> {
    this.#shelf.locate(digest)
  }

  drop(digest: Digest, _call: Call): Promise<void> {
    return this.#shelf.drop(digest)
  }

  async #copy(located: Located, destination: string, isExecutable: boolean): Promise<boolean> {
    const bytes = await this.#inspection.readInline(located)
    if (bytes === undefined) return false
    const mode = isExecutable ? EXECUTABLE_MODE : FILE_MODE
    await writeFile(destination, bytes, { flag: 'wx', mode }).catch((error: unknown) => {
      throw errnoOf(error) === 'ENOENT' ? noFolder(error) : error
    })
    return true
  }

  /** False when the blob was replaced or its file was wrong: then look again. */
  async #link(located: Located, destination: string, isExecutable: boolean): Promise<boolean> {
    if (!(await this.#isRight(located))) return false
    const source = isExecutable ? await this.#twinOf(located) : located.path
    if (source === undefined) return false
    const isLinked = await linkOrCopy(source, destination)
    if (isLinked && this.#isAsChecked(located, destination, source)) return true
    if (isLinked) await unlink(destination)
    // A twin goes with each new upload of its blob: that it is gone says nothing about the blob.
    if (isExecutable) await this.#forgetTwin(located)
    else await this.#inspection.look(located)
    return false
  }

  /** Whether the file's bytes are known to be right, or are now that it was read; one that is not right is dropped. */
  async #isRight(located: Located): Promise<boolean> {
    const stats = await stat(located.path).catch((error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error
    })
    if (stats !== undefined && this.#inspection.trusts(located, stats)) return true
    return this.#checks.run(located.digest.key, async () => (await this.#inspection.check(located)) === 'right')
  }

  /** The link's inode was in use a moment ago: asking for it does not wait for the disk. */
  #isAsChecked(located: Located, destination: string, source: string): boolean {
    const stats = statSync(destination, { throwIfNoEntry: false })
    if (stats === undefined || stats.size !== located.storedBytes) return false
    // A copy has a time of its own: there the original speaks for it.
    const original = stats.nlink > 1 ? stats : statSync(source, { throwIfNoEntry: false })
    return original !== undefined && this.#inspection.trusts(located, original)
  }

  /** The path of the executable twin; undefined when the blob was replaced or its file was wrong. */
  async #twinOf(located: Located): Promise<string | undefined> {
    const { index, layout } = this.#shelf
    const twinPath = layout.twinPath(located.digest, located.storedBytes)
    if (index.hasTwin(located.slot)) return twinPath
    const isMade = await this.#twins.run(located.digest.key, () => this.#makeTwin(located, twinPath))
    return isMade ? twinPath : undefined
  }

  async #makeTwin(located: Located, twinPath: string): Promise<boolean> {
    const { index, layout, unlinker } = this.#shelf
    const tempPath = layout.nextTempPath()
    try {
      await copyFile(located.path, tempPath, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
      const stats = await stat(located.path)
      const copied = await stat(tempPath)
      if (copied.size !== stats.size || !this.#inspection.trusts(located, stats)) {
        await unlink(tempPath)
        await this.#inspection.look(located)
        return false
      }
      // The twin carries the blob's own time, in whole milliseconds, so that one mark vouches for both.
      const mtime = new Date(Math.round(stats.mtimeMs))
      await utimes(tempPath, mtime, mtime)
      await chmod(tempPath, EXECUTABLE_MODE)
      await unlinker.settled(twinPath)
      await rename(tempPath, twinPath)
    } catch (error) {
      await unlink(tempPath).catch((unlinkError: unknown) => {
        if (errnoOf(unlinkError) !== 'ENOENT') throw unlinkError
      })
      if (errnoOf(error) !== 'ENOENT') throw error
      await this.#inspection.look(located)
      return false
    }
    if (!this.#shelf.isThere(located)) {
      await unlinker.unlink(twinPath)
      return false
    }
    index.setTwin(located.slot, true)
    this.#shelf.eviction.start()
    return true
  }

  /** Deletes a twin that is not what it should be, or not there. */
  async #forgetTwin(located: Located): Promise<void> {
    const { index, layout, unlinker } = this.#shelf
    if (index.find(located.digest) !== located.slot || !index.hasTwin(located.slot)) return
    index.setTwin(located.slot, false)
    await unlinker.unlink(layout.twinPath(located.digest, located.storedBytes))
  }
}

/** False when the source is gone. */
const linkOrCopy = async (source: string, destination: string): Promise<boolean> => {
  try {
    await link(source, destination)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return gone(source, error)
    if (!CANNOT_LINK.has(errnoOf(error) ?? '')) throw error
  }
  try {
    await copyFile(source, destination, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return gone(source, error)
    throw error
  }
}

/** ENOENT may mean either end: only a missing source is ours to heal. */
const gone = async (source: string, error: unknown): Promise<false> => {
  const isThere = await access(source).then(
    () => true,
    () => false,
  )
  if (isThere) throw noFolder(error)
  return false
}

const noFolder = (cause: unknown): StatusError =>
  new StatusError('FAILED_PRECONDITION', 'the folder of the link does not exist', { cause })
