import { open, unlink } from 'node:fs'
import { Writable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { StatusError } from '../../../base/status-error.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import { fileError } from '../file-error.js'
import type { FinishedFile } from '../shelf.js'
import { type Done, FILE_MODE, OpenFile } from './open-file.js'
import type { WriteSlots } from './write-slots.js'

export interface FileSinkParts {
  readonly key: string
  readonly slots: WriteSlots
  /** Up to here a blob does not become a file. */
  readonly smallBytes: number
  nextTempPath(): string
  /** Whether the bytes have to be on the disk before the file is committed. */
  readonly isSynced: boolean
  fits(storedBytes: number): boolean
  /** Keeps a blob that turned out to be small. */
  commitSmall(bytes: Buffer): Promise<void>
  /** Moves the finished and closed file to where it belongs and makes it visible. */
  commit(tempPath: string, file: FinishedFile): Promise<void>
}

/**
 * Takes a blob whose length nobody knows beforehand: a small one is held and committed as bytes, a larger one is written to a
 * temporary file, which is committed: open, write, close, rename. It has a slot while something is being written and no
 * longer: an upload whose client has gone quiet holds up nobody.
 */
export class FileSink extends Writable {
  readonly #parts: FileSinkParts
  #held: Buffer[] = []
  #tempPath = ''
  #file: OpenFile | undefined
  #storedBytes = 0
  #checksum = 0
  #isCommitted = false
  #isPending = false
  #whenSettled: (() => void) | undefined
  #waiter: ((error: StatusError | null) => void) | undefined

  constructor(parts: FileSinkParts) {
    super({ highWaterMark: STAGE_BYTES })
    this.#parts = parts
  }

  /** Once it has closed: whether the blob is there, which is so also when it was destroyed while it committed. */
  get isCommitted(): boolean {
    return this.#isCommitted
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
    const file = this.#file
    if (file === undefined) {
      this.#commit(() => this.#parts.commitSmall(Buffer.concat(this.#held)), callback)
      return
    }
    this.#inSlot(callback, (done) => {
      const { mtimeMs } = file.stat()
      const finished = { storedBytes: this.#storedBytes, checksum: this.#checksum, mtimeMs }
      const commit = (): void => this.#commit(() => this.#parts.commit(this.#tempPath, finished), done)
      const close = (): void => file.close((error) => (error === null ? commit() : done(this.#failure(error))))
      if (this.#parts.isSynced) file.sync((error) => (error === null ? close() : done(this.#failure(error))))
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
    for (const buffer of buffers) {
      this.#storedBytes += buffer.length
      this.#checksum = crc32(buffer, this.#checksum)
    }
    if (!this.#parts.fits(this.#storedBytes)) {
      callback(tooLargeToKeep(this.#parts.key, this.#storedBytes))
      return
    }
    if (this.#storedBytes <= this.#parts.smallBytes) {
      this.#held.push(...buffers)
      callback(null)
      return
    }
    const all = [...this.#held, ...buffers]
    this.#held = []
    this.#inSlot(callback, (done) =>
      this.#withFile(done, (file) => file.append(all, (error) => done(error === null ? null : this.#failure(error)))),
    )
  }

  /** Runs `use` once it is this one's turn to write; the turn ends when `use` calls back. */
  #inSlot(callback: Done, use: (done: Done) => void): void {
    const { slots } = this.#parts
    this.#waiter = (refusal) => {
      this.#waiter = undefined
      if (refusal !== null) {
        callback(refusal)
        return
      }
      use((error) => {
        slots.release()
        callback(error)
      })
    }
    slots.acquire(this.#waiter)
  }

  #withFile(fail: Done, use: (file: OpenFile) => void): void {
    if (this.#file !== undefined) {
      use(this.#file)
      return
    }
    this.#isPending = true
    const tempPath = this.#parts.nextTempPath()
    open(tempPath, 'wx', FILE_MODE, (error, fd) => {
      this.#isPending = false
      if (error === null) {
        this.#tempPath = tempPath
        this.#file = new OpenFile(fd)
      }
      if (this.#file === undefined) fail(this.#failure(error))
      else if (this.#whenSettled !== undefined) fail(null)
      else use(this.#file)
      this.#whenSettled?.()
    })
  }

  #commit(run: () => Promise<void>, callback: Done): void {
    this.#isPending = true
    const settle = (error: Error | null): void => {
      this.#isPending = false
      this.#isCommitted = error === null
      callback(error)
      this.#whenSettled?.()
    }
    run().then(
      () => settle(null),
      (error: unknown) => settle(this.#failure(error)),
    )
  }

  #cleanUp(error: Error | null, callback: Done): void {
    this.#held = []
    if (this.#file === undefined) {
      callback(error)
      return
    }
    this.#file.close((closeError) => {
      if (this.#isCommitted) callback(error ?? closeError)
      else unlink(this.#tempPath, (unlinkError) => callback(error ?? closeError ?? unlinkError))
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
