import { LruCache } from '../../../base/lru-cache.js'
import { orAbsent, StatusError } from '../../../base/status-error.js'
import { getBytes, missingOf, putBytes, type Removal, type Store } from '../../../blobs/store.js'
import { decodeChunkList, encodeChunkList, MAX_LIST_BYTES, sizeOfChunks } from '../../../content/chunk-list.js'
import type { ChunkList } from '../../../reapi/chunking.js'
import type { Digest } from '../../../reapi/digest.js'
import { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import { boundedMap, LANES } from '../../../work/bounded-map.js'
import { asKeyed } from '../../view/keyed.js'

/** Bound on the chunks of recently read lists: at most 40 MB. */
const KNOWN_CHUNKS = 250_000

/** Blobs whose lists are in memory together during a check for missing chunks. */
const GROUP_COUNT = 64

const KEYS = { areKeys: true }

/** The chunk lists of a dedup store, under the digests of their blobs. */
export class ChunkIndex {
  readonly #store: Store
  readonly #index: Store
  readonly #known = new LruCache<ChunkList>(KNOWN_CHUNKS)

  /** Marks the digests of `index` as keys. */
  constructor(index: Store) {
    this.#index = index
    this.#store = asKeyed(index)
  }

  /** The blobs without a list, and those with a chunk missing in `content`. Each store is asked in batches. */
  async findMissing(digests: DigestBatch, content: Store, call: Call): Promise<DigestBatch> {
    const unlisted = await this.#store.findMissing(digests, call)
    const listed = digests.except(unlisted)
    const broken: number[] = []
    for (let from = 0; from < listed.count; from += GROUP_COUNT) {
      const count = Math.min(GROUP_COUNT, listed.count - from)
      const indexes = Array.from({ length: count }, (_, index) => from + index)
      const isWhole = await this.#areWhole(
        indexes.map((index) => listed.at(index)),
        content,
        call,
      )
      broken.push(...indexes.filter((_, at) => isWhole[at] !== true))
    }
    return DigestBatch.merge(unlisted, listed.select(broken))
  }

  /** Whether none of them has a list. */
  areUnlisted(digests: DigestBatch, call: Call): Promise<boolean> {
    return this.#index.findMissing(digests.as(KEYS), call).then(({ count }) => count === digests.count)
  }

  /** Rejects with NOT_FOUND when there is no list. An invalid list is dropped. */
  async listOf(digest: Digest, call: Call): Promise<ChunkList> {
    const known = digest.describesContent ? this.#known.get(digest.key) : undefined
    if (known !== undefined) return known
    const bytes = await getBytes(this.#store, digest, MAX_LIST_BYTES, call)
    const list = decodeChunkList(bytes, digest.function)
    const isRight = list && (!digest.describesContent || sizeOfChunks(list.chunks) === digest.sizeBytes)
    if (isRight) return this.#keep(digest, list)
    call.log.warn('the list of chunks of a blob is damaged: it is dropped', { digest: digest.key })
    await this.#store.remove(digest, 'wrong', call)
    throw new StatusError('NOT_FOUND', `the list of the chunks of blob ${digest.key} was damaged`)
  }

  /** `listOf`, undefined when there is none. */
  find(digest: Digest, call: Call): Promise<ChunkList | undefined> {
    return orAbsent(this.listOf(digest, call))
  }

  /** Whether the list and all chunks are present. Counts as a use of all of them. */
  async isWhole(digest: Digest, content: Store, call: Call): Promise<boolean> {
    return (await this.findMissing(DigestBatch.of([digest]), content, call)).count === 0
  }

  async put(digest: Digest, list: ChunkList, call: Call): Promise<void> {
    await putBytes(this.#store, digest, encodeChunkList(list), call)
    this.#keep(digest, list)
  }

  remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    this.#known.delete(digest.key)
    return this.#store.remove(digest, why, call)
  }

  /** For each blob whether all its chunks are present. Counts as a use of the chunks. */
  async #areWhole(digests: readonly Digest[], content: Store, call: Call): Promise<readonly boolean[]> {
    const lists = await boundedMap(digests, LANES, (digest) => this.#listedOf(digest, call))
    const chunks = new Map(lists.flatMap((list) => list ?? []).map((chunk) => [chunk.key, chunk]))
    const missing = new Set((await missingOf(content, [...chunks.values()], call)).map(({ key }) => key))
    return lists.map((list) => list?.every(({ key }) => !missing.has(key)) ?? false)
  }

  /** The chunks as the content store knows them. */
  async #listedOf(digest: Digest, call: Call): Promise<readonly Digest[] | undefined> {
    return (await this.find(digest, call))?.chunks.map((chunk) => digest.beside(chunk))
  }

  #keep(digest: Digest, list: ChunkList): ChunkList {
    if (digest.describesContent) this.#known.set(digest.key, list, list.chunks.length + 1)
    return list
  }
}
