import type { Store } from '../../../src/blobs/store.js'
import { StoreMetrics } from '../../../src/metrics/store-metrics.js'
import { StoreNode } from '../../../src/store/contract/node.js'

const FAILED = ['error', 'cancelled'] as const
const OPERATIONS = ['read', 'find_missing', 'write'] as const

export interface Counted {
  /** The options in a configuration. */
  readonly store: Store
  /** The failures in the metrics since the last call, `read error: 1`. */
  failures(): string[]
}

export const counted = (backend: Store): Counted => {
  const meter = new StoreMetrics().of({ cacheType: 'TEST', usage: () => undefined })
  const told = new Map<string, number>()
  const failures = (): string[] =>
    OPERATIONS.flatMap((operation) =>
      FAILED.flatMap((result) => {
        const name = `${operation} ${result}`
        const now = meter.valueOf(operation, result)
        const more = now - (told.get(name) ?? 0)
        told.set(name, now)
        return more === 0 ? [] : [`${name}: ${more}`]
      }),
    )
  return { store: new StoreNode(backend, { path: 'TEST', meter }), failures }
}
