import type { Collection, Db } from 'mongodb'
import type { Log } from '../../../log/log.js'
import { type BlobDocument, type ChunkDocument, chunksOf, type OrphansDocument } from './documents.js'

/** How long an upload may take; the chunks of a killed one stay that long. */
export const UPLOAD_TTL_MS = 24 * 60 * 60 * 1000

/** How long readers under way still find what was replaced. */
const REPLACED_TTL_MS = 10 * 60 * 1000

/** How often is looked for what can go, and how much later than said it goes: clocks differ, and commits take time. */
const SWEEP_MS = 10 * 60 * 1000

/** Versions of one sweep; the next one finds the others. */
const SWEPT = 1000

/**
 * Knows, in `{collection}.orphans`, of chunks that no blob names, and deletes them in time, whoever left them there. To mark
 * the chunks themselves would write all their bytes a second time: the server stores a changed document anew.
 */
export class Orphans {
  readonly chunks: Collection<ChunkDocument>
  readonly #blobs: Collection<BlobDocument>
  readonly #orphans: Collection<OrphansDocument>
  readonly #log: Log
  #sweptMs = Number.NEGATIVE_INFINITY

  constructor(db: Db, collection: string, log: Log) {
    this.#blobs = db.collection(collection)
    this.chunks = db.collection(`${collection}.chunks`, { promoteBuffers: true })
    this.#orphans = db.collection(`${collection}.orphans`)
    this.#log = log
  }

  /** Of an upload that begins; of a blob that was replaced or removed. */
  async add(why: 'begun' | 'replaced', key: string, version: string): Promise<void> {
    this.#sweepNowAndThen()
    const until = new Date(Date.now() + (why === 'begun' ? UPLOAD_TTL_MS : REPLACED_TTL_MS))
    await this.#orphans.replaceOne({ _id: version }, { key, until }, { upsert: true })
  }

  /** A blob names them now. */
  async found(version: string): Promise<void> {
    await this.#orphans.deleteOne({ _id: version })
  }

  async delete(version: string): Promise<void> {
    await this.chunks.deleteMany(chunksOf(version))
    await this.#orphans.deleteOne({ _id: version })
  }

  #sweepNowAndThen(): void {
    if (performance.now() - this.#sweptMs < SWEEP_MS) return
    this.#sweptMs = performance.now()
    this.sweep(Date.now()).catch((error: unknown) => {
      this.#log.warn('could not delete what unfinished uploads left in MongoDB; it is tried again', { error })
    })
  }

  /** Deletes what nobody needs at that time. A blob that was killed between its commit and `found` keeps its chunks. */
  async sweep(nowMs: number): Promise<void> {
    const isOver = { until: { $lt: new Date(nowMs - SWEEP_MS) } }
    for (const { _id: version, key } of await this.#orphans.find(isOver, { limit: SWEPT }).toArray()) {
      const blob = await this.#blobs.findOne({ _id: key }, { projection: { version: 1 } })
      await (blob?.version === version ? this.found(version) : this.delete(version))
    }
  }
}
