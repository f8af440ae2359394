import { Readable } from 'node:stream'
import type { ReadPath } from '../path.js'
import { type BlobFeed, FeedSource } from './feed.js'

/** What a blob is when somebody takes it: bytes in memory, an open file, bytes that are only lent, or streams. */
export type BlobForm =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly file: BlobFile }
  | { readonly kind: 'feed'; readonly feed: BlobFeed }
  | { readonly kind: 'path'; readonly path: ReadPath }

/**
 * A part of an open file. Whoever takes it reads it and closes it, or makes it a stream, which closes it; it stays readable
 * though the blob is evicted meanwhile.
 */
export interface BlobFile {
  /** How long the part is. */
  readonly sizeBytes: number

  /**
   * Reads at `position`, counted from where the part begins, and answers how many bytes it got: at least one, while
   * `position` is below `sizeBytes`. Fails with a StatusError, DATA_LOSS when the file turned out shorter. One at a time.
   */
  read(into: Buffer, position: number): Promise<number>

  /** Never under a read; a second time does nothing. */
  close(): Promise<void>

  stream(): Readable
}

/** The bytes of a part, which is closed afterwards. */
export const readFile = async (file: BlobFile): Promise<Buffer> => {
  try {
    const bytes = Buffer.allocUnsafeSlow(file.sizeBytes)
    for (let filled = 0; filled < bytes.length; ) filled += await file.read(bytes.subarray(filled), filled)
    return bytes
  } finally {
    await file.close()
  }
}

/** Bytes at hand as a stream. */
export class BytesSource extends Readable {
  #bytes: Buffer | null

  constructor(bytes: Buffer) {
    super({ highWaterMark: Math.max(1, bytes.length) })
    this.#bytes = bytes.length === 0 ? null : bytes
  }

  override _read(): void {
    const bytes = this.#bytes
    this.#bytes = null
    this.push(bytes)
    if (bytes !== null) this.push(null)
  }
}

export const streamsOf = (form: BlobForm): ReadPath => {
  if (form.kind === 'path') return form.path
  if (form.kind === 'file') return [form.file.stream()]
  return [form.kind === 'feed' ? new FeedSource(form.feed) : new BytesSource(form.bytes)]
}
