import type { HealthStatus } from '../../../base/health.js'
import { StatusError } from '../../../base/status-error.js'
import type { DedupOptions } from '../../../config/config.js'
import { sizeOfChunks } from '../../../content/chunk-list.js'
import { ChunkWriter } from '../../../content/chunk-writer.js'
import type { Chunking } from '../../../reapi/chunking.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import { FastCdc } from '../../../reapi/fast-cdc.js'
import type { Call } from '../../../rpc/call.js'
import { Blob } from '../../../stream/blob/blob.js'
import { Concatenation, fetchPart } from '../../../stream/chunking/concatenate.js'
import { cutBlob } from '../../../stream/chunking/cut-blob.js'
import { extentOf, type Range } from '../../../stream/path.js'
import type { StoreKind } from '../../contract/kind.js'
import { leastOf } from '../../contract/promised.js'
import { BaseStore, missingOf, PLAIN, type Removal, type Store, type StoreProperties } from '../../contract/store.js'
import { asKeyed } from '../../view/keyed.js'
import { ChunkIndex } from './chunk-index.js'
import { type ChunkPart, partsBetween } from './parts.js'

interface DedupParts {
  readonly index: Store
  readonly content: Store
  readonly chunking: Chunking
  readonly aheadCount: number
}

/**
 * Keeps blobs as chunks cut at content-defined boundaries, so that equal parts of similar blobs are stored once. The
 * content store has the chunks under their own digests. The index store has the list of chunks under the digest of the
 * blob; the list is written last. A blob is present while all its chunks are: a lost chunk makes it missing, and the
 * next upload restores it. Unused chunks are evicted by the content store.
 */
class DedupStore extends BaseStore {
  override readonly properties: StoreProperties
  readonly #parts: DedupParts
  readonly #index: ChunkIndex

  constructor(parts: DedupParts) {
    super()
    this.#parts = parts
    this.#index = new ChunkIndex(asKeyed(parts.index))
    const keepsNothing = parts.index.properties.keepsNothing || parts.content.properties.keepsNothing
    const { extendsLifetimes } = parts.content.properties
    const retentionMs = Math.min(parts.index.properties.retentionMs, parts.content.properties.retentionMs)
    this.properties = { ...PLAIN, keepsNothing, extendsLifetimes, retentionMs }
  }

  findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.#index.findMissing(digests, this.#parts.content, call)
  }

  async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const chunks = await this.#index.chunksOf(digest, call)
    const { offset, end } = extentOf(range, sizeOfChunks(chunks), digest.key)
    const parts = partsBetween(chunks, offset, end, this.#parts.content, call)
    const [only] = parts
    if (only === undefined) return Blob.ofBytes(NO_BYTES, { offset })
    if (parts.length === 1) return Blob.ofBytes(await fetchPart(only, call.signal), { offset })
    await this.#checkPresent(digest, parts, call)
    return Blob.ofPath([new Concatenation(parts, this.#parts.aheadCount)], { sizeBytes: end - offset, offset })
  }

  async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const { chunking, content } = this.#parts
    const writer = new ChunkWriter(content, digest.function, call)
    await cutBlob(blob, chunking, (chunk) => writer.add(chunk), call.signal)
    await this.#index.put(digest, { chunks: await writer.end(), chunkingFunction: UNKNOWN }, call)
  }

  /** Removes the list only: each chunk is verified against its digest when it is read. */
  remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    return this.#index.remove(digest, why, call)
  }

  async health(call: Call): Promise<HealthStatus> {
    const [index, content] = await Promise.all([this.#parts.index.health(call), this.#parts.content.health(call)])
    if (index.state !== 'Ok') return { ...index, message: `index_store: ${index.message}` }
    if (content.state !== 'Ok') return { ...content, message: `content_store: ${content.message}` }
    return { state: 'Ok', message: 'both stores work' }
  }

  /** Reports a missing chunk before the blob is returned. */
  async #checkPresent(digest: Digest, parts: readonly ChunkPart[], call: Call): Promise<void> {
    const [missing] = await missingOf(
      this.#parts.content,
      parts.map(({ chunk }) => chunk),
      call,
    )
    if (missing === undefined) return
    throw new StatusError('NOT_FOUND', `blob ${digest.key} is not whole: chunk ${missing.key} is gone`)
  }
}

const NO_BYTES = Buffer.alloc(0)

/** The chunk sizes of a dedup store match none of REAPI's chunking functions. */
const UNKNOWN = 0

export const dedup: StoreKind<DedupOptions> = {
  promise: ({ index_store, content_store }, below) => leastOf([below.child(index_store), below.child(content_store)]),
  build: async (options, context) => {
    const chunking = new FastCdc({ min: options.min_size, normal: options.normal_size, max: options.max_size })
    const index = await context.child(options.index_store, 'index_store')
    const content = await context.child(options.content_store, 'content_store')
    return new DedupStore({ index, content, chunking, aheadCount: options.max_concurrent_fetch_per_get })
  },
}
