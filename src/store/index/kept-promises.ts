import type { EvictionPolicy } from '../../config/config.js'
import { SparingLog } from '../../log/sparing-log.js'
import type { BuildContext } from '../contract/kind.js'
import { type Promised, promisedFor, promisesNothing } from '../contract/promised.js'
import type { BlobIndex } from './blob-index.js'
import type { PromiseOptions } from './promises.js'

const RATION = { lines: 1, periodMs: 60_000 }

/** The options of a store that keeps promises itself. */
export interface RetentionOptions {
  /** Seconds; 0 promises nothing. */
  readonly retention: number
  readonly when_full: 'break' | 'refuse'
}

/** What an index promises by the configuration; undefined if its blobs are copies, or nothing is promised. */
export const promisesOf = (
  { retention, when_full: whenFull }: RetentionOptions,
  { keepsPromises, invocations }: Pick<BuildContext, 'keepsPromises' | 'invocations'>,
): PromiseOptions | undefined =>
  keepsPromises && retention > 0 ? { retentionS: retention, whenFull, invocations } : undefined

/** What a store promises that evicts by an index, in words. `condition` is what else it depends on. */
export const promiseOfIndex = (
  { retention, when_full: whenFull, eviction_policy: policy }: RetentionOptions & { eviction_policy: EvictionPolicy },
  condition: string,
): Promised => {
  if (retention === 0) return promisesNothing('its retention is 0')
  const { max_bytes: maxBytes, max_count: maxCount, max_seconds: maxS } = policy
  const isUnbounded = maxBytes === 0 && maxCount === 0 && maxS === 0
  if (isUnbounded) return { retentionS: Number.POSITIVE_INFINITY, words: `everything stays, ${condition}` }
  const full = whenFull === 'refuse' ? 'uploads without room are refused' : 'without room the oldest promise is broken'
  return promisedFor(maxS > 0 ? Math.min(maxS, retention) : retention, `${condition}; ${full}`)
}

/** Logs promises that had to be broken, once a minute. */
export const tellBroken = (
  index: BlobIndex,
  { clock, log, path }: Pick<BuildContext, 'clock' | 'log' | 'path'>,
): void => {
  const lines = new SparingLog(log, clock, RATION)
  index.onBroken = ({ idleS, invocation }) => {
    const advice = 'the store is too small for what is built within its retention: raise max_bytes or lower retention'
    const promisedS = index.retentionMs / 1000
    lines.warn('a promise was broken: a blob was evicted too early', {
      ...{ store: path, unusedForS: Math.round(idleS), promisedS, advice },
      ...(invocation !== undefined && { invocation }),
    })
  }
}
