import type { Clock } from '../../base/clock.js'
import { isStatus, StatusError } from '../../base/status-error.js'
import { type BlobChunks, getBytes, missingOf, putBytes, type Store } from '../../blobs/store.js'
import { decodeChunkList, encodeChunkList, MAX_LIST_BYTES } from '../../content/chunk-list.js'
import { ChunkWriter } from '../../content/chunk-writer.js'
import type { Log } from '../../log/log.js'
import type { Chunking, ChunkList } from '../../reapi/chunking.js'
import { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import { WHOLE } from '../../stream/path.js'
import { Semaphore } from '../../work/semaphore.js'
import { KeptChunks } from './kept-chunks.js'

export interface ChunkingOptions {
  /**
   * Stores chunk lists under keys of the server's own. If undefined, each request splits anew.
   */
  readonly lists: Store | undefined
  readonly chunking: Chunking
  /** Blobs with more chunks are neither split nor spliced. */
  readonly maxChunkCount: number
  readonly clock: Clock
  readonly log: Log
}

/** Concurrent splits. Each one reads a whole blob and holds some megabytes of it in memory. */
const SPLITS_AT_A_TIME = 4
const SPLITS_WAITING = 1000

/** Splits blobs of an instance into chunks, and remembers the chunk lists (REAPI, SplitBlob and SpliceBlob). */
export class ChunkedBlobs {
  readonly chunking: Chunking
  readonly maxChunkCount: number
  readonly #options: ChunkingOptions
  readonly #kept: KeptChunks
  readonly #splitSlots = new Semaphore({ permits: SPLITS_AT_A_TIME, maxWaiting: SPLITS_WAITING })

  constructor(options: ChunkingOptions) {
    this.chunking = options.chunking
    this.maxChunkCount = options.maxChunkCount
    this.#options = options
    this.#kept = new KeptChunks(options)
  }

  /** Splits a blob of the CAS. Its chunks are in the CAS afterwards, and are kept in use for ten minutes. */
  async listOf(digest: Digest, cas: Store, maxChunkCount: number, call: Call): Promise<ChunkList> {
    const list = await this.#presentList(digest, cas, maxChunkCount, call)
    this.#kept.keep(digest, list.chunks, cas)
    return list
  }

  async #presentList(digest: Digest, cas: Store, maxChunkCount: number, call: Call): Promise<ChunkList> {
    if (cas.chunks !== undefined) return listIn(cas.chunks, digest, maxChunkCount, call)
    const known = await this.#known(digest, call)
    // A client refuses chunks that are larger than announced: those of another server, or of sizes configured before.
    const isRight = known?.chunks.every(({ sizeBytes }) => sizeBytes <= this.chunking.maxBytes)
    if (known !== undefined && isRight && (await missingOf(cas, known.chunks, call)).length === 0) return known
    const end = await this.#splitSlots.acquire('a blob to be split', call.signal)
    try {
      const list = {
        chunks: await this.#split(digest, cas, maxChunkCount, call),
        chunkingFunction: this.chunking.function,
      }
      await this.remember(digest, list, call)
      return list
    } finally {
      end()
    }
  }

  /** Stores the list. Best effort, because the list only saves work: a failure is only logged. */
  async remember(digest: Digest, list: ChunkList, call: Call): Promise<void> {
    const { lists } = this.#options
    if (lists === undefined) return
    try {
      await putBytes(lists, keyOfList(digest), encodeChunkList(list), call)
    } catch (error) {
      call.log.warn('could not keep the list of the chunks of a blob', { digest: digest.key, error })
    }
  }

  async #known(digest: Digest, call: Call): Promise<ChunkList | undefined> {
    const { lists } = this.#options
    if (lists === undefined) return undefined
    try {
      return decodeChunkList(await getBytes(lists, keyOfList(digest), MAX_LIST_BYTES, call), digest.function)
    } catch (error) {
      if (!isStatus(error, 'NOT_FOUND')) {
        call.log.warn('could not read the list of the chunks of a blob', { digest: digest.key, error })
      }
      return undefined
    }
  }

  async #split(digest: Digest, cas: Store, maxChunkCount: number, call: Call): Promise<readonly Digest[]> {
    const blob = await cas.get(digest, WHOLE, call)
    const checked = blob.verify(digest, { fault: 'backend', repair: () => cas.remove(digest, 'wrong', call) })
    const writer = new ChunkWriter(cas, digest, call)
    return writer.write(checked, this.chunking, (count) => {
      if (count === maxChunkCount) throw tooManyChunks(digest, maxChunkCount)
    })
  }
}

/** No client can name it. */
const keyOfList = ({ key }: Digest): Digest => Digest.ofOwn('CHUNK_LIST', key)

/** The list of a store of chunks, as it is. A blob that is no larger than a chunk is its only one. */
const listIn = async (store: BlobChunks, digest: Digest, maxChunkCount: number, call: Call): Promise<ChunkList> => {
  const { chunking } = store
  if (digest.sizeBytes <= chunking.maxBytes) return { chunks: [digest], chunkingFunction: chunking.function }
  const list = await store.listOf(digest, call)
  if (list.chunks.length > maxChunkCount) throw tooManyChunks(digest, maxChunkCount)
  return list
}

/** In REAPI, NOT_FOUND from SplitBlob means that there is no split information. */
const tooManyChunks = ({ key }: Digest, maxChunkCount: number): StatusError =>
  new StatusError('NOT_FOUND', `blob ${key} has more than ${maxChunkCount} chunks, which are not listed: read it whole`)
