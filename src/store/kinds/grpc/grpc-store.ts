import type { HealthStatus } from '../../../base/health.js'
import { LruCache } from '../../../base/lru-cache.js'
import {
  BaseStore,
  type BlobEntry,
  type FarTrees,
  type Outcomes,
  type Removal,
  type Store,
  type StoreProperties,
} from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import type { DigestBatch } from '../../../reapi/digest-batch.js'
import type { Call } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { Range } from '../../../stream/path.js'
import { askedAs } from '../../view/isolated.js'

/** Instances that are remembered. A forgotten one keeps the connections and only gets new batchers. */
const MAX_KNOWN = 1000

/**
 * The store of another server, which verifies uploads and knows digests only. An instance with a view of its own is
 * sent to the instance of the same name, with plain digests. That server then has to keep the instances separate.
 */
export class GrpcStore extends BaseStore {
  override readonly properties: StoreProperties
  readonly #configured: Store
  readonly #open: (instanceName: string) => Store
  readonly #others = new LruCache<Store>(MAX_KNOWN)

  constructor(configured: Store, open: (instanceName: string) => Store) {
    super()
    this.properties = configured.properties
    this.#configured = configured
    this.#open = open
  }

  get trees(): FarTrees | undefined {
    if (this.#configured.trees === undefined) return undefined
    return {
      read: async (root, take, call) =>
        this.#storeOf(root).trees?.read(
          root.content,
          (directories) => take(directories.map(({ digest, bytes }) => ({ digest: root.beside(digest), bytes }))),
          call,
        ),
    }
  }

  override findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    if (digests.count === 0) return Promise.resolve(digests)
    const first = digests.at(0)
    if (first.instanceName === undefined) return this.#configured.findMissing(digests, call)
    return askedAs(
      digests,
      ({ content }) => content,
      (named) => this.#storeOf(first).findMissing(named, call),
    )
  }

  override get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    return this.#storeOf(digest).get(digest.content, range, call)
  }

  override put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    return this.#storeOf(digest).put(digest.content, blob, call)
  }

  /** All entries of a call belong to the same instance. */
  override async putAll(entries: readonly BlobEntry[], call: Call): Promise<Outcomes> {
    const [first] = entries
    if (first === undefined) return []
    const named = entries.map(({ digest, blob }) => ({ digest: digest.content, blob }))
    return this.#storeOf(first.digest).putAll(named, call)
  }

  override remove(digest: Digest, why: Removal, call: Call): Promise<void> {
    return this.#storeOf(digest).remove(digest.content, why, call)
  }

  override health(call: Call): Promise<HealthStatus> {
    return this.#configured.health(call)
  }

  #storeOf({ instanceName }: Digest): Store {
    if (instanceName === undefined) return this.#configured
    const known = this.#others.get(instanceName)
    if (known !== undefined) return known
    const store = this.#open(instanceName)
    this.#others.set(instanceName, store, 1)
    return store
  }
}
