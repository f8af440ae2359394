import type { StoreConfig, StoreOptions } from '../config.js'
import { withNested } from '../store-path.js'
import { type LintContext, storeBehind } from './context.js'

type Tiers = StoreOptions['fast_slow']

/** Kinds whose blobs other servers may share. */
export const SHARED_KINDS: readonly StoreConfig['kind'][] = [
  'grpc',
  'redis_store',
  'experimental_cloud_object_store',
  'experimental_mongo',
]

export const lintTiers = (options: Tiers, context: LintContext): void => {
  const { findings, originOf } = context
  const { fast, slow } = options
  const path = originOf(options)
  if (fast.kind === 'noop')
    findings.warning([...path, 'fast'], 'a fast store that keeps nothing makes fast_slow useless')
  if (fast.kind === 'ref_store' && slow.kind === 'ref_store' && fast.options.name === slow.options.name) {
    findings.warning([...path, 'slow'], 'both tiers are the same store', { found: JSON.stringify(slow.options.name) })
  }
  if (options.when_slow_is_away === 'serve_fast' && slow.kind === 'ref_store') {
    const message = 'while the slow store is away the server still counts as not healthy, because a named store does'
    findings.warning([...path, 'slow'], message, {
      found: `ref_store ${JSON.stringify(slow.options.name)} with when_slow_is_away`,
      expected: 'the store itself in its place',
    })
  }
  if (options.acknowledge === 'fast') lintAcknowledged(options, context)
  else if (context.isWritten([...path, 'upload_queue'])) {
    findings.warning([...path, 'upload_queue'], 'nothing is queued, because the slow store acknowledges uploads', {
      expected: 'acknowledge: "fast" beside it',
    })
  }
}

const behind = (store: StoreConfig, { config }: LintContext): StoreConfig | undefined =>
  store.kind === 'ref_store' ? storeBehind(config.stores, store.options.name) : store

/** What is acknowledged must outlast the process and find room, and must have a way to the slow store. */
const lintAcknowledged = (options: Tiers, context: LintContext): void => {
  const { findings, originOf } = context
  const path = originOf(options)
  const [fast, slow] = [behind(options.fast, context), behind(options.slow, context)]
  if (fast !== undefined && fast.kind !== 'filesystem') {
    findings.error([...path, 'acknowledge'], 'the fast store cannot hold uploads until the slow store has them', {
      found: `acknowledge "fast" over ${fast.kind}`,
      expected: 'a filesystem store as fast, whose blobs survive a crash, or acknowledge "slow"',
    })
  }
  if (slow?.kind === 'noop') {
    findings.error([...path, 'acknowledge'], 'there is no slow store to upload to', {
      found: 'acknowledge "fast" before noop',
      expected: 'no acknowledge: with noop the fast store has all blobs anyway',
    })
  }
  for (const key of ['fast_direction', 'slow_direction'] as const) {
    if (options[key] === 'both' || options[key] === 'update') continue
    findings.error([...path, key], 'with acknowledge "fast" both stores must take uploads', {
      found: options[key],
      expected: '"both" or "update"',
    })
  }
  if (options.when_slow_is_away === 'fail') {
    const message = 'while the slow store is away uploads succeed, but lookups fail'
    findings.warning([...path, 'acknowledge'], message, { expected: 'when_slow_is_away: "serve_fast" beside it' })
  }
  const { max_bytes: queueBytes } = options.upload_queue
  const fastBytes = fast?.kind === 'filesystem' ? fast.options.eviction_policy.max_bytes : 0
  if (fastBytes > 0 && queueBytes >= fastBytes) {
    findings.error([...path, 'upload_queue', 'max_bytes'], 'the uploads that wait could fill the whole fast store', {
      found: `${queueBytes} bytes of ${fastBytes}`,
      expected: 'at most half of the max_bytes of the fast store',
    })
  }
}

/** Stores that acknowledge at fast, beside others of the configuration. */
export const lintQueues = (stores: readonly StoreConfig[], context: LintContext): void => {
  const { findings, originOf } = context
  const users = new Set<object>()
  for (const store of stores) {
    if (store.kind !== 'fast_slow' || store.options.acknowledge !== 'fast') continue
    const fast = behind(store.options.fast, context)
    if (fast !== undefined && users.has(fast.options)) {
      findings.error([...originOf(store.options), 'fast'], 'another store acknowledges uploads at this fast store', {
        found: 'one filesystem store below two fast_slow with acknowledge "fast"',
        expected: 'a filesystem store of its own',
      })
    }
    if (fast !== undefined) users.add(fast.options)
  }
  lintResultOrder(context)
  lintWorkersAlone(context)
}

const isQueued = (store: StoreConfig): boolean => store.kind === 'fast_slow' && store.options.acknowledge === 'fast'

/** `store` and all stores in it, references followed. */
const within = (store: StoreConfig | undefined, context: LintContext): readonly StoreConfig[] =>
  store === undefined
    ? []
    : withNested(store).flatMap((one) => {
        if (one.kind !== 'ref_store') return [one]
        const named = behind(one, context)
        return named === undefined ? [] : withNested(named)
      })

/** Results must not be in a shared store before the blobs that they name. */
const lintResultOrder = (context: LintContext): void => {
  const { config, findings, originOf } = context
  const told = new Set<string>()
  for (const { services } of config.servers) {
    const blobs = [...services.cas.values()].map(({ cas_store }) => storeBehind(config.stores, cas_store))
    if (!blobs.some((store) => within(store, context).some(isQueued))) continue
    for (const { ac_store: name } of services.ac.values()) {
      const cache = storeBehind(config.stores, name)
      const all = within(cache, context)
      const shared = all.find(({ kind }) => SHARED_KINDS.includes(kind))
      if (cache === undefined || shared === undefined || all.some(isQueued) || told.has(name)) continue
      told.add(name)
      findings.warning(originOf(cache.options), 'results can be in the shared store before the blobs that they name', {
        found: `an action cache in ${shared.kind}, beside a CAS with acknowledge "fast"`,
        expected: 'fast_slow with acknowledge "fast" before it too, so that results follow their blobs',
      })
    }
  }
}

/** A worker in a process without the server reports outputs that the server could not find yet. */
const lintWorkersAlone = (context: LintContext): void => {
  const { config, findings, originOf } = context
  for (const { server, options } of config.workers) {
    const store = storeBehind(config.stores, options.cas_fast_slow_store)
    if (server !== undefined || !within(store, context).some(isQueued)) continue
    const message = 'outputs would be reported before the server can read them'
    findings.error([...originOf(options), 'cas_fast_slow_store'], message, {
      found: 'acknowledge "fast" in the store of a worker that connects to another process',
      expected: 'acknowledge "slow"',
    })
  }
}
