import type { Clock } from '../../../base/clock.js'
import type { OntapS3ExistenceCacheOptions } from '../../../config/config.js'
import type { Log } from '../../../log/log.js'
import type { BuildContext, StoreKind } from '../../contract/kind.js'
import { promisesNothing } from '../../contract/promised.js'
import { oneForAll } from '../../contract/thread-use.js'
import { ExistenceCacheStore } from '../../existence/existence-cache-store.js'
import { BlobIndex } from '../../index/blob-index.js'
import type { ObjectStore } from '../../objects/object-store.js'
import {
  ANSWER_TIMEOUT_MS,
  allowedAddress,
  authorities,
  MAX_CONNECTIONS,
  ONTAP_PART_BYTES,
  storeOver,
} from '../../objects/open.js'
import { openS3 } from '../../objects/s3.js'
import { readKeys, writeKeys } from './key-file.js'

/** Interval of the check whether a new listing is due. */
const LOOK_MS = 1000

/** The list has no limits; each new listing replaces it. */
const UNBOUNDED = { max_bytes: 0, evict_bytes: 0, max_seconds: 0, max_count: 0 }

/** A list of the keys in a bucket. It is kept across restarts and refreshed periodically. */
class KeyList {
  readonly #objects: ObjectStore
  readonly #store: ExistenceCacheStore
  readonly #path: string
  readonly #bucket: string
  readonly #clock: Clock
  readonly #log: Log
  readonly #controller = new AbortController()
  #listing: Promise<void> | undefined

  constructor(objects: ObjectStore, store: ExistenceCacheStore, { path, bucket, clock, log }: KeyListParts) {
    this.#objects = objects
    this.#store = store
    this.#path = path
    this.#bucket = bucket
    this.#clock = clock
    this.#log = log
  }

  /** Loads the list of the last listing. A missing or damaged file is replaced by the next listing. */
  async load(): Promise<void> {
    try {
      await this.#store.relearn(readKeys(this.#path, this.#bucket), this.#empty())
    } catch (error) {
      const isFirst = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isFirst) this.#log.warn('the list of keys cannot be used, listing again', { path: this.#path, error })
    }
  }

  /** Lists the bucket, unless a listing is in progress. Never rejects: failures are logged. */
  list(): Promise<void> {
    this.#listing ??= this.#list().finally(() => {
      this.#listing = undefined
    })
    return this.#listing
  }

  async close(): Promise<void> {
    this.#controller.abort()
    await this.#listing
  }

  async #list(): Promise<void> {
    const { signal } = this.#controller
    try {
      await this.#store.relearn(this.#objects.list({ signal }), this.#empty())
      await writeKeys(this.#path, this.#bucket, this.#store.known())
    } catch (error) {
      if (!signal.aborted) this.#log.warn('could not list the keys of a bucket', { bucket: this.#bucket, error })
    }
  }

  #empty(): BlobIndex {
    return new BlobIndex({ policy: UNBOUNDED, clock: this.#clock })
  }
}

interface KeyListParts {
  readonly path: string
  readonly bucket: string
  readonly clock: Clock
  readonly log: Log
}

const openOntap = async ({ backend }: OntapS3ExistenceCacheOptions, context: BuildContext): Promise<ObjectStore> => {
  const s3 = {
    name: `ontap bucket ${backend.bucket}`,
    bucket: backend.bucket,
    region: backend.vserver_name,
    endpoint: allowedAddress(backend.endpoint, backend.insecure_allow_http),
    credentials: undefined,
    certificates: await authorities(backend.root_certificates),
    isCompatible: true,
    partBytes: backend.max_retry_buffer_per_request ?? ONTAP_PART_BYTES,
    maxConnections: MAX_CONNECTIONS,
  }
  const bucket = await openS3(s3, context.secrets)
  return storeOver(bucket, backend, ANSWER_TIMEOUT_MS, context)
}

/**
 * An ONTAP object store with a list of its keys. Keys in the list count as present without a request; all others are
 * asked for. Keys deleted by other programs stay in the list until the next listing.
 */
export const ontapS3ExistenceCache: StoreKind<OntapS3ExistenceCacheOptions> = {
  threads: () => oneForAll('its connections, and their bounds, are those of the process'),
  promise: () =>
    promisesNothing('it does not ask for what its list has, and a rule of the bucket may delete any object'),
  build: async (options, context) => {
    const { clock, log, resources, path } = context
    const { backend, sync_interval_seconds: intervalS } = options
    const objects = await openOntap(options, context)
    const store = new ExistenceCacheStore(objects, new BlobIndex({ policy: UNBOUNDED, clock }))
    const bucket = `${backend.endpoint} ${backend.bucket} ${backend.key_prefix}`
    const keys = new KeyList(objects, store, { path: options.index_path, bucket, clock, log })
    context.step('reads its list of keys')
    await keys.load()
    let listedAtMs = clock.now()
    const look = async (): Promise<void> => {
      if (clock.now() - listedAtMs < intervalS * 1000) return
      await keys.list()
      listedAtMs = clock.now()
    }
    const stop = clock.every(LOOK_MS, look)
    resources.add(`list of ${path}`, () => {
      stop()
      return keys.close()
    })
    void keys.list()
    return store
  },
}
