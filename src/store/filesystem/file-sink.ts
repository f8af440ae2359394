import { open, unlink } from 'node:fs'
import { Writable } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { STAGE_BYTES } from '../../stream/path.js'
import { fileError } from './file-error.js'
import { type Done, FILE_MODE, OpenFile } from './open-file.js'
import type { WriteSlots } from './write-slots.js'

export interface FileSinkParts {
  readonly key: string
  readonly slots: WriteSlots
  nextTempPath(): string
  /** Whether the bytes have to be on the disk before the file is committed. */
  readonly isSynced: boolean
  fits(storedBytes: number): boolean
  /** Moves the finished and closed file to where it belongs and makes it visible. */
  commit(tempPath: string, storedBytes: number, mtimeMs: number): Promise<void>
}

/**
 * Writes a temporary file and commits it: open, write, close, rename. The file is opened by the first write, so that a
 * path nobody runs costs no operation and a writer that waits for its turn can still be aborted.
 */
export class FileSink extends Writable {
  readonly #parts: FileSinkParts
  #tempPath = ''
  #file: OpenFile | undefined
  #storedBytes = 0
  #isCommitted = false
  #isPending = false
  #whenSettled: (() => void) | undefined
  #waiter: ((error: StatusError | null) => void) | undefined
  #hasSlot = false

  constructor(parts: FileSinkParts) {
    super({ highWaterMark: STAGE_BYTES })
    this.#parts = parts
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Done): void {
    this.#append([chunk], callback)
  }

  override _writev(chunks: { chunk: Buffer }[], callback: Done): void {
    this.#append(
      chunks.map(({ chunk }) => chunk),
      callback,
    )
  }

  override _final(callback: Done): void {
    this.#withFile(callback, (file) => {
      const { mtimeMs } = file.stat()
      const close = (): void =>
        file.close((error) => (error === null ? this.#commit(mtimeMs, callback) : callback(this.#failure(error))))
      if (this.#parts.isSynced) file.sync((error) => (error === null ? close() : callback(this.#failure(error))))
      else close()
    })
  }

  override _destroy(error: Error | null, callback: Done): void {
    if (this.#waiter !== undefined && this.#parts.slots.cancel(this.#waiter)) this.#waiter = undefined
    if (this.#isPending) {
      this.#whenSettled = () => this.#cleanUp(error, callback)
      return
    }
    this.#cleanUp(error, callback)
  }

  #append(buffers: readonly Buffer[], callback: Done): void {
    this.#storedBytes += buffers.reduce((sum, { length }) => sum + length, 0)
    if (!this.#parts.fits(this.#storedBytes)) {
      callback(tooLargeToKeep(this.#parts.key, this.#storedBytes))
      return
    }
    this.#withFile(callback, (file) =>
      file.append(buffers, (error) => callback(error === null ? null : this.#failure(error))),
    )
  }

  #withFile(fail: Done, use: (file: OpenFile) => void): void {
    if (this.#file !== undefined) {
      use(this.#file)
      return
    }
    this.#waiter = (refusal) => {
      this.#waiter = undefined
      if (refusal !== null) {
        fail(refusal)
        return
      }
      this.#hasSlot = true
      this.#open(fail, use)
    }
    this.#parts.slots.acquire(this.#waiter)
  }

  #open(fail: Done, use: (file: OpenFile) => void): void {
    this.#isPending = true
    const tempPath = this.#parts.nextTempPath()
    open(tempPath, 'wx', FILE_MODE, (error, fd) => {
      this.#isPending = false
      if (error === null) {
        this.#tempPath = tempPath
        this.#file = new OpenFile(fd)
      }
      if (this.#whenSettled !== undefined) this.#whenSettled()
      else if (this.#file === undefined) fail(this.#failure(error))
      else use(this.#file)
    })
  }

  #commit(mtimeMs: number, callback: Done): void {
    this.#isPending = true
    const settle = (error: Error | null): void => {
      this.#isPending = false
      this.#isCommitted = error === null
      callback(error)
      this.#whenSettled?.()
    }
    this.#parts.commit(this.#tempPath, this.#storedBytes, mtimeMs).then(
      () => settle(null),
      (error: unknown) => settle(this.#failure(error)),
    )
  }

  #cleanUp(error: Error | null, callback: Done): void {
    const done: Done = (failure) => {
      if (this.#hasSlot) this.#parts.slots.release()
      callback(error ?? failure)
    }
    if (this.#file === undefined) {
      done(null)
      return
    }
    this.#file.close((closeError) => {
      if (this.#isCommitted) done(closeError)
      else unlink(this.#tempPath, (unlinkError) => done(closeError ?? unlinkError))
    })
  }

  #failure(thrown: unknown): StatusError {
    return fileError(thrown, `write blob ${this.#parts.key}`)
  }
}

export const tooLargeToKeep = (key: string, sizeBytes: number): StatusError =>
  new StatusError(
    'RESOURCE_EXHAUSTED',
    `blob ${key} has ${sizeBytes} bytes or more, which exceeds max_bytes of this store`,
  )
