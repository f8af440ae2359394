import { randomUUID } from 'node:crypto'
import { StatusError } from '../../base/status-error.js'
import type { ObjectChunk, PartedUpload } from '../objects/bucket.js'
import { type BlobDocument, chunkName } from './documents.js'
import { DUPLICATE_KEY, numberOf } from './failure.js'
import { type Orphans, UPLOAD_TTL_MS } from './orphans.js'

/** Makes the chunks of an upload a blob. */
export type CommitChunks = (facts: Pick<BlobDocument, 'size' | 'version' | 'chunk'>) => Promise<void>

/** Chunks of a blob, under names of their own until a document names them. */
export class MongoUpload implements PartedUpload {
  readonly #orphans: Orphans
  readonly #commit: CommitChunks
  readonly #version: string
  readonly #beganMs = performance.now()
  readonly #sizes: number[] = []

  static async begin(orphans: Orphans, key: string, commit: CommitChunks): Promise<MongoUpload> {
    const version = randomUUID()
    await orphans.add('begun', key, version)
    return new MongoUpload(orphans, version, commit)
  }

  private constructor(orphans: Orphans, version: string, commit: CommitChunks) {
    this.#orphans = orphans
    this.#version = version
    this.#commit = commit
  }

  async send({ index, bytes }: ObjectChunk): Promise<void> {
    try {
      await this.#orphans.chunks.insertOne({ _id: chunkName(this.#version, index), data: bytes })
    } catch (error) {
      // It came though its answer did not: a chunk that is sent again is the same one.
      if (numberOf(error) !== DUPLICATE_KEY) throw error
    }
    this.#sizes[index] = bytes.length
  }

  /** In this order: a process that is killed in between leaves chunks that are deleted, or a blob with all of them. */
  async complete(): Promise<void> {
    if (performance.now() - this.#beganMs > UPLOAD_TTL_MS) {
      throw new StatusError('ABORTED', 'the upload took more than a day: its first chunks may be deleted already')
    }
    const size = this.#sizes.reduce((sum, bytes) => sum + bytes, 0)
    await this.#commit({ size, version: this.#version, chunk: this.#sizes[0] ?? 0 })
    await this.#orphans.found(this.#version)
  }

  abort(): Promise<void> {
    return this.#orphans.delete(this.#version)
  }
}
