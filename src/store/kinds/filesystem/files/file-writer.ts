import { unlink } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import { fileFailure } from '../../../../base/errno.js'
import { LARGE_BYTES, type LentBuffer, lendBuffer, SMALL_BYTES, shortened } from '../../../../base/lent-buffers.js'
import { StatusError } from '../../../../base/status-error.js'
import type { FinishedFile } from '../../../../blobs/store.js'
import type { InFlight } from '../../../../ledger/bytes-in-flight.js'
import type { Semaphore } from '../../../../work/semaphore.js'
import { OpenFile } from './open-file.js'

export interface FileWriterParts {
  readonly key: string
  readonly writeSlots: Semaphore
  /** Largest blob that does not become a file. */
  readonly smallBytes: number
  nextTempPath(): string
  /** Whether the bytes must be on disk before the file is committed. */
  readonly isSynced: boolean
  fits(storedBytes: number): boolean
  /** Counts what is written to the file. Its owner releases it. */
  readonly inFlight: InFlight
}

/** The result: the bytes of a small blob, else a file that the caller must move or delete. */
export type Written = Buffer | FinishedFile

/**
 * Receives a blob of unknown length. A small blob stays in memory. A larger one is written to a temporary file through
 * reused buffers: one is filled while another is written. The writer holds a write turn only while it writes, so an
 * upload whose client is idle blocks no other.
 */
export class FileWriter {
  readonly #parts: FileWriterParts
  /** Made when a write has to wait: making one takes 2 us. */
  #abort: AbortController | undefined
  #isDiscarded = false
  /** The write in flight, or the last one. */
  #work = Promise.resolve()
  /** Writes that were begun and have not succeeded yet. */
  #pendingCount = 0
  #full: LentBuffer[] = []
  #last: LentBuffer | undefined
  /** Bytes used in the last buffer. */
  #filledBytes = 0
  #file: OpenFile | undefined
  #tempPath = ''
  #storedBytes = 0
  #checksum = 0

  constructor(parts: FileWriterParts) {
    this.#parts = parts
  }

  /** A `FeedTaker`. */
  take(bytes: Buffer): Promise<void> | undefined {
    this.#storedBytes += bytes.length
    this.#checksum = crc32(bytes, this.#checksum)
    if (!this.#parts.fits(this.#storedBytes)) return Promise.reject(tooLargeToKeep(this.#parts.key, this.#storedBytes))
    const room = this.#makeRoom()
    return room === undefined ? this.#copy(bytes) : room.then(() => this.#copy(bytes))
  }

  #copy(bytes: Buffer): Promise<void> | undefined {
    for (let at = 0; at < bytes.length; ) {
      this.#last ??= this.#lend()
      const copied = bytes.copy(this.#last.bytes, this.#filledBytes, at)
      at += copied
      this.#filledBytes += copied
      if (this.#filledBytes === this.#last.bytes.length) this.#fill(this.#last)
    }
    return this.#full.length > 0 && !this.#isSmall ? this.#write() : undefined
  }

  /** Like `take`, for all bytes of a blob, which nobody changes until `finish` settles: they are written as they lie. */
  async takeAll(bytes: Buffer): Promise<void> {
    this.#storedBytes = bytes.length
    this.#checksum = crc32(bytes)
    if (!this.#parts.fits(this.#storedBytes)) throw tooLargeToKeep(this.#parts.key, this.#storedBytes)
    await this.#makeRoom()
    this.#full.push({ bytes, release: () => {} })
  }

  /**
   * Ends the blob. Rejects with the first failure. After a rejection, or when the result is not needed, call `discard`.
   */
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

  /** Begins no further write, and waits for no turn to write. Call `discard` when `take` has settled. */
  stop(): void {
    this.#isDiscarded = true
    this.#abort?.abort()
  }

  /** Discards an unfinished blob. Never rejects: a file left behind is deleted at the next start. */
  async discard(): Promise<void> {
    this.stop()
    await this.#work.catch(() => {})
    await this.#file?.close().catch(() => {})
    if (this.#file !== undefined) await unlink(this.#tempPath).catch(() => {})
  }

  /** Undefined if there is room for a file of all bytes so far, or if it needs none. */
  #makeRoom(): Promise<void> | undefined {
    return this.#isSmall ? undefined : this.#parts.inFlight.growTo(this.#storedBytes)
  }

  get #isSmall(): boolean {
    return this.#storedBytes <= this.#parts.smallBytes
  }

  /**
   * Starts with a small buffer, in case the upload stalls. One write of the thread pool costs as much as writing 64
   * KiB.
   */
  #lend(): LentBuffer {
    return lendBuffer(this.#isSmall ? SMALL_BYTES : LARGE_BYTES)
  }

  #fill(buffer: LentBuffer): void {
    this.#full.push(shortened(buffer, this.#filledBytes))
    this.#last = undefined
    this.#filledBytes = 0
  }

  /** Starts to write the full buffers. Resolves when there is room for more: once the earlier write is done. */
  #write(): Promise<void> | undefined {
    const before = this.#pendingCount > 0 ? this.#work : undefined
    const full = this.#full.splice(0)
    this.#pendingCount += 1
    this.#work = this.#work
      .then(() => this.#inTurn(() => this.#append(full)))
      .catch((error: unknown) => {
        throw fileFailure(error, `could not write blob ${this.#parts.key}`)
      })
    // The next `take` or `finish` reports the failure.
    this.#work.catch(() => {})
    return before
  }

  async #append(full: readonly LentBuffer[]): Promise<void> {
    this.#file ??= await this.#create()
    await this.#file.append(full.map(({ bytes }) => bytes))
    // Only after success: after a failure the buffers may still be in use by a write.
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
    if (this.#isDiscarded) throw new StatusError('CANCELLED', `blob ${this.#parts.key} was discarded`)
    const end = this.#parts.writeSlots.tryAcquire() ?? (await this.#turn())
    try {
      await work()
    } finally {
      end()
    }
  }

  #turn(): Promise<() => void> {
    this.#abort ??= new AbortController()
    return this.#parts.writeSlots.acquire('a turn to write', this.#abort.signal)
  }
}

export const tooLargeToKeep = (key: string, sizeBytes: number): StatusError =>
  new StatusError(
    'RESOURCE_EXHAUSTED',
    `blob ${key} has ${sizeBytes} bytes or more, which exceeds max_bytes of this store`,
  )
