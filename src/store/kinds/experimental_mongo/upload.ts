import { randomUUID } from 'node:crypto'
import { StatusError } from '../../../base/status-error.js'
import type { ObjectChunk, PartedUpload } from '../../objects/bucket.js'
import { type BlobDocument, type ChunkDocument, chunkName } from './documents.js'
import { DUPLICATE_KEY, numberOf } from './failure.js'
import { type Orphans, UPLOAD_TTL_MS } from './orphans.js'

/** Turns the chunks of an upload into a blob. */
export type CommitChunks = (facts: Pick<BlobDocument, 'size' | 'version' | 'chunk'>) => Promise<void>

export interface MongoUploadParts {
  readonly orphans: Orphans
  /** The length of every chunk but the last, and the chunks in every part but the last. */
  readonly chunkBytes: number
  readonly chunksPerPart: number
  readonly commit: CommitChunks
}

/** Uploads chunks under unique names until a document refers to them. One command inserts the chunks of a part. */
export class MongoUpload implements PartedUpload {
  readonly #parts: MongoUploadParts
  readonly #version: string
  readonly #beganMs = performance.now()
  readonly #sizes: number[] = []

  static async begin(parts: MongoUploadParts, key: string): Promise<MongoUpload> {
    const version = randomUUID()
    await parts.orphans.add('begun', key, version)
    return new MongoUpload(parts, version)
  }

  private constructor(parts: MongoUploadParts, version: string) {
    this.#parts = parts
    this.#version = version
  }

  async send({ index, bytes }: ObjectChunk): Promise<void> {
    const { orphans, chunkBytes, chunksPerPart } = this.#parts
    const chunks: ChunkDocument[] = []
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      const _id = chunkName(this.#version, index * chunksPerPart + chunks.length)
      chunks.push({ _id, data: bytes.subarray(at, at + chunkBytes) })
    }
    try {
      // Unordered, so that a repeated part inserts only the chunks that are missing.
      await orphans.chunks.insertMany(chunks, { ordered: false })
    } catch (error) {
      // They arrived although the response was lost. A repeated chunk has the same content.
      if (numberOf(error) !== DUPLICATE_KEY) throw error
    }
    this.#sizes[index] = bytes.length
  }

  /**
   * The order matters: if the process is killed in between, the chunks are deleted later, or the blob has all of them.
   */
  async complete(): Promise<void> {
    if (performance.now() - this.#beganMs > UPLOAD_TTL_MS) {
      throw new StatusError('ABORTED', 'the upload took more than a day: its first chunks may be deleted already')
    }
    const { orphans, chunkBytes, commit } = this.#parts
    const size = this.#sizes.reduce((sum, bytes) => sum + bytes, 0)
    await commit({ size, version: this.#version, chunk: chunkBytes })
    await orphans.found(this.#version)
  }

  abort(): Promise<void> {
    return this.#parts.orphans.delete(this.#version)
  }
}
