import { unlink } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { fileFailure } from '../../../base/errno.js'
import { LARGE_BYTES, type LentBuffer, lendBuffer, SMALL_BYTES } from '../../../base/lent-buffers.js'
import { StatusError } from '../../../base/status-error.js'
import type { Turns } from '../../../base/work/turns.js'
import type { FinishedFile } from '../../store.js'
import { OpenFile } from './open-file.js'

export interface FileWriterParts {
  readonly key: string
  readonly turns: Turns
  /** Up to here a blob does not become a file. */
  readonly smallBytes: number
  nextTempPath(): string
  /** Whether the bytes have to be on the disk before the file is committed. */
  readonly isSynced: boolean
  fits(storedBytes: number): boolean
}

/** What came of a blob: its bytes where it is small, else a file that is the caller's to move or delete. */
export type Written = Buffer | FinishedFile

/**
 * Takes a blob whose length nobody knows beforehand: a small one is held, a larger one is written to a temporary file, by way
 * of buffers that are used again: one is filled while another is written. It has a turn while something is being written
 * and no longer: an upload whose client has gone quiet holds up nobody.
 */
export class FileWriter {
  readonly #parts: FileWriterParts
  readonly #abort = new AbortController()
  /** What is being written now. */
  #work = Promise.resolve()
  /** Writes that were begun and have not succeeded. */
  #pendingCount = 0
  #full: LentBuffer[] = []
  #last: LentBuffer | undefined
  /** In the last buffer. */
  #filledBytes = 0
  #file: OpenFile | undefined
  #tempPath = ''
  #storedBytes = 0
  #checksum = 0

  constructor(parts: FileWriterParts) {
    this.#parts = parts
  }

  /** As a `FeedTaker`. */
  take(bytes: Buffer): Promise<void> | undefined {
    this.#storedBytes += bytes.length
    this.#checksum = crc32(bytes, this.#checksum)
    if (!this.#parts.fits(this.#storedBytes)) return Promise.reject(tooLargeToKeep(this.#parts.key, this.#storedBytes))
    for (let at = 0; at < bytes.length; ) {
      this.#last ??= this.#lend()
      const copied = bytes.copy(this.#last.bytes, this.#filledBytes, at)
      at += copied
      this.#filledBytes += copied
      if (this.#filledBytes === this.#last.bytes.length) this.#fill(this.#last)
    }
    return this.#full.length > 0 && !this.#isSmall ? this.#write() : undefined
  }

  /** No more comes. Rejects with what is wrong; then, and when nobody wants it any more, it is to be discarded. */
  async finish(): Promise<Written> {
    if (this.#last !== undefined) this.#fill(this.#last)
    if (this.#isSmall) {
      const bytes = Buffer.concat(this.#full.map((buffer) => buffer.bytes))
      for (const buffer of this.#full.splice(0)) buffer.release()
      return bytes
    }
    if (this.#full.length > 0) await this.#write()
    await this.#work
    const file = this.#file as OpenFile
    const { mtimeMs } = file.stat()
    await this.#inTurn(async () => {
      if (this.#parts.isSynced) await file.sync()
      await file.close()
    })
    return { path: this.#tempPath, sizeBytes: this.#storedBytes, checksum: this.#checksum, mtimeMs }
  }

  /** Gives up what was not finished. Never rejects: a file that stays behind goes at the next start. */
  async discard(): Promise<void> {
    this.#abort.abort()
    await this.#work.catch(() => {})
    await this.#file?.close().catch(() => {})
    if (this.#file !== undefined) await unlink(this.#tempPath).catch(() => {})
  }

  get #isSmall(): boolean {
    return this.#storedBytes <= this.#parts.smallBytes
  }

  /** A turn of the thread pool costs as much as writing 64 KiB, and an upload that goes no further need hold no more. */
  #lend(): LentBuffer {
    return lendBuffer(this.#isSmall ? SMALL_BYTES : LARGE_BYTES)
  }

  #fill({ bytes, release }: LentBuffer): void {
    this.#full.push({ bytes: bytes.subarray(0, this.#filledBytes), release })
    this.#last = undefined
    this.#filledBytes = 0
  }

  /** Begins to write what is full. Answers when there is room for more: once what was begun before is written. */
  #write(): Promise<void> | undefined {
    const before = this.#pendingCount > 0 ? this.#work : undefined
    const full = this.#full.splice(0)
    this.#pendingCount += 1
    this.#work = this.#work
      .then(() => this.#inTurn(() => this.#append(full)))
      .catch((error: unknown) => {
        throw fileFailure(error, `could not write blob ${this.#parts.key}`)
      })
    // Told to who gives more, or says that there is no more.
    this.#work.catch(() => {})
    return before
  }

  async #append(full: readonly LentBuffer[]): Promise<void> {
    this.#file ??= await this.#create()
    await this.#file.append(full.map(({ bytes }) => bytes))
    // After a failure nobody knows whether they are still being written.
    for (const buffer of full) buffer.release()
    this.#pendingCount -= 1
  }

  async #create(): Promise<OpenFile> {
    const tempPath = this.#parts.nextTempPath()
    const file = await OpenFile.create(tempPath)
    this.#tempPath = tempPath
    return file
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const end = await this.#parts.turns.take('a turn to write', this.#abort.signal)
    try {
      await work()
    } finally {
      end()
    }
  }
}

export const tooLargeToKeep = (key: string, sizeBytes: number): StatusError =>
  new StatusError(
    'RESOURCE_EXHAUSTED',
    `blob ${key} has ${sizeBytes} bytes or more, which exceeds max_bytes of this store`,
  )
