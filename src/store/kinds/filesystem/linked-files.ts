import { constants, lstatSync, statSync } from 'node:fs'
import { chmod, copyFile, rename, stat, unlink, utimes } from 'node:fs/promises'
import { errnoOf, fileFailure } from '../../../base/errno.js'
import { StatusError } from '../../../base/status-error.js'
import type { BlobFiles, BlobLease, FinishedFile, LocatedBlob, ReservedFile } from '../../../blobs/store.js'
import type { BytesInFlight } from '../../../ledger/bytes-in-flight.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Call } from '../../../rpc/call.js'
import { readFile } from '../../../stream/blob/file.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import { SingleFlight } from '../../../work/single-flight.js'
import type { Catalog } from './catalog.js'
import { tooLargeToKeep } from './files/file-writer.js'
import { FILE_MODE } from './files/open-file.js'
import { type Inspection, isIntact } from './inspection.js'
import { ATTEMPTS_MAX, type Located, notFound } from './located.js'
import { linkPack } from './packing/link-pack.js'

const EXECUTABLE_MODE = 0o555
const ALL_MODES = 0o7777

/**
 * Blobs as files for a worker: a private copy of a small blob, a hard link to a larger one. The execute permission
 * belongs to the file, not to the link. So a blob that is needed as executable gets a second file, its executable copy, made once
 * and evicted with it. A linked file has been verified against its checksum since the start.
 */
export class LinkedFiles implements BlobFiles {
  readonly #catalog: Catalog
  readonly #inspection: Inspection
  readonly #inFlight: BytesInFlight
  readonly #executables = new SingleFlight<boolean>()
  readonly #checks = new SingleFlight<boolean>()

  constructor(catalog: Catalog, inspection: Inspection, inFlight: BytesInFlight) {
    this.#catalog = catalog
    this.#inspection = inspection
    this.#inFlight = inFlight
  }

  async lease(digests: readonly Digest[]): Promise<BlobLease> {
    return this.#catalog.leases.lease(digests)
  }

  async locate(digest: Digest, isExecutable: boolean): Promise<LocatedBlob> {
    try {
      for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
        const located = this.#catalog.locate(digest)
        const found = await this.#located(located, isExecutable)
        if (found !== undefined) return found
        if (this.#catalog.isCommitting(digest)) await this.#catalog.commits.settled(digest)
      }
    } catch (error) {
      throw fileFailure(error, `could not locate blob ${digest.key}`)
    }
    throw notFound(digest)
  }

  async populate(digest: Digest, call: Call): Promise<void> {
    this.#catalog.locate(digest, call)
  }

  /** The bytes of the blob's own file are compared with the digest, because a process may forge a checksum. */
  async drop(digest: Digest, _call: Call): Promise<void> {
    const located = this.#catalog.find(digest)
    if (located?.kind === 'file') {
      await this.#dropExecutable(located)
      if ((await this.#inspection.check(located, { hashes: true })) === 'right') return
    }
    await this.#catalog.drop(digest)
  }

  linkTogether(digests: readonly Digest[], destination: string): Promise<FinishedFile | undefined> {
    return linkPack(this.#catalog, this.#inspection, digests, destination)
  }

  async maxBlobBytes(): Promise<number> {
    return this.#catalog.index.maxBlobBytes
  }

  async reserve(call: Call): Promise<ReservedFile> {
    const { layout, syncs } = this.#catalog
    return { path: layout.nextTempPath(), isSynced: syncs !== undefined, inFlight: this.#inFlight.begin(call) }
  }

  async adopt(digest: Digest, file: FinishedFile, call: Call): Promise<void> {
    const { path, sizeBytes, mtimeMs } = file
    try {
      this.#catalog.index.checkRoomFor(digest, sizeBytes)
      if (!this.#catalog.index.fits(sizeBytes)) throw tooLargeToKeep(digest.key, sizeBytes)
      // Synchronous: its caller has just written or linked it, so it does not wait for the disk.
      const stats = lstatSync(path)
      const isOwn = stats.nlink === 1 || file.isShared === true
      const isAsReported = stats.isFile() && isOwn && stats.size === sizeBytes && stats.mtimeMs === mtimeMs
      if (!isAsReported) throw new StatusError('INVALID_ARGUMENT', `the file to keep as blob ${digest.key} has changed`)
      if ((stats.mode & ALL_MODES) !== FILE_MODE) await chmod(path, FILE_MODE)
      await this.#catalog.commitFile(digest, file)
      this.#catalog.index.holdFor(digest, call)
    } catch (error) {
      await unlink(path).catch(() => {})
      throw fileFailure(error, `could not keep a file as blob ${digest.key}`)
    }
  }

  #located(located: Located, isExecutable: boolean): Promise<LocatedBlob | undefined> {
    if (located.kind === 'bytes') return this.#bytes(located)
    return located.kind === 'packed' ? this.#packedBytes(located) : this.#file(located, isExecutable)
  }

  /** Undefined when the blob was replaced or is damaged. */
  async #packedBytes(located: Located): Promise<LocatedBlob | undefined> {
    const part = await this.#inspection.openPacked(located, { offset: 0, end: located.storedBytes }, STAGE_BYTES)
    return part && { bytes: await readFile(part) }
  }

  /** Undefined when the record is damaged; then it is dropped. */
  async #bytes(located: Located): Promise<LocatedBlob | undefined> {
    const bytes = await this.#inspection.readInline(located)
    return bytes && { bytes }
  }

  /** Undefined when the blob was replaced or its file was wrong: the caller locates it again. */
  async #file(located: Located, isExecutable: boolean): Promise<LocatedBlob | undefined> {
    if (!(await this.#isRight(located))) return undefined
    const path = isExecutable ? await this.#executableOf(located) : located.path
    if (path === undefined) return undefined
    // Synchronous: the inode was used a moment ago, so `stat` does not wait for the disk.
    const stats = statSync(path, { throwIfNoEntry: false })
    const { storedBytes } = located
    if (stats?.size === storedBytes && this.#inspection.trusts(located, stats)) {
      return { path, sizeBytes: storedBytes, mtimeMs: stats.mtimeMs, isOnlyCopy: !isExecutable }
    }
    // Each new upload of a blob deletes its executable copy, so a missing copy says nothing about the blob.
    if (isExecutable) await this.#dropExecutable(located)
    else await this.#inspection.look(located)
    return undefined
  }

  /** Whether the bytes of the file are known to be intact, or prove intact when read now. A damaged file is dropped. */
  async #isRight(located: Located): Promise<boolean> {
    const stats = await stat(located.path).catch((error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error
    })
    if (stats !== undefined && this.#inspection.trusts(located, stats)) return true
    return this.#checks.run(located.digest.key, async () => isIntact(await this.#inspection.check(located)))
  }

  /** The path of the executable copy; undefined when the blob was replaced or its file was wrong. */
  async #executableOf(located: Located): Promise<string | undefined> {
    const { index, layout } = this.#catalog
    const executablePath = layout.executablePath(located.digest, located.storedBytes)
    if (index.hasExecutable(located.slot)) return executablePath
    const isMade = await this.#executables.run(located.digest.key, () => this.#makeExecutable(located, executablePath))
    return isMade ? executablePath : undefined
  }

  async #makeExecutable(located: Located, executablePath: string): Promise<boolean> {
    const { index, layout, unlinker } = this.#catalog
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
      // The copy gets the modification time of the blob, in whole milliseconds, so that one verified time covers both.
      const mtime = new Date(Math.round(stats.mtimeMs))
      await utimes(tempPath, mtime, mtime)
      await chmod(tempPath, EXECUTABLE_MODE)
      await unlinker.settled(executablePath)
      await rename(tempPath, executablePath)
    } catch (error) {
      await unlink(tempPath).catch((unlinkError: unknown) => {
        if (errnoOf(unlinkError) !== 'ENOENT') throw unlinkError
      })
      if (errnoOf(error) !== 'ENOENT') throw error
      await this.#inspection.look(located)
      return false
    }
    if (!this.#catalog.isThere(located)) {
      await unlinker.unlink(executablePath)
      return false
    }
    index.setExecutable(located.slot, true)
    this.#catalog.eviction.start()
    return true
  }

  /** Deletes an executable copy that is missing or wrong. */
  async #dropExecutable(located: Located): Promise<void> {
    const { index, layout, unlinker } = this.#catalog
    if (index.find(located.digest) !== located.slot || !index.hasExecutable(located.slot)) return
    index.setExecutable(located.slot, false)
    await unlinker.unlink(layout.executablePath(located.digest, located.storedBytes))
  }
}
