import type { ExperimentalCloudObjectStoreOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { promisedFor, promisesNothing } from '../../contract/promised.js'
import { oneForAll } from '../../contract/thread-use.js'
import { ANSWER_TIMEOUT_MS, retentionMsOf, storeOver } from '../../objects/open.js'
import { openBucket } from './open-bucket.js'

/** Keeps each blob as an object in a bucket: see ObjectStore. */
export const experimentalCloudObjectStore: StoreKind<ExperimentalCloudObjectStoreOptions> = {
  threads: () => oneForAll('its connections, and their bounds, are those of the process'),
  promise: (options) => {
    const retentionS = retentionMsOf(options) / 1000
    return retentionS === 0
      ? promisesNothing('a rule of the bucket may delete any object by its age; lifecycle_days tells it')
      : promisedFor(retentionS, 'if the credentials may write')
  },
  build: async (options, context) => {
    const timeoutMs = options.provider === 'gcs' ? options.read_timeout_s * 1000 : ANSWER_TIMEOUT_MS
    return storeOver(await openBucket(options, context.secrets), options, timeoutMs, context)
  },
}
