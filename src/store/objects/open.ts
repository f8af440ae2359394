import { readFile } from 'node:fs/promises'
import { StatusError } from '../../base/status-error.js'
import type { ExperimentalCloudObjectStoreOptions } from '../../config/config.js'
import { certificatesOf } from '../../tls/pem.js'
import { Semaphore } from '../../work/semaphore.js'
import type { BuildContext } from '../contract/kind.js'
import { connectionProbe } from '../remote/connection-health.js'
import { Requests } from '../remote/requests.js'
import type { Bucket } from './bucket.js'
import { ObjectStore } from './object-store.js'
import { PROMISED, Refresher } from './refresher.js'

/** Connections to one provider, which is also the number of concurrent requests. A few hundred saturate the network. */
export const MAX_CONNECTIONS = 256

/** Response timeout for most providers. */
export const ANSWER_TIMEOUT_MS = 30_000

/** Default part size for ONTAP. */
export const ONTAP_PART_BYTES = 20_000_000

const DAY_MS = 24 * 3_600_000

/** The options common to all buckets. */
type BucketOptions = Pick<
  ExperimentalCloudObjectStoreOptions,
  'key_prefix' | 'retry' | 'consider_expired_after_s' | 'multipart_max_concurrent_uploads'
> &
  Partial<Pick<ExperimentalCloudObjectStoreOptions, 'lifecycle_days'>>

/** Creates the store over a bucket, closes the bucket at the end, and registers its health probe. */
export const storeOver = (
  bucket: Bucket,
  options: BucketOptions,
  timeoutMs: number,
  { path, watch, resources, clock, log, keepsPromises }: BuildContext,
): ObjectStore => {
  resources.add(`connections of ${path}`, () => bucket.close())
  const requests = new Requests({
    backend: bucket.name,
    retry: options.retry,
    maxConcurrent: MAX_CONNECTIONS,
    timeoutMs,
    failureOf: (thrown) => bucket.failureOf(thrown),
  })
  const expiresAfterMs = options.consider_expired_after_s * 1000
  const lifecycleMs = lifecycleMsOf(options)
  const refreshes = keepsPromises && lifecycleMs > 0
  const refresher = refreshes ? new Refresher({ bucket, requests, lifecycleMs, path, clock, log }) : undefined
  if (refresher !== undefined) resources.add(`refreshed objects of ${path}`, () => refresher.close())
  const store = new ObjectStore({
    bucket,
    requests,
    partSlots: new Semaphore({ permits: options.multipart_max_concurrent_uploads }),
    keyPrefix: options.key_prefix,
    expiresAfterMs,
    refresher,
    clock,
    log,
  })
  watch(connectionProbe(path, store.connection))
  return store
}

/** The age at which an object in use is lost; 0 if it is not known. */
const lifecycleMsOf = ({
  lifecycle_days: days = 0,
  consider_expired_after_s: expiresAfterS,
}: BucketOptions): number => {
  if (days === 0 || expiresAfterS === 0) return days * DAY_MS
  return Math.min(days * DAY_MS, expiresAfterS * 1000)
}

/** How long an object is there at least after its last use; 0 for no promise. */
export const retentionMsOf = (options: BucketOptions): number => PROMISED * lifecycleMsOf(options)

/** Checks that an address uses TLS unless HTTP is allowed. The error contains no secrets of the address. */
export const allowedAddress = (address: string, allowsHttp: boolean): string => {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol === 'https:' || (url?.protocol === 'http:' && allowsHttp)) return address
  const expected = url?.protocol === 'http:' ? 'https://, or insecure_allow_http' : 'one with https://'
  throw new StatusError('FAILED_PRECONDITION', `the address ${url?.origin ?? ''} is not allowed, expected ${expected}`)
}

/**
 * Reads the PEM of `root_certificates`. INVALID_ARGUMENT if it has no certificate, because no server would be trusted.
 */
export const authorities = async (path: string | undefined): Promise<string | undefined> => {
  if (path === undefined) return undefined
  const pem = await readFile(path)
  certificatesOf(pem, 'root_certificates')
  return pem.toString()
}
