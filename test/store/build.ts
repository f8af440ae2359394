import { type Clock, systemClock } from '../../src/base/clock.js'
import type { HealthProbe } from '../../src/base/health.js'
import type { ChunkUsage, UploadQueueUsage } from '../../src/blobs/meter.js'
import type { Store } from '../../src/blobs/store.js'
import type { EvictionPolicy, FastSlowOptions, StoreConfig } from '../../src/config/config.js'
import { type Log, silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import { Invocations } from '../../src/rpc/invocations.js'
import type { StoreKind } from '../../src/store/contract/kind.js'
import { UploadOrder } from '../../src/store/contract/upload-order.js'
import { memory } from '../../src/store/kinds/memory/kind.js'
import { Resources } from '../../src/work/resources.js'

/** Stands in options for a store that was passed to `buildStore`. */
export const given: StoreConfig = { kind: 'noop', options: {} }

/** The defaults of `fast_slow`. */
export const tierDefaults = {
  fast_direction: 'both',
  slow_direction: 'both',
  bypass_dedup_threshold_bytes: 0,
  action_result_max_age_s: 0,
  when_slow_is_away: 'fail',
  acknowledge: 'slow',
  upload_queue: { max_bytes: 0, max_count: 100_000, max_concurrent: 16 },
} as const satisfies Omit<FastSlowOptions, 'fast' | 'slow'>

const begunOrder = (): UploadOrder => {
  const order = new UploadOrder()
  order.begin()
  return order
}

/** Builds one store of a kind on given stores, which the options name by their key. */
export const buildStore = async <Options>(
  kind: StoreKind<Options>,
  options: Options,
  {
    children = {},
    clock = systemClock,
    resources = new Resources(silentLog),
    watch = () => {},
    log = silentLog,
    queues = () => {},
    cuts = () => {},
    uploadOrder = begunOrder(),
    invocations = new Invocations(clock),
  }: {
    readonly children?: Record<string, Store>
    readonly clock?: Clock
    /** Stops what the store started. */
    readonly resources?: Resources
    readonly watch?: (probe: HealthProbe) => void
    readonly log?: Log
    readonly queues?: (usage: () => UploadQueueUsage) => void
    readonly cuts?: (usage: () => ChunkUsage) => void
    /** Shared by the stores of a process. */
    readonly uploadOrder?: UploadOrder
    readonly invocations?: Invocations
  } = {},
): Promise<Store> =>
  kind.build(options, {
    path: 'TEST',
    child: async (_config, key) => {
      const child = children[key]
      if (child === undefined) throw new Error(`the test gives no ${key}`)
      return child
    },
    named: async (name) => {
      throw new Error(`the test gives no store ${name}`)
    },
    watch,
    step: () => {},
    holds: () => {},
    queues,
    cuts,
    uploadOrder,
    keepsPromises: true,
    invocations,
    resources,
    clock,
    log,
    secrets: unhiddenSecrets,
  })

export const memoryStore = (policy: Partial<EvictionPolicy> = {}, clock: Clock = systemClock): Promise<Store> =>
  buildStore(
    memory,
    {
      eviction_policy: { max_bytes: 0, evict_bytes: 0, max_seconds: 0, max_count: 0, ...policy },
      ...{ retention: 10_800, when_full: 'break' },
    },
    { clock },
  )
