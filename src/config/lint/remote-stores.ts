import type { StoreOptions } from '../config.js'
import type { LintContext } from './context.js'

/** One time in two units. */
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

/** What is about blobs where there are results, and about clients who are and are not told apart. */
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
