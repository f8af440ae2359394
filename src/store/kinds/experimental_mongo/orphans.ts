import type { Collection, Db } from 'mongodb'
import type { Log } from '../../../log/log.js'
import { type BlobDocument, type ChunkDocument, chunksOf, type OrphansDocument } from './documents.js'

/** Maximum duration of an upload. The chunks of an interrupted one stay that long. */
export const UPLOAD_TTL_MS = 24 * 60 * 60 * 1000

/** How long reads in flight can still use replaced chunks. */
const REPLACED_TTL_MS = 10 * 60 * 1000

/** Interval of sweeps, and extra time before a deletion, because clocks differ and commits take time. */
const SWEEP_MS = 10 * 60 * 1000

/** Versions deleted in one sweep. */
const SWEPT = 1000

/**
 * Records in `{collection}.orphans` which chunks have no blob, and deletes them in time, whichever process left them.
 * Marking the chunks themselves would write all their bytes again, because the server rewrites changed documents.
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

  /** Registers the chunks of an upload that begins, or of a blob that was replaced or removed. */
  async add(why: 'begun' | 'replaced', key: string, version: string): Promise<void> {
    this.#sweepNowAndThen()
    const until = new Date(Date.now() + (why === 'begun' ? UPLOAD_TTL_MS : REPLACED_TTL_MS))
    await this.#orphans.replaceOne({ _id: version }, { key, until }, { upsert: true })
  }

  /** Removes the registration: a blob refers to the chunks now. */
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

  /** Deletes expired chunks. If a process was killed between its commit and `found`, the blob keeps its chunks. */
  async sweep(nowMs: number): Promise<void> {
    const isOver = { until: { $lt: new Date(nowMs - SWEEP_MS) } }
    for (const { _id: version, key } of await this.#orphans.find(isOver, { limit: SWEPT }).toArray()) {
      const blob = await this.#blobs.findOne({ _id: key }, { projection: { version: 1 } })
      await (blob?.version === version ? this.found(version) : this.delete(version))
    }
  }
}
