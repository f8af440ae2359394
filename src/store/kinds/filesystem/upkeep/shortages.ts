import type { Clock } from '../../../../base/clock.js'
import { errnoOf, inWords } from '../../../../base/errno.js'
import { isStatus } from '../../../../base/status-error.js'
import type { Log } from '../../../../log/log.js'
import { SparingLog } from '../../../../log/sparing-log.js'
import type { Digest } from '../../../../reapi/digest.js'

const RATION = { lines: 1, periodMs: 60_000 }

/**
 * Logs resources that a store lacks to accept blobs: disk space, quota, descriptors. Clients get RESOURCE_EXHAUSTED
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
    if (!isStatus(error, 'RESOURCE_EXHAUSTED') || errnoOf(error.cause) === undefined) return
    const fields = { store: this.#store, blob: digest.key, reason: inWords(error.cause) }
    this.#log.warn('the store could not keep a blob', fields)
  }
}
