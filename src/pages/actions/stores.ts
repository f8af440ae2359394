import type { Store } from '../../blobs/store.js'
import type { Visit } from '../page.js'

/** What pages read of an instance. */
export interface PageStores {
  readonly cas: Store
  /** The entries of its action cache as they are stored, complete or not. Undefined if it has none. */
  readonly results: Store | undefined
}

/** Undefined for an instance that no server serves. */
export type StoresOf = (instance: string) => PageStores | undefined

/** The stores of an instance for a reader who may read its CAS. Others learn nothing about it. */
export const storesFor = (visit: Visit, instance: string, storesOf: StoresOf): PageStores => {
  const stores = storesOf(instance)
  if (stores === undefined || !visit.may('read_cas', instance))
    throw visit.absent(`instance ${JSON.stringify(instance)}`)
  visit.demand('read_cas', instance)
  return stores
}

/** Whether the reader may see results of actions, and what clients asked about them. */
export const seesResults = (visit: Visit, instance: string): boolean => visit.may('read_ac', instance)
