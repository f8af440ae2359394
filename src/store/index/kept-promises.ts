import { SparingLog } from '../../log/sparing-log.js'
import type { BuildContext } from '../contract/kind.js'
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
