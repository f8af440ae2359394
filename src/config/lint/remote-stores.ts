import type { StoreOptions } from '../config.js'
import type { LintContext } from './context.js'

/** Reports a timeout that is set in both units. */
export const lintRedis = (
  options: StoreOptions['redis_store'],
  { findings, originOf, isWritten }: LintContext,
): void => {
  const path = originOf(options)
  if (!isWritten([...path, 'connection_timeout_s']) || !isWritten([...path, 'connection_timeout_ms'])) return
  findings.error([...path, 'connection_timeout_s'], 'connection_timeout_s and connection_timeout_ms say the same', {
    at: 'key',
    expected: 'one of the two',
  })
}

const OF_BLOBS = [
  'use_legacy_resource_names',
  'experimental_read_batching',
  'experimental_remote_cache_compression',
] as const

/**
 * Reports keys for blobs in an action cache, and read batching together with forwarded headers: a batch joins
 * calls of several clients.
 */
export const lintGrpcStore = (options: StoreOptions['grpc'], { findings, originOf, isWritten }: LintContext): void => {
  const path = originOf(options)
  if (options.store_type === 'ac') {
    for (const key of OF_BLOBS) {
      if (!isWritten([...path, key])) continue
      const message = `${key} has no effect: it is about blobs, and this store is an action cache`
      findings.warning([...path, key], message, { at: 'key' })
    }
  } else if (options.forward_headers.length > 0 && options.experimental_read_batching !== undefined) {
    const message = 'experimental_read_batching joins calls of several clients, and forward_headers tells them apart'
    findings.error([...path, 'experimental_read_batching'], message, { at: 'key', expected: 'one of the two' })
  }
}

/** Options of MongoDB addresses, in lower case, that a configuration key replaces. */
const REPLACED: Readonly<Record<string, MongoKey>> = {
  connecttimeoutms: 'connection_timeout_ms',
  serverselectiontimeoutms: 'connection_timeout_ms',
  sockettimeoutms: 'command_timeout_ms',
}
const REPLACED_WHEN_WRITTEN: Readonly<Record<string, MongoKey>> = {
  w: 'write_concern_w',
  journal: 'write_concern_j',
  j: 'write_concern_j',
  wtimeoutms: 'write_concern_timeout_ms',
  wtimeout: 'write_concern_timeout_ms',
}
/** Options of MongoDB addresses that remexec fixes. */
const FIXED: Readonly<Record<string, string>> = {
  retryreads: 'requests are tried again by the store',
  retrywrites: 'requests are tried again by the store',
  heartbeatfrequencyms: 'servers are asked every two seconds',
}

type MongoKey = keyof StoreOptions['experimental_mongo']

/** Reports options of the address that do not reach the driver. */
export const lintMongo = (
  options: StoreOptions['experimental_mongo'],
  { findings, originOf, isWritten }: LintContext,
): void => {
  const path = originOf(options)
  const [, query = ''] = options.connection_string.split('?', 2)
  for (const option of query.split('&')) {
    const [name = ''] = option.split('=', 1)
    const why = whyReplaced(name.toLowerCase(), (key) => isWritten([...path, key]))
    if (why === undefined) continue
    findings.warning([...path, 'connection_string'], `${name} in connection_string has no effect: ${why}`, {
      expected: `an address without ${name}`,
    })
  }
}

const whyReplaced = (name: string, isKeyWritten: (key: MongoKey) => boolean): string | undefined => {
  const written = REPLACED_WHEN_WRITTEN[name]
  const key = REPLACED[name] ?? (written !== undefined && isKeyWritten(written) ? written : undefined)
  return key === undefined ? FIXED[name] : `${key} says it`
}
