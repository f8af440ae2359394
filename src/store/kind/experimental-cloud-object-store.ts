import { Turns } from '../../base/work/turns.js'
import type { ExperimentalCloudObjectStoreOptions } from '../../config/config.js'
import { MAX_CONNECTIONS, openBucket } from '../experimental-cloud-object-store/places.js'
import type { StoreKind } from '../kind.js'
import { ObjectStore } from '../objects/object-store.js'
import { connectionProbe } from '../remote/connection-health.js'
import { Requests } from '../remote/requests.js'

/** How long the object stores of most providers may be silent. */
const ANSWER_TIMEOUT_MS = 30_000

/** Keeps each blob as an object in a bucket: see ObjectStore. */
export const experimentalCloudObjectStore: StoreKind<ExperimentalCloudObjectStoreOptions> = {
  build: async (options, { path, watch, resources, clock, log }) => {
    const bucket = await openBucket(options)
    resources.add(`connections of ${path}`, () => bucket.close())
    const requests = new Requests({
      backend: bucket.name,
      retry: options.retry,
      maxConcurrent: MAX_CONNECTIONS,
      timeoutMs: options.provider === 'gcs' ? options.read_timeout_s * 1000 : ANSWER_TIMEOUT_MS,
      failureOf: (thrown) => bucket.failureOf(thrown),
    })
    const store = new ObjectStore({
      bucket,
      requests,
      partTurns: new Turns({ atATime: options.multipart_max_concurrent_uploads }),
      keyPrefix: options.key_prefix,
      expiresAfterMs: options.consider_expired_after_s * 1000,
      clock,
      log,
    })
    watch(connectionProbe(path, store.connection))
    return store
  },
}
