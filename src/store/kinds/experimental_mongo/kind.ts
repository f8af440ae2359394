import { StatusError } from '../../../base/status-error.js'
import type { ExperimentalMongoOptions } from '../../../config/config.js'
import { Semaphore } from '../../../work/semaphore.js'
import type { StoreKind } from '../../contract/kind.js'
import { promisesNothing } from '../../contract/promised.js'
import { oneForAll } from '../../contract/thread-use.js'
import { ObjectStore } from '../../objects/object-store.js'
import { connectionProbe } from '../../remote/connection-health.js'
import { Requests } from '../../remote/requests.js'
import { MongoConnection } from './connection.js'
import { MongoBucket } from './mongo-bucket.js'

/** A document is limited to 16 MB. The fields beside the bytes of a chunk need far less than the difference. */
const MAX_CHUNK_BYTES = 15 * 1024 * 1024

/** After a lost connection the server counts as lost until the driver's next check, at most twice a second. */
const RETRY = { max_retries: 2, delay: 0.2, jitter: 0.5, budget_s: 30 }

/** Concurrent parts of all uploads, with 4 MiB of chunks each. */
const PARTS_AT_A_TIME = 8

/** Keeps blobs as documents: see MongoBucket. The server starts even if MongoDB cannot be reached. */
export const experimentalMongo: StoreKind<ExperimentalMongoOptions> = {
  threads: () => oneForAll('its connections, and their bounds, are those of the process'),
  promise: () => promisesNothing('what deletes documents is not known here'),
  build: async (options, { path, watch, resources, clock, log }) => {
    const { read_chunk_size: chunkBytes, command_timeout_ms: timeoutMs } = options
    if (chunkBytes > MAX_CHUNK_BYTES) {
      const message = `read_chunk_size is ${chunkBytes} bytes, expected at most ${MAX_CHUNK_BYTES}: MongoDB takes 16 MB`
      throw new StatusError('INVALID_ARGUMENT', message)
    }
    const connection = await MongoConnection.open({
      connectionString: options.connection_string,
      connectTimeoutMs: options.connection_timeout_ms,
      commandTimeoutMs: timeoutMs,
      writeConcern: writeConcernOf(options),
    })
    const { database, cas_collection: collection } = options
    const bucket = new MongoBucket({ connection, database, collection, chunkBytes, log })
    resources.add(`connections of ${path}`, () => bucket.close())
    const store = new ObjectStore({
      bucket,
      requests: new Requests({
        backend: bucket.name,
        retry: RETRY,
        maxConcurrent: options.max_requests ?? 0,
        timeoutMs,
        failureOf: (thrown) => bucket.failureOf(thrown),
      }),
      partSlots: new Semaphore({ permits: PARTS_AT_A_TIME }),
      keyPrefix: options.key_prefix,
      expiresAfterMs: 0,
      clock,
      log,
    })
    watch(connectionProbe(path, store.connection))
    return store
  },
}

const writeConcernOf = (options: ExperimentalMongoOptions) => {
  const { write_concern_w: w, write_concern_j: journal, write_concern_timeout_ms: wtimeoutMS } = options
  if (w === undefined) {
    if (journal === undefined && wtimeoutMS === undefined) return undefined
    const message = 'write_concern_j and write_concern_timeout_ms need write_concern_w, which is not set'
    throw new StatusError('INVALID_ARGUMENT', message)
  }
  return {
    // The driver's type knows only one name, but a replica set may define its own.
    w: /^\d+$/.test(w) ? Number(w) : (w as 'majority'),
    ...(journal === undefined ? {} : { journal }),
    ...(wtimeoutMS === undefined ? {} : { wtimeoutMS }),
  }
}
