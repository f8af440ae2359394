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
}

/** Where what a sink took goes. Resolved means committed. */
export interface Keeper {
  bytes(bytes: Buffer): Promise<void>
  /** Moves the finished and closed file to where it belongs and makes it visible. */
  file(tempPath: string, file: FinishedFile): Promise<void>
}

/**
 * Takes a blob whose length nobody knows beforehand: a small one is held, a larger one is written to a temporary file. Once
 * it has finished, `commit` keeps it: outside of the stream, so that who gives up a transfer at its end is told what became
 * of it. A chunk may be overwritten once it was called back for. It has a slot while something is being written and no longer: an upload whose client has gone quiet holds up nobody.
 */
export class FileSink extends Writable {
  readonly #parts: FileSinkParts
  #held: Buffer[] = []
  #tempPath = ''
  #file: OpenFile | undefined
  #storedBytes = 0
  #checksum = 0
  #mtimeMs = 0
  #isFinished = false
  #isPending = false
  #whenSettled: (() => void) | undefined
  #waiter: ((error: StatusError | null) => void) | undefined

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

  /** Of a sink that has finished; rejected, it leaves nothing. */
  async commit(keeper: Keeper): Promise<void> {
    if (this.#file === undefined) {
      await keeper.bytes(Buffer.concat(this.#held))
      return
    }
    const file = { storedBytes: this.#storedBytes, checksum: this.#checksum, mtimeMs: this.#mtimeMs }
    try {
      await keeper.file(this.#tempPath, file)
    } catch (error) {
      // It may have been moved already.
      await new Promise<void>((resolve) => unlink(this.#tempPath, () => resolve()))
      throw this.#failure(error)
    }
  }

  override _final(callback: Done): void {
    const file = this.#file
    const finish: Done = (error) => {
      this.#isFinished = error === null
      callback(error === null ? null : this.#failure(error))
    }
    if (file === undefined) {
      finish(null)
      return
    }
    this.#inSlot(finish, (done) => {
      this.#mtimeMs = file.stat().mtimeMs
      const close = (): void => file.close(done)
      if (this.#parts.isSynced) file.sync((error) => (error === null ? close() : done(error)))
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
      this.#held.push(...buffers.map((buffer) => Buffer.from(buffer)))
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

  #cleanUp(error: Error | null, callback: Done): void {
    const isLeft = this.#isFinished && error === null
    if (!isLeft) this.#held = []
    if (this.#file === undefined || isLeft) {
      callback(error)
      return
    }
    this.#file.close((closeError) => {
      unlink(this.#tempPath, (unlinkError) => callback(error ?? closeError ?? unlinkError))
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
