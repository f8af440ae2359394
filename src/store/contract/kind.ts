import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../../base/clock.js'
import type { HealthProbe } from '../../base/health.js'
import type { ListBlobs } from '../../blobs/listing.js'
import type { ChunkUsage, StoreUsage, UploadQueueUsage } from '../../blobs/meter.js'
import type { FinishedFile, Store } from '../../blobs/store.js'
import type { StoreConfig } from '../../config/config.js'
import type { Log } from '../../log/log.js'
import type { SecretLearner } from '../../log/secrets.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import type { Invocations } from '../../rpc/invocations.js'
import type { Resources } from '../../work/resources.js'
import type { Promised, PromisesBelow } from './promised.js'
import type { ThreadUse, ThreadUseBelow } from './thread-use.js'
import type { UploadOrder } from './upload-order.js'

/** One kind of store: the implementation behind one key of the configuration. */
export interface StoreKind<Options> {
  build(options: Options, context: BuildContext): Promise<Store> | Store
  /** The same for a store that is nothing but a stage over others, and that each service thread may have its own of. */
  stage?(options: Options, context: StageContext): Promise<Store> | Store
  /** What a store with these options promises. `below` answers for the stores nested in it. */
  promise(options: Options, below: PromisesBelow): Promised
  /** How service threads use a store with these options. */
  threads(options: Options, below: ThreadUseBelow): ThreadUse
}

/** What a stage needs: it keeps nothing, and has no state that others must see. */
export type StageContext = Pick<BuildContext, 'path' | 'child'>

export interface ChildOptions {
  /** The store works without this one: in the health report it and its connections are a Warning instead of Failed. */
  readonly isOptional?: boolean
  /** The store only holds copies of blobs that another one keeps: it promises nothing, and may evict at any time. */
  readonly holdsCopies?: boolean
}

/** For a store that the service threads of the process use themselves. */
export interface ThreadSharing {
  readonly threadCount: number
  register(store: SharedStore): void
}

/** The owner's side of a store that service threads use. */
export interface SharedStore {
  /** Path of the store in the configuration. */
  readonly path: string
  /** What one thread needs. Can be sent to it; `ports` are transferred. */
  share(): { readonly data: unknown; readonly ports: readonly MessagePort[] }
  /** A thread has used these slots. */
  used(slots: Int32Array): void
  /** A call of a thread has used these slots, and may claim them for longer. */
  hold(slots: Int32Array, claimant: Pick<Call, 'invocation' | 'keepForMs'>): void
  /**
   * Keeps a finished file that a thread has written in the temporary folder of the store. It is the store's from then on. Resolves
   * once every thread finds the blob.
   */
  commit(digest: Digest, file: FinishedFile, call: Call): Promise<void>
  /**
   * Keeps small blobs of a call, or of several with the same claims, as the store's half in the thread has packed them. Resolves once
   * every thread finds them, with those that could not be kept: the place of each among them, and why.
   */
  commitSmall(
    packed: Uint8Array,
    claimant: Pick<Call, 'invocation' | 'keepForMs'>,
  ): Promise<readonly { readonly at: number; readonly error: unknown }[]>
  /** A thread has found a blob gone or damaged that it located so. Resolves once it is dropped, if it is still so. */
  damaged(digest: Digest, slot: number, location: number, why: 'gone' | 'damaged'): Promise<void>
  /** Set by whoever tells the threads: called with the number of a file of records that is deleted. */
  onRetired: ((number: number) => void) | undefined
}

/** What a kind receives to build one store. It gets nested stores from here and knows no other kind. */
export interface BuildContext {
  /** Path of the store in the configuration, for logs and errors: `CAS`, `CAS/fast`. */
  readonly path: string
  /** Builds a nested store; `key` is its key in the options (`backend`, `fast`). */
  child(config: StoreConfig, key: string, options?: ChildOptions): Promise<Store>
  /** Another named store, defined before or after this one. All callers get the same object. */
  named(name: string): Promise<Store>
  /** Says what the store does from now on while it opens, for the warning that it takes long and for errors: `reads its records`. */
  step(doing: string): void
  /** Registers the health probe of a connection to a backend, which is reported beside the store. */
  watch(probe: HealthProbe): void
  /** For a kind that keeps blobs itself: registers a function that returns how much it holds, and one that lists it. */
  holds(usage: () => StoreUsage, list: ListBlobs): void
  /** For a kind that queues uploads: registers a function that returns how much waits. */
  queues(usage: () => UploadQueueUsage): void
  /** For a kind that keeps larger blobs as chunks: registers a function that returns how many bytes were there before. */
  cuts(usage: () => ChunkUsage): void
  /** False if another store keeps the blobs, so that this one promises nothing. */
  readonly keepsPromises: boolean
  /** Set if the process has service threads. */
  readonly threads?: ThreadSharing | undefined
  /** The builds of clients that are alive. */
  readonly invocations: Invocations
  /** The order of the queued uploads of all stores. */
  readonly uploadOrder: UploadOrder
  /** Collects functions that stop what was started. Those of nested stores run later. */
  readonly resources: Resources
  readonly clock: Clock
  readonly log: Log
  /** Receives the credentials that a backend's library gets while the process runs. */
  readonly secrets: SecretLearner
}
