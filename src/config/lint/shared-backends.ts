import type { StoreConfig, StoreOptions } from '../config.js'
import type { LintContext } from './context.js'

/** Remote stores must not share a location: each would read and overwrite blobs of the other. */
export const lintBackends = (stores: readonly StoreConfig[], { findings, originOf }: LintContext): void => {
  const seen = new Map<string, StoreConfig>()
  for (const store of stores) {
    const backend = backendOf(store)
    if (backend === undefined) continue
    if (seen.has(backend.key)) {
      const message = `another store keeps its blobs in this ${backend.what} under the same key_prefix`
      findings.warning(originOf(store.options), message, {
        found: `key_prefix ${JSON.stringify(backend.prefix)}`,
        expected: 'a key_prefix of its own; to use one store in two places, name it and write ref_store',
      })
    } else seen.set(backend.key, store)
  }
}

interface Backend {
  readonly what: string
  readonly prefix: string
  readonly key: string
}

/** Undefined for local stores and for stores without a known location. */
const backendOf = ({ kind, options }: StoreConfig): Backend | undefined => {
  if (kind === 'redis_store') {
    const prefix = options.key_prefix
    return { what: 'Redis', prefix, key: JSON.stringify([kind, [...options.addresses].sort(), prefix]) }
  }
  if (kind === 'experimental_mongo') {
    const { connection_string, database, cas_collection, key_prefix: prefix } = options
    return {
      what: 'collection',
      prefix,
      key: JSON.stringify([kind, connection_string, database, cas_collection, prefix]),
    }
  }
  if (kind === 'ontap_s3_existence_cache') return bucketOf({ provider: 'ontap', ...options.backend })
  return kind === 'experimental_cloud_object_store' ? bucketOf(options) : undefined
}

type Bucket = Pick<StoreOptions['experimental_cloud_object_store'], 'provider' | 'key_prefix'> &
  Partial<StoreOptions['experimental_cloud_object_store']>

const bucketOf = (options: Bucket): Backend => {
  const {
    provider,
    endpoint,
    account_name,
    account_id,
    namespace,
    sas_url,
    bucket,
    container,
    key_prefix: prefix,
  } = options
  const account = [endpoint, account_name, account_id, namespace, sas_url]
  return { what: 'bucket', prefix, key: JSON.stringify([provider, account, bucket ?? container, prefix]) }
}
