import { PassThrough } from 'node:stream'
import { StatusError } from '../../base/status-error.js'
import { whenAborted } from '../../rpc/call.js'
import { Blob } from '../blob/blob.js'
import type { BlobFile } from '../blob/file.js'
import { type BlobForm, streamsOf } from '../blob/form.js'
import { join } from '../join.js'
import { STAGE_BYTES } from '../path.js'

/** A blob that is part of another blob. */
export interface BlobPart {
  readonly sizeBytes: number
  open(signal: AbortSignal): Promise<Blob>
}

/** Bound on what streams of parts hold that are opened ahead. A file or bytes in memory hold nothing more. */
const AHEAD_BYTES = 4 * 1024 * 1024

export interface JoinOptions {
  readonly aheadCount: number
  /** An abort ends what is being opened. */
  readonly signal: AbortSignal
  /** Of the first byte in the whole blob. */
  readonly offset?: number
}

/**
 * The parts in order, as one blob. Rejects as the first part does. While one part is read, up to `aheadCount` further
 * ones are open. A part of the wrong length fails with DATA_LOSS.
 */
export const joinParts = async (
  parts: readonly BlobPart[],
  { aheadCount, signal, offset = 0 }: JoinOptions,
): Promise<Blob> => {
  const [first] = parts
  if (first === undefined) return Blob.ofBytes(NO_BYTES, { offset })
  const joined = new JoinedFile(parts, aheadCount, signal)
  const bytes = await joined.begin()
  return bytes === undefined ? Blob.ofFile(joined, { offset }) : Blob.ofBytes(bytes, { offset })
}

/** Is read in order. A read elsewhere, as an upload does it after a lost connection, opens the parts from there again. */
class JoinedFile implements BlobFile {
  readonly sizeBytes: number
  readonly bufferBytes = STAGE_BYTES
  readonly #parts: readonly BlobPart[]
  readonly #aheadCount: number
  readonly #signal: AbortSignal
  readonly #abort = new AbortController()
  readonly #giveUp = (): void => this.#abort.abort(this.#signal.reason)
  /** The part that is read, and those behind it. */
  readonly #open: Promise<PartReader>[] = []
  #openedCount = 0
  #openedBytes = 0
  /** Where the part begins that is read. */
  #startBytes = 0
  #currentCount = 0
  /** Where the last read ended. */
  #position = 0

  constructor(parts: readonly BlobPart[], aheadCount: number, signal: AbortSignal) {
    this.#parts = parts
    this.#signal = signal
    whenAborted(signal, this.#giveUp)
    if (signal.aborted) this.#giveUp()
    this.#aheadCount = aheadCount
    this.sizeBytes = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  /** Opens the first part. Returns the bytes if it is the only one and they are in memory. */
  async begin(): Promise<Buffer | undefined> {
    this.#openAhead()
    try {
      const { bytes } = (await this.#open[0]) as PartReader
      return this.#parts.length === 1 ? bytes : undefined
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async read(into: Buffer, position: number): Promise<number> {
    if (position !== this.#position) await this.#seek(position)
    const part = this.#parts[this.#currentCount]
    if (part === undefined || into.length === 0) return 0
    if (position === this.#startBytes + part.sizeBytes) {
      await this.#leave(part)
      return this.read(into, position)
    }
    const reader = await (this.#open[0] as Promise<PartReader>)
    const at = position - this.#startBytes
    const count = await reader.read(
      into.length > part.sizeBytes - at ? into.subarray(0, part.sizeBytes - at) : into,
      at,
    )
    this.#position += count
    return count
  }

  async #seek(position: number): Promise<void> {
    await this.#closeParts()
    this.#startBytes = 0
    this.#currentCount = 0
    for (const { sizeBytes } of this.#parts) {
      if (this.#startBytes + sizeBytes > position) break
      this.#startBytes += sizeBytes
      this.#currentCount += 1
    }
    this.#openedCount = this.#currentCount
    this.#openedBytes = 0
    this.#position = position
    this.#openAhead()
  }

  async close(): Promise<void> {
    this.#signal.removeEventListener('abort', this.#giveUp)
    this.#abort.abort()
    await this.#closeParts()
  }

  async #closeParts(): Promise<void> {
    const closed = this.#open.splice(0).map((opening) =>
      opening.then(
        (reader) => reader.close(),
        () => {},
      ),
    )
    await Promise.all(closed)
  }

  async #leave({ sizeBytes }: BlobPart): Promise<void> {
    const reader = await this.#open.shift()
    this.#currentCount += 1
    this.#startBytes += sizeBytes
    this.#openedBytes -= sizeBytes
    this.#openAhead()
    await reader?.close()
  }

  #openAhead(): void {
    while (this.#openedCount < this.#parts.length && this.#open.length <= this.#aheadCount) {
      const part = this.#parts[this.#openedCount] as BlobPart
      const isAhead = this.#open.length > 0
      if (isAhead && this.#openedBytes + part.sizeBytes > AHEAD_BYTES) return
      this.#openedCount += 1
      this.#openedBytes += part.sizeBytes
      const opening = readerOf(part, this.#abort.signal)
      // The error is reported when the part's turn comes, so it must not count as unhandled before.
      opening.catch(() => {})
      this.#open.push(opening)
    }
  }
}

interface PartReader extends Pick<BlobFile, 'read' | 'close'> {
  /** The whole part, if it is in memory. */
  readonly bytes?: Buffer
}

const readerOf = async (part: BlobPart, signal: AbortSignal): Promise<PartReader> => {
  const blob = await part.open(signal)
  const { sizeBytes } = part
  const found = blob.sizeBytes ?? sizeBytes
  if (found !== sizeBytes) {
    blob.discard()
    throw wrongLength(found, sizeBytes)
  }
  const form = await blob.take()
  if (form.kind === 'file') return form.file
  if (form.kind === 'bytes') return bytesReader(form.bytes)
  return new StreamReader(form, sizeBytes, signal)
}

const bytesReader = (bytes: Buffer): PartReader => ({
  bytes,
  read: async (into, position) => bytes.copy(into, 0, position),
  close: async () => {},
})

/** A part that comes as a stream, which runs ahead of its reader within AHEAD_BYTES. */
class StreamReader implements PartReader {
  readonly #sizeBytes: number
  readonly #moved: Promise<void>
  readonly #passing: PassThrough
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = NO_BYTES
  #readBytes = 0

  constructor(form: BlobForm, sizeBytes: number, signal: AbortSignal) {
    this.#sizeBytes = sizeBytes
    this.#passing = new PassThrough({ highWaterMark: Math.max(STAGE_BYTES, Math.min(sizeBytes, AHEAD_BYTES)) })
    this.#moved = join([...streamsOf(form), this.#passing], signal)
    // A read fails with the same error.
    this.#moved.catch(() => {})
    this.#chunks = this.#passing[Symbol.asyncIterator]()
  }

  /** From `position` on, which is not before the last read. The last bytes are returned only when the stream has ended as it should. */
  async read(into: Buffer, position: number): Promise<number> {
    while (this.#readBytes < position) this.#take(Math.min((await this.#some()).length, position - this.#readBytes))
    const count = (await this.#some()).copy(into)
    this.#take(count)
    if (this.#readBytes === this.#sizeBytes) await this.#ended()
    return count
  }

  /** Bytes that are not taken yet, at least one. */
  async #some(): Promise<Buffer> {
    while (this.#rest.length === 0) {
      const { done, value } = await this.#chunks.next().catch(async (error: unknown) => {
        await this.#moved
        throw StatusError.from(error)
      })
      if (done === true) throw wrongLength(this.#readBytes, this.#sizeBytes)
      this.#rest = value
    }
    return this.#rest
  }

  #take(count: number): void {
    this.#rest = this.#rest.subarray(count)
    this.#readBytes += count
  }

  async close(): Promise<void> {
    this.#passing.destroy()
    await this.#moved.catch(() => {})
  }

  async #ended(): Promise<void> {
    const { done, value } = await this.#chunks.next()
    if (done !== true) throw wrongLength(this.#readBytes + value.length, this.#sizeBytes)
    await this.#moved
  }
}

const NO_BYTES = Buffer.alloc(0)

const wrongLength = (foundBytes: number, sizeBytes: number): StatusError =>
  new StatusError('DATA_LOSS', `a chunk has ${foundBytes} bytes, expected ${sizeBytes}`)
