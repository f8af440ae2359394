import { entryFor } from '../base/catch-all.js'
import type { Clock } from '../base/clock.js'
import type { Store } from '../blobs/store.js'
import type { FetchServiceOptions, ServicesConfig } from '../config/config.js'
import type { ParentResults } from '../config/parents.js'
import type { DirectoryTrees } from '../content/directory-trees.js'
import { Addresses } from '../download/addresses.js'
import { Downloader } from '../download/downloader.js'
import { Origins } from '../download/origins.js'
import { DigestBatch } from '../reapi/digest-batch.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import type { Service } from '../rpc/rpc.js'
import type { Scope } from '../rpc/scope.js'
import { Downloads } from '../service/asset/downloads.js'
import { fetchService } from '../service/asset/fetch.js'
import type { FetchInstance, PushInstance } from '../service/asset/options.js'
import { pushService } from '../service/asset/push.js'
import { AssetRecords, contentOf } from '../service/asset/records.js'
import type { CasInstance } from '../service/instance.js'
import { withCompleteness } from '../store/kinds/completeness_checking/checking-store.js'
import { firstMissing } from '../store/kinds/completeness_checking/first-missing.js'
import { inInstanceOf } from '../store/scoped/layers.js'
import type { ScopesOfStores } from './result-caches.js'

interface AssetParts {
  /** A named store as an action cache. */
  ac(name: string): Store
  viewOf(instanceName: string, store: Store): Store
  readonly trees: { readonly ofGetTree: DirectoryTrees }
  readonly clock: Clock
  readonly readsOlder: boolean
  readonly scopes: ScopesOfStores
  parentsOf(instanceName: string): readonly ParentResults[]
  atClose(name: string, close: () => Promise<void>): void
}

interface Served {
  readonly services: ServicesConfig
  readonly cas: ReadonlyMap<string, CasInstance>
  readonly digestFunctions: readonly DigestFunction[]
}

/** The services of the Remote Asset API that have an instance. */
export const assetServices = (served: Served, parts: AssetParts): Service[] => {
  const { fetch, push } = served.services
  const fetchInstances = new Map(
    [...fetch].map(([name, options]) => [name, fetchInstance(options, name, served, parts)]),
  )
  const pushInstances = new Map(
    [...push].map(([name, { push_store, read_only }]) => [
      name,
      pushInstance(push_store, read_only, name, served, parts),
    ]),
  )
  const { clock } = parts
  return [
    ...(fetch.size === 0 ? [] : [fetchService({ instances: fetchInstances, clock })]),
    ...(push.size === 0 ? [] : [pushService({ instances: pushInstances, clock })]),
  ]
}

const fetchInstance = (
  { fetch_store, download }: FetchServiceOptions,
  instance: string,
  { services, cas: all, digestFunctions }: Served,
  parts: AssetParts,
): FetchInstance => {
  const { cas } = entryFor(all, instance) ?? {}
  const { push_store, read_only = true } = entryFor(services.push, instance) ?? {}
  const names = [...new Set([fetch_store, push_store ?? fetch_store])]
  const of = { cas, acceptsPushes: !read_only }
  const known = names.map((name) => recordsOf(name, instance, of, parts))
  const downloaded = recordsOf(fetch_store, instance, of, parts)
  const parents = parts.parentsOf(instance).flatMap(({ instanceName }) => {
    const { fetch_store: ofParent } = entryFor(services.fetch, instanceName) ?? {}
    return ofParent === undefined
      ? []
      : [recordsOf(ofParent, instanceName, { ...of, readAs: instanceName }, parts).shared]
  })
  return {
    digestFunctions,
    recordsFor: (scope) => [
      ...(scope === undefined ? [] : known.map(({ own }) => own(scope))),
      ...known.map(({ shared }) => shared),
      ...parents,
    ],
    acceptsPushes: push_store !== undefined,
    downloads: download && cas && downloadsOf(download, { instance, cas, records: downloaded }, parts),
  }
}

const pushInstance = (
  store: string,
  isReadOnly: boolean,
  instance: string,
  { cas: all, digestFunctions }: Served,
  parts: AssetParts,
): PushInstance => {
  const { cas } = entryFor(all, instance) ?? {}
  const records = recordsOf(store, instance, { cas, acceptsPushes: !isReadOnly }, parts)
  return {
    digestFunctions,
    recordsFor: (scope) => (scope === undefined ? records.shared : records.own(scope)),
    firstMissing: async (record, call) => {
      if (cas === undefined) return undefined
      const { blobs, rootDirectories } = contentOf(record)
      const context = { cas, trees: parts.trees.ofGetTree, call }
      return firstMissing({ blobs: DigestBatch.of(blobs), trees: [], rootDirectories }, context)
    },
    isReadOnly,
  }
}

/** `acceptsPushes`: callers may push, so none gains by writing a record of an older version in another way. */
const recordsOf = (
  name: string,
  instance: string,
  { cas, acceptsPushes, readAs }: RecordsOf,
  parts: AssetParts,
): ScopedRecords => {
  const view = parts.viewOf(instance, parts.ac(name))
  const store = withCompleteness(view, cas, parts.trees.ofGetTree)
  const valid = parts.scopes.of(view).valid(store)
  const shared = readAs === undefined ? valid : inInstanceOf(valid, readAs)
  return {
    shared: new AssetRecords(shared, parts.readsOlder && acceptsPushes),
    own: (scope) => new AssetRecords(parts.scopes.of(view).layer(scope, store), false),
  }
}

interface RecordsOf {
  readonly cas: Store | undefined
  readonly acceptsPushes: boolean
  /** The instance in whose name the store is asked, if it is not that of the call. */
  readonly readAs?: string
}

/** The assets of an instance: those that everybody reads, and those of each scope. */
interface ScopedRecords {
  readonly shared: AssetRecords
  readonly own: (scope: Scope) => AssetRecords
}

interface Target {
  readonly instance: string
  readonly cas: Store
  readonly records: ScopedRecords
}

const downloadsOf = (
  options: NonNullable<FetchServiceOptions['download']>,
  { instance, cas, records }: Target,
  { atClose }: AssetParts,
): Downloads => {
  const { allow, deny, ports, allow_addresses, max_redirects, idle_timeout_s, proxy } = options
  const downloader = new Downloader({
    origins: new Origins({ allow, deny, ports }),
    addresses: new Addresses(allow_addresses),
    maxRedirects: max_redirects,
    idleMs: idle_timeout_s * 1000,
    proxy,
  })
  const downloads = new Downloads({
    ...{ downloader, cas },
    recordsFor: (scope) => (scope === undefined ? records.shared : records.own(scope)),
    maxBytes: options.max_size,
    timeoutMs: options.timeout_s * 1000,
    maxConcurrent: options.max_concurrent,
    withoutChecksum: options.without_checksum,
  })
  atClose(`downloads of instance ${JSON.stringify(instance)}`, () => downloads.close())
  return downloads
}
