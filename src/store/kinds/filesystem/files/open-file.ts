import { close, fstatSync, fsync, open, read, type Stats, writev } from 'node:fs'
import { promisify } from 'node:util'
import { errnoOf, fileFailure } from '../../../../base/errno.js'

/** Not writable, because inputs of actions are hard links to these files. */
export const FILE_MODE = 0o444

const [openFd, closeFd, syncFd, writeFd] = [promisify(open), promisify(close), promisify(fsync), promisify(writev)]

/** Uses the callback API: reading through a FileHandle costs three times the CPU. Resolves with the number of bytes. */
export const readAt = (fd: number, into: Buffer, position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, position, (error, bytesRead) =>
      error === null ? resolve(bytesRead) : reject(error),
    )
  })

/**
 * A file descriptor that is closed once, and never during an operation. Otherwise a write that waits in the thread pool
 * could hit another file that reuses the number. One operation at a time, as with streams.
 */
export class OpenFile {
  readonly #fd: number
  #work: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  private constructor(fd: number) {
    this.#fd = fd
  }

  /** Creates a new file to append to. */
  static async create(path: string): Promise<OpenFile> {
    return new OpenFile(await openFd(path, 'wx', FILE_MODE))
  }

  /** Opens a file to read; undefined when it does not exist. `key` is the blob's, for errors. */
  static async open(path: string, key: string): Promise<OpenFile | undefined> {
    try {
      return new OpenFile(await openFd(path, 'r'))
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined
      throw fileFailure(error, `could not open blob ${key}`)
    }
  }

  /** Synchronous: the inode of an open file is in memory. 3 microseconds. */
  stat(): Stats {
    return fstatSync(this.#fd)
  }

  read(buffer: Buffer, position: number): Promise<number> {
    return this.#run(readAt(this.#fd, buffer, position))
  }

  /** Appends all of the buffers. */
  append(buffers: readonly Buffer[]): Promise<void> {
    return this.#run(this.#append(buffers))
  }

  /** Syncs the appended bytes and the file length to disk. */
  sync(): Promise<void> {
    return this.#run(syncFd(this.#fd))
  }

  /** Idempotent. */
  close(): Promise<void> {
    const closeNow = (): Promise<void> => closeFd(this.#fd)
    this.#closing ??= this.#work.then(closeNow, closeNow)
    return this.#closing
  }

  #run<T>(work: Promise<T>): Promise<T> {
    this.#work = work
    return work
  }

  async #append(buffers: readonly Buffer[]): Promise<void> {
    for (let rest = buffers; rest.length > 0; ) rest = after(rest, (await writeFd(this.#fd, rest)).bytesWritten)
  }
}

/** The rest of the buffers after the first `bytes`. */
export const after = (buffers: readonly Buffer[], bytes: number): readonly Buffer[] => {
  let skip = bytes
  for (const [at, buffer] of buffers.entries()) {
    if (skip < buffer.length) return [buffer.subarray(skip), ...buffers.slice(at + 1)]
    skip -= buffer.length
  }
  return []
}
