import { close, fstatSync, fsync, open, read, type Stats, write, writev } from 'node:fs'
import { fileError } from '../file-error.js'

/** Never writable: inputs of actions are hard links to these files. */
export const FILE_MODE = 0o444

export type Done<Result extends unknown[] = []> = (error: Error | null, ...result: Result) => void

/**
 * A file descriptor that is closed once, and never under an operation: closing while a write waits in the thread pool
 * would let it hit whatever file gets the number next. One operation at a time, as streams do.
 */
export class OpenFile {
  readonly #fd: number
  #isBusy = false
  #whenIdle: (() => void) | undefined
  #isClosed = false

  constructor(fd: number) {
    this.#fd = fd
  }

  /** Never waits for the disk: an open file's inode is in memory. 3 microseconds. */
  stat(): Stats {
    return fstatSync(this.#fd)
  }

  read(buffer: Buffer, position: number, done: Done<[number]>): void {
    this.#isBusy = true
    read(this.#fd, buffer, 0, buffer.length, position, (error, bytesRead) => {
      this.#idle()
      done(error, bytesRead)
    })
  }

  /** Appends all of the buffers. */
  append(buffers: readonly Buffer[], done: Done): void {
    this.#isBusy = true
    const [only] = buffers
    const written = (error: Error | null, bytesWritten: number): void => {
      const rest = error === null ? after(buffers, bytesWritten) : []
      if (rest.length > 0) {
        this.append(rest, done)
        return
      }
      this.#idle()
      done(error)
    }
    if (buffers.length === 1 && only !== undefined) write(this.#fd, only, 0, only.length, null, written)
    else writev(this.#fd, buffers, written)
  }

  /** Brings what was appended onto the disk, and the length with it. */
  sync(done: Done): void {
    this.#isBusy = true
    fsync(this.#fd, (error) => {
      this.#idle()
      done(error)
    })
  }

  /** Calling it again does nothing and calls back all the same. */
  close(done: Done): void {
    if (this.#isClosed) {
      done(null)
      return
    }
    this.#isClosed = true
    const closeNow = (): void => close(this.#fd, (error) => done(error ?? null))
    if (this.#isBusy) this.#whenIdle = closeNow
    else closeNow()
  }

  #idle(): void {
    this.#isBusy = false
    this.#whenIdle?.()
    this.#whenIdle = undefined
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

/** Undefined when there is no such file; `key` is that of the blob, for the error. */
export const openToRead = (path: string, key: string): Promise<OpenFile | undefined> =>
  new Promise((resolve, reject) => {
    open(path, 'r', (error, fd) => {
      if (error === null) resolve(new OpenFile(fd))
      else if (error.code === 'ENOENT') resolve(undefined)
      else reject(fileError(error, `open blob ${key}`))
    })
  })
