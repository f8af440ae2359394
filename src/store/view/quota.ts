import type { Clock } from '../../base/clock.js'
import { StatusError } from '../../base/status-error.js'
import { ForwardingStore } from '../../blobs/forwarding.js'
import {
  type BlobChunks,
  type BlobEntry,
  type Outcomes,
  outcomeOf,
  type Removal,
  type Store,
} from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { DigestBatch } from '../../reapi/digest-batch.js'
import { type Call, internalCall } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { Range } from '../../stream/path.js'
import { ABSENT, BlobIndex } from '../index/blob-index.js'
import { putInGroups } from '../partition/put-in-groups.js'

export interface ShareOptions {
  readonly instanceName: string
  /** Bytes that the instance may keep in this store. */
  readonly maxBytes: number
  readonly clock: Clock
}

/**
 * Limits an instance with its own view of a store (`isolatedView`) to `maxBytes`. Beyond that its least recently used
 * blobs are removed, never those of other instances. It counts blobs written or found since the start, about 80 bytes
 * of memory per blob. A blob that the store evicts by itself stays counted until it is the oldest.
 */
export class SharedStore extends ForwardingStore {
  readonly #options: ShareOptions
  readonly #index: BlobIndex
  #comingBytes = 0
  #evicting: Promise<void> | undefined

  constructor(view: Store, options: ShareOptions) {
    super(view)
    this.#options = options
    const policy = { max_bytes: options.maxBytes, evict_bytes: 0, max_seconds: 0, max_count: 0 }
    this.#index = new BlobIndex({ policy, clock: options.clock })
  }

  /** A spliced blob counts beside its chunks, which clients uploaded. */
  get chunks(): BlobChunks | undefined {
    const { chunks } = this.backend
    return (
      chunks && {
        chunking: chunks.chunking,
        listOf: async (digest, call) => {
          const list = await chunks.listOf(digest, call)
          this.#use(digest, digest.sizeBytes)
          return list
        },
        splice: (digest, list, call) =>
          this.#counted(digest, digest.sizeBytes, () => chunks.splice(digest, list, call)),
      }
    )
  }

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const missing = await this.backend.findMissing(digests, call)
    const present = digests.except(missing)
    for (let at = 0; at < present.count; at++)
      this.#use(present.at(at), present.areKeys ? undefined : present.sizeBytesAt(at))
    return missing
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const blob = await this.backend.get(digest, range, call)
    this.#use(digest, digest.describesContent ? digest.sizeBytes : undefined)
    return blob
  }

  /** An instance loses blobs also by its own limit. */
  override async evictedMs(digest: Digest, call: Call): Promise<number | undefined> {
    const [own, below] = [this.#index.evictedMs(digest), await this.backend.evictedMs(digest, call)]
    return own === undefined || below === undefined ? (own ?? below) : Math.max(own, below)
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const sizeBytes = sizeOf(digest, blob)
    const put = (): Promise<void> => this.backend.put(digest, blob, call)
    await this.#counted(digest, sizeBytes, put).finally(() => blob.discard())
  }

  async #counted(digest: Digest, sizeBytes: number, write: () => Promise<void>): Promise<void> {
    const end = this.#begin(digest, sizeBytes)
    try {
      await write()
      end(true)
    } catch (error) {
      end(false)
      throw error
    }
  }

  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const begun = entries.map(({ digest, blob }) => {
      try {
        return this.#begin(digest, sizeOf(digest, blob))
      } catch (error) {
        blob.discard()
        return StatusError.from(error)
      }
    })
    const isRefused = (_: BlobEntry, at: number): boolean => begun[at] instanceof StatusError
    return putInGroups(entries, isRefused, async (areRefused, some) => {
      if (areRefused) return begun.filter((end) => end instanceof StatusError)
      const outcomes = await this.backend.putAll(some, call)
      const ends = begun.flatMap((end) => (end instanceof StatusError ? [] : [end]))
      for (const [at, end] of ends.entries()) end(outcomes[at] === undefined)
      return outcomes
    })
  }

  override async remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    this.#forget(this.#index.find(digest))
    await this.backend.remove(digest, why, call)
  }

  /** Resolves when the pending evictions are done. */
  async settled(): Promise<void> {
    await this.#evicting
  }

  /** Throws RESOURCE_EXHAUSTED if evicting everything would not make room. */
  #begin(digest: Digest, sizeBytes: number): (isKept: boolean) => void {
    const { instanceName, maxBytes } = this.#options
    if (this.#comingBytes + sizeBytes > maxBytes) {
      const under = this.#comingBytes === 0 ? '' : ` beside ${this.#comingBytes} that are coming`
      const who = `instance ${JSON.stringify(instanceName)} may keep ${maxBytes} bytes in this store`
      throw new StatusError('RESOURCE_EXHAUSTED', `no room for ${sizeBytes} bytes of blob ${digest}${under}: ${who}`)
    }
    this.#comingBytes += sizeBytes
    return (isKept) => {
      this.#comingBytes -= sizeBytes
      if (!isKept || digest.isEmpty) return
      this.#index.insert(digest, sizeBytes)
      this.#evict()
    }
  }

  /** A blob of unknown length counts only once it is written. */
  #use(digest: Digest, sizeBytes: number | undefined): void {
    if (this.#index.use(digest) !== ABSENT || sizeBytes === undefined || digest.isEmpty) return
    this.#index.insert(digest, sizeBytes)
    this.#evict()
  }

  #forget(slot: number): void {
    if (slot !== ABSENT) this.#index.remove(slot)
  }

  #evict(): void {
    if (this.#index.victim() === ABSENT) return
    this.#evicting ??= this.#evictOldest().finally(() => {
      this.#evicting = undefined
    })
  }

  /** A blob that cannot be removed is no longer counted: the store will evict it. */
  async #evictOldest(): Promise<void> {
    for (let victim = this.#index.victim(); victim !== ABSENT; victim = this.#index.victim()) {
      const digest = this.#index.digestOf(victim)
      this.#index.noteEviction(victim)
      this.#forget(victim)
      await outcomeOf(
        this.backend.remove(digest, 'unwanted', internalCall({ instanceName: this.#options.instanceName })),
      )
    }
  }
}

const sizeOf = (digest: Digest, blob: Blob): number =>
  (digest.describesContent ? digest.sizeBytes : blob.sizeBytes) ?? 0
