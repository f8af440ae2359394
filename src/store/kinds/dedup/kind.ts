import type { HealthStatus } from '../../../base/health.js'
import { isStatus, StatusError } from '../../../base/status-error.js'
import {
  BaseStore,
  type BlobChunks,
  type BlobEntry,
  type BlobFiles,
  type Outcomes,
  PLAIN,
  type Removal,
  type Store,
  type StoreProperties,
} from '../../../blobs/store.js'
import type { DedupOptions } from '../../../config/config.js'
import { mostChunksIn, sizeOfChunks } from '../../../content/chunk-list.js'
import { ChunkWriter } from '../../../content/chunk-writer.js'
import { chunkingOf } from '../../../content/chunking-of.js'
import type { Chunking, ChunkList } from '../../../reapi/chunking.js'
import type { Digest } from '../../../reapi/digest.js'
import { DigestBatch } from '../../../reapi/digest-batch.js'
import { FastCdc } from '../../../reapi/fast-cdc.js'
import type { Call } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import { joinParts } from '../../../stream/chunking/joined-file.js'
import { extentOf, type Range, WHOLE } from '../../../stream/path.js'
import { Semaphore } from '../../../work/semaphore.js'
import type { StoreKind } from '../../contract/kind.js'
import { leastOf } from '../../contract/promised.js'
import { oneForAll } from '../../contract/thread-use.js'
import { putInGroups } from '../../partition/put-in-groups.js'
import { ChunkIndex } from './chunk-index.js'
import { CountedChunks } from './counted-chunks.js'
import { DedupFiles } from './files.js'
import { OlderLists } from './older-lists.js'
import { partsBetween, readChunk } from './parts.js'

interface DedupParts {
  readonly index: Store
  readonly content: Store
  /** Copies of larger blobs that actions use, as files. */
  readonly whole: Store | undefined
  readonly chunking: Chunking
  readonly aheadCount: number
  readonly counted: CountedChunks
}

/**
 * Keeps blobs as chunks cut at content-defined boundaries, so that equal parts of similar blobs are stored once. The
 * content store has the chunks under their own digests, among them each blob that is no larger than the largest chunk.
 * The index store has the list of chunks of a larger blob, under its digest; the list is written last. Such a blob is
 * present while all its chunks are: a lost chunk makes it missing, and the next upload restores it. Unused chunks are
 * evicted by the content store.
 */
class DedupStore extends BaseStore {
  override readonly properties: StoreProperties
  override readonly files: BlobFiles | undefined
  readonly chunks: BlobChunks | undefined
  readonly #parts: DedupParts
  readonly #index: ChunkIndex
  readonly #older: OlderLists
  readonly #cutSlots = new Semaphore({ permits: CUTS_AT_A_TIME })

  constructor(parts: DedupParts) {
    super()
    this.#parts = parts
    this.#index = new ChunkIndex(parts.index)
    this.#older = new OlderLists(this.#index, parts.content, parts.aheadCount)
    const keepsNothing = parts.index.properties.keepsNothing || parts.content.properties.keepsNothing
    const { extendsLifetimes } = parts.content.properties
    const retentionMs = Math.min(parts.index.properties.retentionMs, parts.content.properties.retentionMs)
    const findsByHash = parts.index.properties.findsByHash && parts.content.properties.findsByHash
    const facts = { keepsNothing, detectsDamage: true, extendsLifetimes, retentionMs, findsByHash }
    this.properties = { ...PLAIN, ...facts, maxBlobBytes: largestBlob(parts) }
    this.files = this.#filesOf(parts)
    if (parts.chunking.announced !== undefined) this.chunks = new DedupChunks(this, this.#index, parts)
  }

  findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    return this.#areChunkSized(digests) ? this.#missingPlain(digests, call) : this.#missingOfAll(digests, call)
  }

  /** Few turns, because each small upload asks this. */
  #missingPlain(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const restore = (missing: DigestBatch): DigestBatch | Promise<DigestBatch> =>
      missing.count === 0 ? missing : this.#older.restore(missing, call)
    return this.#parts.content.findMissing(digests, call).then(restore)
  }

  async #missingOfAll(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const indexes = Array.from({ length: digests.count }, (_, index) => index)
    const plain = digests.areKeys ? NONE : indexes.filter((index) => this.#isChunkSized(digests.sizeBytesAt(index)))
    if (plain.length === 0) return this.#missingOfLarger(digests, call)
    const chunks = digests.select(plain)
    const missing = await this.#missingPlain(chunks, call)
    return DigestBatch.merge(missing, await this.#missingOfLarger(digests.except(chunks), call))
  }

  /** A blob from when chunks were larger, or from before its store kept chunks, is present as one entry. */
  async #missingOfLarger(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const { content } = this.#parts
    const unlisted = await this.#index.findMissing(digests, content, call)
    return unlisted.count === 0 || unlisted.areKeys ? unlisted : content.findMissing(unlisted, call)
  }

  /** A blob of chunk size is passed on without a turn of its own: most blobs are small, and pay nothing for chunks. */
  get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#isPlain(digest) ? this.#getPlain(digest, range, call) : this.#getLarger(digest, range, call)
  }

  async #getLarger(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const list = await this.#index.find(digest, call)
    if (list === undefined) return this.#getOlder(digest, range, call)
    const { content, aheadCount } = this.#parts
    const extent = extentOf(range, sizeOfChunks(list.chunks), digest.key)
    // Reading any part of a blob is a use of the whole, which would be missing without the other chunks.
    if (!(await this.#index.isWhole(digest, content, call))) return this.#getOlder(digest, range, call)
    const kept = await this.#getWhole(digest, range, call)
    if (kept !== undefined) return kept
    const parts = partsBetween(digest, list.chunks, extent, content, call)
    return joinParts(parts, { aheadCount, signal: call.signal, offset: extent.offset })
  }

  /** A read of one file takes two thirds of the CPU of one for each chunk. */
  async #getWhole(digest: Digest, range: Range, call: Call): Promise<Blob | undefined> {
    const { whole } = this.#parts
    if (whole === undefined || (await whole.findMissing(DigestBatch.of([digest]), call)).count > 0) return undefined
    return whole.get(digest, range, call).catch((error: unknown) => {
      call.log.debug('a blob is read as chunks, because its file cannot be', { digest: digest.key, error })
      return undefined
    })
  }

  /** A blob that has no list, or has lost chunks, may still be one entry. */
  async #getOlder(digest: Digest, range: Range, call: Call): Promise<Blob> {
    if (!digest.describesContent) throw notWhole(digest)
    return readChunk(digest, range, this.#parts.content, call)
  }

  /** A larger blob has a list, and so has what is under a key. */
  override async sizeOf(named: Digest, call: Call): Promise<number | undefined> {
    const { index, content } = this.#parts
    const listed = await index.sizeOf(named.asKey(), call)
    return listed ?? (named.describesContent ? content.sizeOf(named, call) : undefined)
  }

  /** Of its list, or of a blob that is a chunk. */
  override evictedMs(digest: Digest, call: Call): Promise<number | undefined> {
    const { index, content } = this.#parts
    return this.#isPlain(digest) ? content.evictedMs(digest, call) : index.evictedMs(digest.asKey(), call)
  }

  #getPlain(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const { content } = this.#parts
    return readChunk(digest, range, content, call).catch(async (error: unknown) => {
      if (!isStatus(error, 'NOT_FOUND')) throw error
      const missing = await this.#older.restore(DigestBatch.of([digest]), call)
      if (missing.count > 0) throw error
      return readChunk(digest, range, content, call)
    })
  }

  put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    if (!this.#isPlain(digest)) return this.#putLarger(digest, blob, call)
    const { content, counted } = this.#parts
    const putting = content.put(digest, blob, call)
    return counted.isCounted(digest) ? putting.then(() => counted.uploaded(digest)) : putting
  }

  async #putLarger(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const { chunking, content } = this.#parts
    const end = await this.#cutSlots.acquire('a turn to cut a blob', call.signal).catch((error: unknown) => {
      blob.discard()
      throw error
    })
    const writer = new ChunkWriter(content, digest, call)
    const chunks = await writer.write(blob, chunking).finally(end)
    this.#parts.counted.cut(sizeOfChunks(chunks), writer.missingBytes)
    await this.#index.put(digest, { chunks, chunkingFunction: chunking.function }, call)
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const isPlain = ({ digest }: BlobEntry): boolean => this.#isPlain(digest)
    return putInGroups(entries, isPlain, (arePlain, some) =>
      arePlain ? this.#putPlain(some, call) : super.putAll(some, call),
    )
  }

  async #putPlain(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const outcomes = await this.#parts.content.putAll(entries, call)
    for (const [at, { digest }] of entries.entries()) {
      if (outcomes[at] === undefined) this.#parts.counted.uploaded(digest)
    }
    return outcomes
  }

  /** Removes the list, and what there is as one entry, but no chunk: other blobs may have the same. */
  async remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    const { content, whole } = this.#parts
    if (digest.describesContent) await content.remove(digest, why, call)
    if (!this.#isPlain(digest)) await whole?.remove(digest, why, call)
    await this.#index.remove(digest, why, call)
  }

  async health(call: Call): Promise<HealthStatus> {
    const [index, content] = await Promise.all([this.#parts.index.health(call), this.#parts.content.health(call)])
    if (index.state !== 'Ok') return { ...index, message: `index_store: ${index.message}` }
    if (content.state !== 'Ok') return { ...content, message: `content_store: ${content.message}` }
    return { state: 'Ok', message: 'both stores work' }
  }

  /** Present if blobs of either length are files. */
  #filesOf({ index, content: { files: content, properties }, whole }: DedupParts): BlobFiles | undefined {
    if (content === undefined || whole?.files === undefined) return undefined
    const isPlain = (digest: Digest): boolean => this.#isPlain(digest)
    const detectsDamage = index.properties.detectsDamage && properties.detectsDamage
    const chunksOf = async (digest: Digest, call: Call): Promise<readonly Digest[]> =>
      (await this.#index.listOf(digest, call)).chunks.map((chunk) => digest.beside(chunk))
    return new DedupFiles({ store: this, content, whole, wholeFiles: whole.files, detectsDamage, chunksOf, isPlain })
  }

  /** The length of what is stored under a key is not known, so it always has a list. */
  #isPlain(digest: Digest): boolean {
    return digest.describesContent && this.#isChunkSized(digest.sizeBytes)
  }

  /** Most requests name only such blobs: they are passed on as they came. */
  #areChunkSized(digests: DigestBatch): boolean {
    if (digests.areKeys) return false
    for (let at = 0; at < digests.count; at++) if (!this.#isChunkSized(digests.sizeBytesAt(at))) return false
    return true
  }

  #isChunkSized(sizeBytes: number): boolean {
    return sizeBytes <= this.#parts.chunking.maxBytes
  }
}

/** Equal chunks are kept once, so that what bounds a larger blob is its list. */
const largestBlob = ({ index, content, chunking }: DedupParts): number => {
  const plainBytes = Math.min(content.properties.maxBlobBytes, chunking.maxBytes)
  return Math.max(plainBytes, mostChunksIn(index.properties.maxBlobBytes) * chunking.maxBytes)
}

/** Each holds the bytes of the begun chunk and of those that are written: 4 to 12 MiB with chunks of half a mebibyte. */
export const CUTS_AT_A_TIME = 32

const notWhole = ({ key }: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${key} has no list of chunks, or one of them is gone`)

/** What a dedup store offers for SplitBlob and SpliceBlob: its lists as they are. */
class DedupChunks implements BlobChunks {
  readonly chunking: Chunking
  readonly #store: Store
  readonly #index: ChunkIndex
  readonly #parts: DedupParts

  constructor(store: Store, index: ChunkIndex, parts: DedupParts) {
    this.chunking = parts.chunking
    this.#store = store
    this.#index = index
    this.#parts = parts
  }

  async listOf(digest: Digest, call: Call): Promise<ChunkList> {
    const list = await this.#index.find(digest, call)
    if (list?.chunks.every(({ sizeBytes }) => sizeBytes <= this.chunking.maxBytes)) return list
    // The sizes were larger when it was cut, or it was never cut.
    const blob = await this.#store.get(digest, WHOLE, call)
    await this.#store.put(digest, blob.verify(digest, { fault: 'backend' }), call)
    if (list === undefined) await this.#parts.content.remove(digest, 'unwanted', call)
    return this.#index.listOf(digest, call)
  }

  async splice(digest: Digest, list: ChunkList, call: Call): Promise<void> {
    const { content, aheadCount } = this.#parts
    const parts = partsBetween(digest, list.chunks, { offset: 0, end: digest.sizeBytes }, content, call)
    const joined = await joinParts(parts, { aheadCount, signal: call.signal })
    await joined.verify(digest, { fault: 'client' }).drain(call.signal)
    this.#parts.counted.spliced(list.chunks.map((chunk) => digest.beside(chunk)))
    await this.#index.put(digest, list, call)
  }
}

const NONE: readonly number[] = []

const chunkingFrom = ({ chunking_function, min_size, normal_size, max_size, ...sizes }: DedupOptions): Chunking =>
  chunking_function === undefined
    ? new FastCdc({ min: min_size, normal: normal_size, max: max_size })
    : chunkingOf({ chunking_function, ...sizes })

export const dedup: StoreKind<DedupOptions> = {
  threads: () => oneForAll('service threads do not run this stage'),
  promise: ({ index_store, content_store }, below) => leastOf([below.child(index_store), below.child(content_store)]),
  build: async (options, context) => {
    const chunking = chunkingFrom(options)
    const index = await context.child(options.index_store, 'index_store')
    const content = await context.child(options.content_store, 'content_store')
    const copies = { isOptional: true, holdsCopies: true }
    const whole = options.whole_store && (await context.child(options.whole_store, 'whole_store', copies))
    const counted = new CountedChunks()
    context.cuts(() => counted.usage)
    return new DedupStore({
      index,
      content,
      whole,
      counted,
      chunking,
      aheadCount: options.max_concurrent_fetch_per_get,
    })
  },
}
