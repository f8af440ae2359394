import { entryFor } from '../base/catch-all.js'
import type { Clock } from '../base/clock.js'
import type { FetchServiceOptions, ServicesConfig } from '../config/config.js'
import type { DirectoryTrees } from '../content/directory-trees.js'
import { Addresses } from '../download/addresses.js'
import { Downloader } from '../download/downloader.js'
import { Origins } from '../download/origins.js'
import { DigestBatch } from '../reapi/digest-batch.js'
import type { DigestFunction } from '../reapi/digest-function.js'
import type { Service } from '../rpc/rpc.js'
import { Downloads } from '../service/asset/downloads.js'
import { fetchService } from '../service/asset/fetch.js'
import type { FetchInstance, PushInstance } from '../service/asset/options.js'
import { pushService } from '../service/asset/push.js'
import { AssetRecords, contentOf } from '../service/asset/records.js'
import type { CasInstance } from '../service/instance.js'
import type { Store } from '../store/contract/store.js'
import { withCompleteness } from '../store/kinds/completeness_checking/checking-store.js'
import { firstMissing } from '../store/kinds/completeness_checking/first-missing.js'

interface AssetParts {
  /** A named store as an action cache. */
  ac(name: string): Store
  viewOf(instanceName: string, store: Store): Store
  readonly trees: { readonly ofGetTree: DirectoryTrees }
  readonly clock: Clock
  readonly readsOlder: boolean
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
  const records = recordsOf(fetch_store, instance, of, parts)
  return {
    digestFunctions,
    records: names.map((name) => recordsOf(name, instance, of, parts)),
    acceptsPushes: push_store !== undefined,
    downloads: download && cas && downloadsOf(download, { instance, cas, records }, parts),
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
  return {
    digestFunctions,
    records: recordsOf(store, instance, { cas, acceptsPushes: !isReadOnly }, parts),
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
  { cas, acceptsPushes }: { readonly cas: Store | undefined; readonly acceptsPushes: boolean },
  parts: AssetParts,
): AssetRecords => {
  const store = withCompleteness(parts.viewOf(instance, parts.ac(name)), cas, parts.trees.ofGetTree)
  return new AssetRecords(store, parts.readsOlder && acceptsPushes)
}

interface Target {
  readonly instance: string
  readonly cas: Store
  readonly records: AssetRecords
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
    ...{ downloader, cas, records },
    maxBytes: options.max_size,
    timeoutMs: options.timeout_s * 1000,
    maxConcurrent: options.max_concurrent,
    withoutChecksum: options.without_checksum,
  })
  atClose(`downloads of instance ${JSON.stringify(instance)}`, () => downloads.close())
  return downloads
}
