import { unlink } from 'node:fs/promises'
import { Writable } from 'node:stream'
import { crc32 } from 'node:zlib'
import { StatusError } from '../../../base/status-error.js'
import type { Turns } from '../../../base/work/turns.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import { fileError } from '../file-error.js'
import type { FinishedFile } from '../shelf.js'
import { OpenFile } from './open-file.js'

type Done = (error: Error | null) => void

export interface FileSinkParts {
  readonly key: string
  readonly turns: Turns
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
 * of it. A chunk may be overwritten once it was called back for. It has a turn while something is being written and no
 * longer: an upload whose client has gone quiet holds up nobody.
 */
export class FileSink extends Writable {
  readonly #parts: FileSinkParts
  readonly #abort = new AbortController()
  /** What is being done now; whatever comes next waits for it, the end too. */
  #work = Promise.resolve()
  #held: Buffer[] = []
  #tempPath = ''
  #file: OpenFile | undefined
  #storedBytes = 0
  #checksum = 0
  #mtimeMs = 0
  #isFinished = false

  constructor(parts: FileSinkParts) {
    super({ highWaterMark: STAGE_BYTES })
    this.#parts = parts
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: Done): void {
    this.#run(this.#append([chunk]), callback)
  }

  override _writev(chunks: { chunk: Buffer }[], callback: Done): void {
    this.#run(this.#append(chunks.map(({ chunk }) => chunk)), callback)
  }

  override _final(callback: Done): void {
    this.#run(this.#finish(), callback)
  }

  override _destroy(error: Error | null, callback: Done): void {
    const isLeft = this.#isFinished && error === null
    // Nothing waits at the end of one that went well; and to abort without a reason makes an error each time.
    if (!isLeft) this.#abort.abort(error)
    void this.#work.then(() => (isLeft ? undefined : this.#cleanUp())).then(() => callback(error), callback)
  }

  /** Of a sink that has finished; rejected, it leaves nothing. */
  async commit(keeper: Keeper): Promise<void> {
    if (this.#file === undefined) return keeper.bytes(Buffer.concat(this.#held))
    const file = { storedBytes: this.#storedBytes, checksum: this.#checksum, mtimeMs: this.#mtimeMs }
    try {
      await keeper.file(this.#tempPath, file)
    } catch (error) {
      // It may have been moved already.
      await unlink(this.#tempPath).catch(() => {})
      throw this.#failure(error)
    }
  }

  #run(work: Promise<void>, callback: Done): void {
    this.#work = work.then(
      () => callback(null),
      (error: unknown) => callback(this.#failure(error)),
    )
  }

  async #append(buffers: readonly Buffer[]): Promise<void> {
    for (const buffer of buffers) {
      this.#storedBytes += buffer.length
      this.#checksum = crc32(buffer, this.#checksum)
    }
    if (!this.#parts.fits(this.#storedBytes)) throw tooLargeToKeep(this.#parts.key, this.#storedBytes)
    if (this.#storedBytes <= this.#parts.smallBytes) {
      this.#held.push(...buffers.map((buffer) => Buffer.from(buffer)))
      return
    }
    await this.#inTurn(async () => {
      const all = [...this.#held, ...buffers]
      this.#held = []
      this.#file ??= await this.#create()
      await this.#file.append(all)
    })
  }

  async #create(): Promise<OpenFile> {
    const tempPath = this.#parts.nextTempPath()
    const file = await OpenFile.create(tempPath)
    this.#tempPath = tempPath
    return file
  }

  async #finish(): Promise<void> {
    const file = this.#file
    if (file !== undefined) {
      await this.#inTurn(async () => {
        this.#mtimeMs = file.stat().mtimeMs
        if (this.#parts.isSynced) await file.sync()
        await file.close()
      })
    }
    this.#isFinished = true
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const end = await this.#parts.turns.take('a turn to write', this.#abort.signal)
    try {
      await work()
    } finally {
      end()
    }
  }

  async #cleanUp(): Promise<void> {
    this.#held = []
    if (this.#file === undefined) return
    await this.#file.close().catch(() => {})
    await unlink(this.#tempPath)
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
