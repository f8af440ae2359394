import { close, fstatSync, fsync, open, read, type Stats, writev } from 'node:fs'
import { promisify } from 'node:util'
import { errnoOf, fileFailure } from '../../../base/errno.js'

/** Never writable: inputs of actions are hard links to these files. */
export const FILE_MODE = 0o444

const [openFd, closeFd, syncFd, writeFd] = [promisify(open), promisify(close), promisify(fsync), promisify(writev)]

/** By callback: a FileHandle's own read costs three times the CPU. Answers how many bytes there were. */
export const readAt = (fd: number, into: Buffer, position: number): Promise<number> =>
  new Promise((resolve, reject) => {
    read(fd, into, 0, into.length, position, (error, bytesRead) =>
      error === null ? resolve(bytesRead) : reject(error),
    )
  })

/**
 * A file descriptor that is closed once, and never under an operation: closing while a write waits in the thread pool
 * would let it hit whatever file gets the number next. One operation at a time, as streams do.
 */
export class OpenFile {
  readonly #fd: number
  #work: Promise<unknown> = Promise.resolve()
  #closing: Promise<void> | undefined

  private constructor(fd: number) {
    this.#fd = fd
  }

  /** A new file, to append to. */
  static async create(path: string): Promise<OpenFile> {
    return new OpenFile(await openFd(path, 'wx', FILE_MODE))
  }

  /** Undefined when there is no such file; `key` is that of the blob, for the error. */
  static async open(path: string, key: string): Promise<OpenFile | undefined> {
    try {
      return new OpenFile(await openFd(path, 'r'))
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return undefined
      throw fileFailure(error, `could not open blob ${key}`)
    }
  }

  /** Never waits for the disk: an open file's inode is in memory. 3 microseconds. */
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

  /** Brings what was appended onto the disk, and the length with it. */
  sync(): Promise<void> {
    return this.#run(syncFd(this.#fd))
  }

  /** Calling it again does nothing. */
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

/** What is left of the buffers behind the first `bytes`. */
const after = (buffers: readonly Buffer[], bytes: number): readonly Buffer[] => {
  let skip = bytes
  for (const [at, buffer] of buffers.entries()) {
    if (skip < buffer.length) return [buffer.subarray(skip), ...buffers.slice(at + 1)]
    skip -= buffer.length
  }
  return []
}
