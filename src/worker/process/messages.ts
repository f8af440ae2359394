import type { HealthStatus } from '../../base/health.js'
import type { CodeName } from '../../base/status-error.js'
import type { LocalWorkerOptions } from '../../config/config.js'
import type { LogLevel } from '../../log/log.js'

/**
 * What a server and the process of one of its workers say to each other over the channel between parent and child, beside
 * the worker API: how the worker is to be, and how it is. Nothing of it is seen in arguments or the environment.
 */
export interface StartWorker {
  readonly kind: 'start'
  readonly name: string
  readonly options: LocalWorkerOptions
  /** `host:port` where the worker API was bound. */
  readonly address: string
  /** Says who the worker is, where the configuration does not. */
  readonly token: string | undefined
  /** Opens the stores of the server to this process alone. */
  readonly storeKey: string
  readonly writesResults: boolean
  /** Paths that confined actions do not see. */
  readonly hidden: readonly string[]
  /** What the log of the server writes: the rest is not sent to it. */
  readonly logLevel: LogLevel
}

/** Let what runs end within that time, then end. */
export interface StopWorker {
  readonly kind: 'stop'
  readonly drainMs: number
}

export type ToWorkerProcess = StartWorker | StopWorker

export type FromWorkerProcess =
  | { readonly kind: 'started' }
  | { readonly kind: 'failed'; readonly code: CodeName | number; readonly message: string }
  | { readonly kind: 'health'; readonly status: HealthStatus }
  | {
      readonly kind: 'log'
      readonly level: LogLevel
      readonly message: string
      readonly fields: Readonly<Record<string, unknown>>
    }
