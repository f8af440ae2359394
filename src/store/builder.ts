import type { Clock } from '../base/clock.js'
import { startFailure } from '../base/errno.js'
import type { HealthProbe } from '../base/health.js'
import { StatusError } from '../base/status-error.js'
import type { ListBlobs } from '../blobs/listing.js'
import type { ChunkUsage, MeteredStore, StoreMeter, StoreUsage, UploadQueueUsage } from '../blobs/meter.js'
import type { Store } from '../blobs/store.js'
import type { StoreConfig, StoreOptions } from '../config/config.js'
import { storePath } from '../config/store-path.js'
import type { Log } from '../log/log.js'
import type { SecretLearner } from '../log/secrets.js'
import { internalCall } from '../rpc/call.js'
import { Invocations } from '../rpc/invocations.js'
import type { Resources } from '../work/resources.js'
import { cacheTypeOf } from './cache-type.js'
import type { BuildContext, ChildOptions, ThreadSharing } from './contract/kind.js'
import { StoreNode } from './contract/node.js'
import { UploadOrder } from './contract/upload-order.js'
import { kinds } from './kinds/kinds.js'
import { OpeningStores } from './opening-stores.js'
import { structNameOf } from './struct-name.js'

export interface BuilderParts {
  readonly resources: Resources
  readonly clock: Clock
  readonly log: Log
  readonly secrets: SecretLearner
  /** The builds of clients that are alive; none by default. */
  readonly invocations?: Invocations
  /** Named stores that only hold results of actions. They promise nothing: a result that is gone is built again. */
  readonly resultStores?: ReadonlySet<string>
  /** Set if the process has service threads. */
  readonly threads?: ThreadSharing | undefined
  /** Receives the health probe of every store, nested ones included (`/stores/CAS`, `/stores/CAS/fast`). */
  watch(probe: HealthProbe): void
  /** Receives every store with metrics of its own, nested ones included, and returns its meter. */
  meter?(store: MeteredStore): StoreMeter
  /** Receives what each store keeps, by its path. */
  readonly usages?: Map<string, () => StoreUsage | undefined>
  /** Receives how to list each store that keeps blobs itself, by its path. */
  readonly listers?: Map<string, ListBlobs>
}

/** Builds every named store of a configuration exactly once. References may point forward or back. */
export const buildStores = async (
  configs: ReadonlyMap<string, StoreConfig>,
  parts: BuilderParts,
): Promise<ReadonlyMap<string, Store>> => {
  const builder = new Builder(configs, parts)
  const stores = new Map<string, Store>()
  for (const name of configs.keys()) stores.set(name, await builder.named(name, []))
  builder.uploadOrder.begin()
  return stores
}

class Builder {
  readonly uploadOrder: UploadOrder
  readonly #configs: ReadonlyMap<string, StoreConfig>
  readonly #parts: BuilderParts
  readonly #invocations: Invocations
  /** Builds the named stores. */
  readonly #root: Builder
  readonly #named = new Map<string, Promise<StoreNode>>()
  readonly #opening: OpeningStores

  constructor(configs: ReadonlyMap<string, StoreConfig>, parts: BuilderParts, root?: Builder) {
    this.#configs = configs
    this.#parts = parts
    this.#opening = root === undefined ? new OpeningStores(parts) : root.#opening
    this.#root = root ?? this
    this.#invocations = root === undefined ? (parts.invocations ?? new Invocations(parts.clock)) : root.#invocations
    this.uploadOrder = root?.uploadOrder ?? new UploadOrder()
  }

  /** `users` are the named stores whose construction waits for this one. */
  async named(name: string, users: readonly string[]): Promise<StoreNode> {
    const config = this.#configs.get(name)
    if (config === undefined) {
      const known = [...this.#configs.keys()].join(', ')
      throw new StatusError('INVALID_ARGUMENT', `there is no store named ${name}, expected one of ${known}`)
    }
    if (users.includes(name)) {
      throw new StatusError(
        'INVALID_ARGUMENT',
        `the stores ${[...users, name].join(' -> ')} refer to each other in a circle`,
      )
    }
    const known = this.#named.get(name)
    if (known !== undefined) return known
    const keepsPromises = this.#parts.resultStores?.has(name) !== true
    const building = this.#build(config, name, [...users, name], keepsPromises)
    this.#named.set(name, building)
    const store = await building
    this.#watch(store, name, config)
    this.#parts.log.debug('built a store', { store: name, path: storePath(config, this.#configs) })
    return store
  }

  async #child(config: StoreConfig, path: string, users: readonly string[], options: ChildOptions): Promise<StoreNode> {
    // A named store may be needed elsewhere, so it keeps its own health.
    if (options.isOptional === true && config.kind !== 'ref_store')
      return this.#optional().#child(config, path, users, { ...options, isOptional: false })
    const store = await this.#build(config, path, users, options.holdsCopies !== true)
    // A reference is the store it names, not a component of its own.
    if (config.kind !== 'ref_store') this.#watch(store, path, config)
    return store
  }

  /** A builder of stores that may fail without harm to the store above them. */
  #optional(): Builder {
    const { watch } = this.#parts
    const parts = { ...this.#parts, watch: (probe: HealthProbe) => watch({ ...probe, isOptional: true }) }
    return new Builder(this.#configs, parts, this.#root)
  }

  async #build(config: StoreConfig, path: string, users: readonly string[], keepsPromises = true): Promise<StoreNode> {
    const { resources, clock, log, secrets, watch, threads } = this.#parts
    let usage: (() => StoreUsage) | undefined
    let queue: (() => UploadQueueUsage) | undefined
    let chunks: (() => ChunkUsage) | undefined
    let step: string | undefined
    const context: BuildContext = {
      path,
      // What is below a store of copies holds copies too.
      child: (childConfig, key, options = {}) =>
        this.#child(childConfig, `${path}/${key}`, users, { ...(!keepsPromises && { holdsCopies: true }), ...options }),
      named: (name) => this.#root.named(name, users),
      step: (doing) => {
        step = doing
        this.#opening.step(path, doing)
      },
      watch,
      holds: (reader, list) => {
        usage = reader
        this.#parts.listers?.set(path, list)
      },
      queues: (reader) => {
        queue = reader
      },
      cuts: (reader) => {
        chunks = reader
      },
      keepsPromises,
      threads,
      invocations: this.#invocations,
      uploadOrder: this.uploadOrder,
      resources,
      clock,
      log,
      secrets,
    }
    const store = await this.#opening.watch(config, path, () => build(config, context, () => step))
    if (store instanceof StoreNode) return store
    const metered = {
      cacheType: cacheTypeOf(config, path),
      ...{ usage: () => usage?.(), uploadQueue: () => queue?.(), chunks: () => chunks?.() },
    }
    const meter = this.#parts.meter?.(metered)
    this.#parts.usages?.set(path, metered.usage)
    return new StoreNode(store, { path, ...(meter && { meter }) })
  }

  #watch(store: StoreNode, path: string, config: StoreConfig): void {
    const { watch, log } = this.#parts
    watch({
      namespace: `/stores/${path}`,
      component: `stores/${path}`,
      structName: structNameOf(config, this.#configs),
      check: (signal) => store.health(internalCall({ signal, log })),
    })
  }
}

const build = async <Name extends keyof StoreOptions>(
  config: { readonly kind: Name; readonly options: StoreOptions[Name] },
  context: BuildContext,
  stepNow: () => string | undefined,
): Promise<Store> => {
  try {
    const kind = await kinds[config.kind].load()
    return await kind.build(config.options, context)
  } catch (error) {
    // The message of a nested store begins with its own, longer path.
    if (error instanceof StatusError && error.message.startsWith(`store ${context.path}/`)) throw error
    throw startFailure(`store ${context.path}`, error, stepNow())
  }
}
