import type { Clock } from '../../base/clock.js'
import type { Builds } from '../../builds/builds.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Invocations } from '../../rpc/invocations.js'

export interface BuildEventOptions {
  readonly builds: Builds
  readonly ledger: Ledger
  readonly clock: Clock
  /** Told about open streams, so that stores keep what a running build used. */
  readonly invocations: Invocations
  /** A stream that brings no event for so long is ended; the client may come back. */
  readonly maxSilenceMs: number
}
