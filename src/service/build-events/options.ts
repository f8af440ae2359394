import type { Clock } from '../../base/clock.js'
import type { Builds } from '../../builds/builds.js'
import type { Ledger } from '../../ledger/ledger.js'

export interface BuildEventOptions {
  readonly builds: Builds
  readonly ledger: Ledger
  readonly clock: Clock
  /** A stream that brings no event for so long is ended; the client may come back. */
  readonly maxSilenceMs: number
}
