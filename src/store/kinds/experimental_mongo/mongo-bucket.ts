import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Collection } from 'mongodb'
import { StatusError } from '../../../base/status-error.js'
import type { Log } from '../../../log/log.js'
import { shareable } from '../../../rpc/call.js'
import { STAGE_BYTES } from '../../../stream/path.js'
import type { Bucket, BucketLimits, ObjectFacts, ObjectPart, OpenObject, PartedUpload } from '../../objects/bucket.js'
import type { Extent } from '../../remote/in-order.js'
import { readChunks } from './chunk-reader.js'
import type { MongoConnection } from './connection.js'
import { type BlobDocument, bufferOf } from './documents.js'
import { DUPLICATE_KEY, mongoFailure, numberOf } from './failure.js'
import { Orphans } from './orphans.js'
import { type CommitChunks, MongoUpload } from './upload.js'

export interface MongoBucketOptions {
  readonly connection: MongoConnection
  readonly database: string
  readonly collection: string
  /** Blobs up to this size are one document, larger ones are split into documents of this size. */
  readonly chunkBytes: number
  readonly log: Log
}

/** Chunks of this total size are inserted with one command, because one command each costs 2.6 times the CPU. */
const COMMAND_BYTES = 4 * 1024 * 1024

/** Blobs as documents of the collection `{collection}`, and the chunks of large ones in `{collection}.chunks`. */
export class MongoBucket implements Bucket {
  readonly name: string
  readonly limits: BucketLimits
  readonly #options: MongoBucketOptions
  readonly #blobs: Collection<BlobDocument>
  readonly #orphans: Orphans

  constructor(options: MongoBucketOptions) {
    const { connection, database, collection, chunkBytes, log } = options
    this.#options = options
    this.name = `MongoDB at ${connection.name}`
    const partBytes = chunkBytes * Math.max(1, Math.floor(COMMAND_BYTES / chunkBytes))
    this.limits = { partBytes, wholeBytes: chunkBytes, maxParts: Number.POSITIVE_INFINITY, isSequential: false }
    const db = connection.client.db(database)
    this.#blobs = db.collection(collection, { promoteBuffers: true })
    this.#orphans = new Orphans(db, collection, log)
  }

  async stat(key: string, signal: AbortSignal): Promise<ObjectFacts | undefined> {
    return (await this.statAll([key], signal))[0]
  }

  async statAll(keys: readonly string[], signal: AbortSignal): Promise<readonly (ObjectFacts | undefined)[]> {
    const options = { projection: { data: 0 }, batchSize: keys.length, signal }
    // A query for one key must not use `$in`, because some servers would scan all documents.
    const [key = ''] = keys
    const _id = keys.length === 1 ? key : { $in: [...keys] }
    const found = await this.#use(() => this.#blobs.find({ _id }, options).toArray())
    const byKey = new Map(found.map((document) => [document._id, factsOf(document)]))
    return keys.map((key) => byKey.get(key))
  }

  async read(key: string, { offset, end, version }: ObjectPart, signal: AbortSignal): Promise<OpenObject | undefined> {
    shareable(signal)
    const document = await this.#use(() => this.#blobs.findOne({ _id: key }, { signal }))
    if (document === null) return undefined
    if (version !== undefined && document.version !== version) {
      throw new StatusError('ABORTED', `${this.name}: a blob was replaced while it was read`)
    }
    const facts = factsOf(document)
    if (offset > 0 && offset >= facts.sizeBytes) {
      throw new StatusError('OUT_OF_RANGE', `${this.name} has ${facts.sizeBytes} bytes of ${key}, not byte ${offset}`)
    }
    const extent = { offset, end: Math.min(end, facts.sizeBytes) }
    return { ...facts, end: extent.end, body: bodyOf(this.#bytesOf(document, extent, signal)) }
  }

  async write(key: string, bytes: Buffer, isNew: boolean): Promise<boolean> {
    const document = { _id: key, size: bytes.length, at: new Date(), version: randomUUID(), data: bytes }
    if (!isNew) {
      await this.#replace(document)
      return true
    }
    try {
      await this.#use(() => this.#blobs.insertOne(document))
      return true
    } catch (error) {
      if (numberOf(error) === DUPLICATE_KEY) return false
      throw error
    }
  }

  async begin(key: string): Promise<PartedUpload> {
    const { chunkBytes } = this.#options
    const chunksPerPart = this.limits.partBytes / chunkBytes
    const commit: CommitChunks = (facts) => this.#replace({ _id: key, at: new Date(), ...facts })
    return this.#use(() => MongoUpload.begin({ orphans: this.#orphans, chunkBytes, chunksPerPart, commit }, key))
  }

  async remove(key: string): Promise<void> {
    await this.#leave(await this.#use(() => this.#blobs.findOneAndDelete({ _id: key })))
  }

  async ping(signal: AbortSignal): Promise<void> {
    const { connection, database } = this.#options
    await this.#use(() => connection.client.db(database).command({ ping: 1 }, { signal }))
  }

  failureOf(thrown: unknown): StatusError {
    return mongoFailure(this.name, thrown)
  }

  close(): Promise<void> {
    return this.#options.connection.close()
  }

  #use<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.connection.use(work)
  }

  async *#bytesOf({ data, chunk, version }: BlobDocument, extent: Extent, signal: AbortSignal): AsyncGenerator<Buffer> {
    if (chunk === undefined) {
      yield bufferOf(data).subarray(extent.offset, extent.end)
      return
    }
    yield* readChunks({ version, chunkBytes: chunk }, extent, {
      chunks: this.#orphans.chunks,
      use: (work) => this.#use(work),
      signal,
    })
  }

  /** The replaced chunks stay for a while for reads in flight. */
  async #replace(document: BlobDocument): Promise<void> {
    const { _id, ...rest } = document
    const before = await this.#use(() => this.#blobs.findOneAndReplace({ _id }, rest, { upsert: true }))
    if (before?.version !== document.version) await this.#leave(before)
  }

  async #leave(document: BlobDocument | null): Promise<void> {
    if (document?.chunk === undefined) return
    await this.#use(() => this.#orphans.add('replaced', document._id, document.version))
  }
}

const factsOf = ({ size, at, version }: BlobDocument): ObjectFacts => ({
  sizeBytes: size,
  writtenAtMs: at.getTime(),
  version,
})

const bodyOf = (chunks: AsyncGenerator<Buffer>): Readable =>
  Readable.from(chunks, { objectMode: false, highWaterMark: STAGE_BYTES })
