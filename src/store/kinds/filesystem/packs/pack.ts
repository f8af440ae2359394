import { close, fstatSync, fsync, open, type Stats, writev } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { errnoOf, fileFailure } from '../../../../base/errno.js'
import { after, FILE_MODE, readAt } from '../files/open-file.js'

const [openFd, closeFd, syncFd, writeFd] = [promisify(open), promisify(close), promisify(fsync), promisify(writev)]

/** A file of blobs that were put together. Written bytes never change; the file is deleted once it has no blob. */
export class Pack {
  readonly number: number
  readonly path: string
  /** Whether this run made it. Of an earlier one the index may have blobs that are not counted yet. */
  readonly isNew: boolean
  /** Offset after the last byte that is written or will be. */
  endBytes = 0
  /** Bytes of the blobs that the index has here. */
  liveBytes = 0
  /** Writers, and whoever else needs the file although no blob is in it. */
  holdCount = 0
  /** Grows when another process has written to the file: what was verified before says nothing then. */
  generation = 1
  /** Whether no more blobs can be added. */
  isSealed: boolean
  isDeleted = false
  /** Resolves once its name survives a power loss; absent where it need not. */
  named: Promise<void> | undefined
  #fd: Promise<number> | undefined
  #useCount = 0
  #writeCount = 0
  #mtimeMs = Number.NaN

  constructor(number: number, path: string, isNew: boolean) {
    this.number = number
    this.path = path
    this.isNew = isNew
    this.isSealed = !isNew
  }

  get isUsed(): boolean {
    return this.#useCount > 0
  }

  /** Opens the file until `release`; rejects as `open` does. Users share one descriptor. */
  async use(): Promise<void> {
    // Whoever reads several blobs of it looks once.
    const isFirst = this.#useCount === 0
    this.#useCount += 1
    try {
      this.#fd ??= this.#open()
      const fd = await this.#fd
      if (isFirst && this.#writeCount === 0) this.#look(fstatSync(fd))
    } catch (error) {
      this.#useCount -= 1
      if (this.#useCount === 0) await this.close()
      throw error
    }
  }

  release(): void {
    this.#useCount -= 1
    if (this.#useCount === 0 && this.isDeleted) void this.close()
  }

  /** Reads up to the end of the file: fewer bytes only there. */
  async read(into: Buffer, position: number): Promise<number> {
    const fd = await (this.#fd as Promise<number>)
    return readAt(fd, into, position).catch((error: unknown) => {
      throw fileFailure(error, `could not read ${this.path}`)
    })
  }

  /** Takes the next `sizeBytes` bytes of the file for a write. Returns their offset. */
  reserve(sizeBytes: number): number {
    const offset = this.endBytes
    this.endBytes += sizeBytes
    return offset
  }

  /** Writes at a reserved offset, between `use` and `release`. */
  async write(buffers: readonly Buffer[], offset: number, isSynced: boolean): Promise<void> {
    const fd = await (this.#fd as Promise<number>)
    this.#writeCount += 1
    try {
      for (let [rest, at] = [buffers, offset]; rest.length > 0; ) {
        const { bytesWritten } = await writeFd(fd, rest, at)
        rest = after(rest, bytesWritten)
        at += bytesWritten
      }
      if (isSynced) await syncFd(fd)
    } finally {
      this.#writeCount -= 1
      if (this.#writeCount === 0) this.#mtimeMs = fstatSync(fd).mtimeMs
    }
  }

  /** Between `use` and `release`. */
  async sync(): Promise<void> {
    await syncFd(await (this.#fd as Promise<number>))
  }

  /** Nobody uses it. A later `use` opens it again. */
  async close(): Promise<void> {
    const fd = this.#fd
    this.#fd = undefined
    this.isSealed = true
    // What was written is synced where it has to be, so a failure to close loses nothing.
    await fd?.then(closeFd).catch(() => {})
  }

  /** A deleted file can still be read here, but no start would find what is in it. */
  #look({ mtimeMs, nlink, size }: Stats): void {
    if (nlink === 0) throw Object.assign(new Error(`${this.path} was deleted`), { code: 'ENOENT' })
    if (this.isSealed) this.endBytes = size
    if (!Number.isNaN(this.#mtimeMs) && this.#mtimeMs !== mtimeMs) this.generation += 1
    this.#mtimeMs = mtimeMs
  }

  #open(): Promise<number> {
    return this.isSealed ? openFd(this.path, 'r') : createAt(this.path)
  }
}

/** A folder is created with its first file. */
const createAt = async (path: string): Promise<number> => {
  try {
    return await openFd(path, 'wx+', FILE_MODE)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
  await mkdir(dirname(path), { recursive: true })
  return openFd(path, 'wx+', FILE_MODE)
}
