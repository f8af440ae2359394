import { Readable } from 'node:stream'
import type { ReadPath } from '../path.js'
import { type BlobFeed, FeedSource } from './feed.js'
import { type BlobFile, FileSource } from './file.js'

/** The form of a taken blob: bytes in memory, an open file, lent bytes, or streams. */
export type BlobForm =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'file'; readonly file: BlobFile }
  | { readonly kind: 'feed'; readonly feed: BlobFeed }
  /** With `isImmutable` the chunks can be kept without a copy (`Blob.immutable`). */
  | { readonly kind: 'path'; readonly path: ReadPath; readonly isImmutable: boolean }

/** Bytes in memory as a stream. */
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
  if (form.kind === 'file') return [new FileSource(form.file)]
  return [form.kind === 'feed' ? new FeedSource(form.feed) : new BytesSource(form.bytes)]
}
