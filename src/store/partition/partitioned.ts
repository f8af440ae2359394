import type { HealthStatus } from '../../base/health.js'
import {
  BaseStore,
  type BlobEntry,
  type Outcomes,
  type Removal,
  type Store,
  type StoreProperties,
} from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import { DigestBatch } from '../../reapi/digest-batch.js'
import type { Call } from '../../rpc/call.js'
import type { Blob } from '../../stream/blob/blob.js'
import type { Range } from '../../stream/path.js'
import { putInGroups } from './put-in-groups.js'

/** A store and its key in the configuration. */
export type Part = readonly [key: string, store: Store]

/**
 * Divides the digests among several stores. The kind chooses the store from the digest alone. One call asks each store
 * at most once.
 */
export abstract class PartitionedStore extends BaseStore {
  override readonly properties: StoreProperties
  readonly #parts: readonly Part[]

  constructor(parts: readonly Part[]) {
    super()
    this.#parts = parts
    const properties = parts.map(([, { properties }]) => properties)
    const [first] = properties
    this.properties = {
      keepsNothing: properties.every(({ keepsNothing }) => keepsNothing),
      encodings: (first?.encodings ?? []).filter((name) =>
        properties.every(({ encodings }) => encodings.includes(name)),
      ),
      checksCompleteness: properties.every(({ checksCompleteness }) => checksCompleteness),
      detectsDamage: properties.every(({ detectsDamage }) => detectsDamage),
      extendsLifetimes: properties.some(({ extendsLifetimes }) => extendsLifetimes),
      retentionMs: Math.min(...properties.map(({ retentionMs }) => retentionMs)),
      findsByHash: properties.every(({ findsByHash }) => findsByHash),
      maxBlobBytes: Math.max(...properties.map(({ maxBlobBytes }) => maxBlobBytes)),
    }
  }

  /** The index of the part that is responsible for a digest. */
  protected abstract partOf(digest: Digest): number

  /** `partOf` for the digest at `index` of a batch, without creating a Digest object. */
  protected abstract partAt(batch: DigestBatch, index: number): number

  async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const indexes: number[][] = this.#parts.map(() => [])
    for (let index = 0; index < digests.count; index++) indexes[this.partAt(digests, index)]?.push(index)
    const asked = this.#parts.flatMap(([, store], part) => {
      const mine = indexes[part] ?? []
      return mine.length === 0 ? [] : [store.findMissing(digests.select(mine), call)]
    })
    return DigestBatch.merge(digests.select([]), ...(await Promise.all(asked)))
  }

  /** The part may depend on the size, so all are asked. */
  override async sizeOf(named: Digest, call: Call): Promise<number | undefined> {
    const sizes = await Promise.all(this.#parts.map(([, store]) => store.sizeOf(named, call)))
    return sizes.reduce(larger, undefined)
  }

  override evictedMs(digest: Digest, call: Call): Promise<number | undefined> {
    return this.#storeOf(digest).evictedMs(digest, call)
  }

  override lacks(digest: Digest, call: Call): boolean {
    return this.#storeOf(digest).lacks(digest, call)
  }

  get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#storeOf(digest).get(digest, range, call)
  }

  put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.#storeOf(digest).put(digest, blob, call)
  }

  override putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const partOf = ({ digest }: BlobEntry): number => this.partOf(digest)
    return putInGroups(entries, partOf, (part, some) => (this.#parts[part] as Part)[1].putAll(some, call))
  }

  remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    return this.#storeOf(digest).remove(digest, why, call)
  }

  /** Reports the worst state of all parts, because no part can replace another. */
  async health(call: Call): Promise<HealthStatus> {
    const found = await Promise.all(this.#parts.map(([, store]) => store.health(call)))
    const states = ['Failed', 'Initializing', 'Warning'] as const
    for (const state of states) {
      const part = found.findIndex((status) => status.state === state)
      const status = found[part]
      if (status !== undefined) return { ...status, message: `${this.#parts[part]?.[0]}: ${status.message}` }
    }
    return { state: 'Ok', message: `all ${found.length} stores work` }
  }

  #storeOf(digest: Digest): Store {
    return (this.#parts[this.partOf(digest)] as Part)[1]
  }
}

const larger = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)
