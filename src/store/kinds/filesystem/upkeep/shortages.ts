import type { Clock } from '../../../../base/clock.js'
import { errnoOf, inWords } from '../../../../base/errno.js'
import { isStatus } from '../../../../base/status-error.js'
import { NoRoomInFlight } from '../../../../ledger/bytes-in-flight.js'
import type { Log } from '../../../../log/log.js'
import { SparingLog } from '../../../../log/sparing-log.js'
import type { Digest } from '../../../../reapi/digest.js'

const RATION = { lines: 1, periodMs: 60_000 }

/** Of a resource that the machine lacks. */
const reasonOf = (error: unknown): string | undefined =>
  isStatus(error, 'RESOURCE_EXHAUSTED') && errnoOf(error.cause) !== undefined ? inWords(error.cause) : undefined

/**
 * Logs resources that a store lacks to accept blobs: disk space, quota, descriptors, room for uploads in progress. Clients get RESOURCE_EXHAUSTED
 * then, which is otherwise not logged, because most such errors are caused by the clients.
 */
export class Shortages {
  readonly #store: string
  readonly #log: SparingLog

  /** `store` is the name of the store in the configuration. */
  constructor(store: string, { clock, log }: { readonly clock: Clock; readonly log: Log }) {
    this.#store = store
    this.#log = new SparingLog(log, clock, RATION)
  }

  /** Called when a blob could not be stored, for whatever reason. */
  met(digest: Digest, error: unknown): void {
    const reason = error instanceof NoRoomInFlight ? error.message : reasonOf(error)
    if (reason === undefined) return
    const fields = { store: this.#store, blob: digest.key, reason }
    this.#log.warn('the store could not keep a blob', fields)
  }
}
