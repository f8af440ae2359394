import type { Clock } from '../base/clock.js'
import type { Log } from '../log/log.js'
import type { Invocation } from './invocation.js'

export interface BuildsOptions {
  readonly path: string
  readonly maxBytes: number
  /** Since the last event. 0 keeps invocations until the other bounds are reached. */
  readonly maxAgeMs: number
  readonly maxInvocations: number
  /** Events of one invocation before compression; of further ones only the number is kept. */
  readonly maxInvocationBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** A stream or call that publishes to an invocation, until it leaves. */
export interface Joined {
  readonly invocation: Invocation
  readonly invocationId: string
  /** Idempotent. */
  leave(): Promise<void>
}
