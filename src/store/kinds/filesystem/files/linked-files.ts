import { constants, statSync } from 'node:fs'
import { chmod, copyFile, lstat, rename, stat, unlink, utimes } from 'node:fs/promises'
import { errnoOf, fileFailure } from '../../../../base/errno.js'
import { StatusError } from '../../../../base/status-error.js'
import type { Digest } from '../../../../reapi/digest.js'
import type { Call } from '../../../../rpc/call.js'
import { SingleFlight } from '../../../../work/single-flight.js'
import type { BlobFiles, BlobLease, FinishedFile, LocatedBlob, ReservedFile } from '../../../contract/store.js'
import type { Inspection } from '../inspection.js'
import { ATTEMPTS_MAX, type Located, notFound } from '../located.js'
import type { Shelf } from '../shelf.js'
import { tooLargeToKeep } from './file-writer.js'
import { FILE_MODE } from './open-file.js'

const EXECUTABLE_MODE = 0o555

/**
 * Blobs as files for a worker: a private copy of a small blob, a hard link to a larger one. The execute permission
 * belongs to the file, not to the link. So a blob that is needed as executable gets a second file, its twin, made once
 * and evicted with it. A linked file has been verified against its checksum since the start.
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

  async lease(digests: readonly Digest[]): Promise<BlobLease> {
    return this.#shelf.leases.lease(digests)
  }

  async locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob> {
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const located = this.#shelf.locate(digest)
        const found = located.isInline ? await this.#bytes(located) : await this.#file(located, isExecutable)
        if (found !== undefined) return found
        if (this.#shelf.isCommitting(digest)) await this.#shelf.commits.settled(digest)
      }
    } catch (error) {
      throw fileFailure(error, `could not locate blob ${digest.key}`)
    }
    throw notFound(digest)
  }

  async populate(digest: Digest, _call: Call): Promise<void> {
    this.#shelf.locate(digest)
  }

  drop(digest: Digest, _call: Call): Promise<void> {
    return this.#shelf.drop(digest)
  }

  async maxBlobBytes(): Promise<number> {
    return this.#shelf.index.maxBlobBytes
  }

  async reserve(): Promise<ReservedFile> {
    return { path: this.#shelf.layout.nextTempPath(), isSynced: this.#shelf.syncs !== undefined }
  }

  async adopt(digest: Digest, file: FinishedFile): Promise<void> {
    const { path, sizeBytes, mtimeMs } = file
    try {
      if (!this.#shelf.index.fits(sizeBytes)) throw tooLargeToKeep(digest.key, sizeBytes)
      const stats = await lstat(path)
      const isAsReported = stats.isFile() && stats.nlink === 1 && stats.size === sizeBytes && stats.mtimeMs === mtimeMs
      if (!isAsReported) throw new StatusError('INVALID_ARGUMENT', `the file to keep as blob ${digest.key} has changed`)
      await chmod(path, FILE_MODE)
      await this.#shelf.commitFile(digest, file)
    } catch (error) {
      await unlink(path).catch(() => {})
      throw fileFailure(error, `could not keep a file as blob ${digest.key}`)
    }
  }

  /** Undefined when the record is damaged; then it is dropped. */
  async #bytes(located: Located): Promise<LocatedBlob | undefined> {
    const bytes = await this.#inspection.readInline(located)
    return bytes && { bytes }
  }

  /** Undefined when the blob was replaced or its file was wrong: the caller locates it again. */
  async #file(located: Located, isExecutable: boolean): Promise<LocatedBlob | undefined> {
    if (!(await this.#isRight(located))) return undefined
    const path = isExecutable ? await this.#twinOf(located) : located.path
    if (path === undefined) return undefined
    // Synchronous: the inode was used a moment ago, so `stat` does not wait for the disk.
    const stats = statSync(path, { throwIfNoEntry: false })
    const { storedBytes } = located
    if (stats?.size === storedBytes && this.#inspection.trusts(located, stats)) {
      return { path, sizeBytes: storedBytes, mtimeMs: stats.mtimeMs }
    }
    // Each new upload of a blob deletes its twin, so a missing twin says nothing about the blob.
    if (isExecutable) await this.#forgetTwin(located)
    else await this.#inspection.look(located)
    return undefined
  }

  /** Whether the bytes of the file are known to be intact, or prove intact when read now. A damaged file is dropped. */
  async #isRight(located: Located): Promise<boolean> {
    const stats = await stat(located.path).catch((error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error
    })
    if (stats !== undefined && this.#inspection.trusts(located, stats)) return true
    return this.#checks.run(located.digest.key, async () => (await this.#inspection.check(located)) === 'right')
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
      // The twin gets the modification time of the blob, in whole milliseconds, so that one mark covers both.
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

  /** Deletes a twin that is missing or wrong. */
  async #forgetTwin(located: Located): Promise<void> {
    const { index, layout, unlinker } = this.#shelf
    if (index.find(located.digest) !== located.slot || !index.hasTwin(located.slot)) return
    index.setTwin(located.slot, false)
    await unlinker.unlink(layout.twinPath(located.digest, located.storedBytes))
  }
}
