import type { ExperimentalCloudObjectStoreOptions } from '../../../config/config.js'
import type { StoreKind } from '../../contract/kind.js'
import { ANSWER_TIMEOUT_MS, storeOver } from '../../objects/open.js'
import { openBucket } from './open-bucket.js'

/** Keeps each blob as an object in a bucket: see ObjectStore. */
export const experimentalCloudObjectStore: StoreKind<ExperimentalCloudObjectStoreOptions> = {
  build: async (options, context) => {
    const timeoutMs = options.provider === 'gcs' ? options.read_timeout_s * 1000 : ANSWER_TIMEOUT_MS
    return storeOver(await openBucket(options, context.secrets), options, timeoutMs, context)
  },
}
