import { randomUUID } from 'node:crypto'
import type { Collection } from 'mongodb'
import type { ObjectChunk, PartedUpload } from '../objects/bucket.js'
import { type BlobDocument, type ChunkDocument, chunkName, chunksOf } from './documents.js'

/** How long the chunks of an upload may wait for its end, which a killed process never brings about. */
const UPLOAD_TTL_MS = 24 * 60 * 60 * 1000

/** Makes the chunks of an upload a blob. */
export type CommitChunks = (facts: Pick<BlobDocument, 'size' | 'version' | 'chunk'>) => Promise<void>

/** Chunks of a blob, under names of their own until a document names them. */
export class MongoUpload implements PartedUpload {
  readonly #chunks: Collection<ChunkDocument>
  readonly #commit: CommitChunks
  readonly #version = randomUUID()
  readonly #sizes: number[] = []

  constructor(chunks: Collection<ChunkDocument>, commit: CommitChunks) {
    this.#chunks = chunks
    this.#commit = commit
  }

  async send({ index, bytes }: ObjectChunk): Promise<void> {
    const chunk = { data: bytes, expireAt: new Date(Date.now() + UPLOAD_TTL_MS) }
    await this.#chunks.replaceOne({ _id: chunkName(this.#version, index) }, chunk, { upsert: true })
    this.#sizes[index] = bytes.length
  }

  /** In this order: a process that is killed between them leaves chunks nobody needs, never a blob whose chunks expire. */
  async complete(): Promise<void> {
    await this.#chunks.updateMany(chunksOf(this.#version), { $unset: { expireAt: '' } })
    const size = this.#sizes.reduce((sum, bytes) => sum + bytes, 0)
    await this.#commit({ size, version: this.#version, chunk: this.#sizes[0] ?? 0 })
  }

  async abort(): Promise<void> {
    await this.#chunks.deleteMany(chunksOf(this.#version))
  }
}
