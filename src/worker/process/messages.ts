import type { HealthStatus } from '../../base/health.js'
import type { CodeName } from '../../base/status-error.js'
import type { LocalWorkerOptions } from '../../config/config.js'
import type { LogLevel } from '../../log/log.js'

/**
 * Messages between a server and one of its worker processes over the channel between parent and child, beside the
 * worker API: configuration, health and log. They are not visible in arguments or the environment.
 */
export interface StartWorker {
  readonly kind: 'start'
  readonly name: string
  readonly options: LocalWorkerOptions
  /** `host:port` where the worker API was bound. */
  readonly address: string
  /** Authenticates the worker, if the configuration has no credentials. */
  readonly token: string | undefined
  /** Gives this process access to the stores of the server. */
  readonly storeKey: string
  readonly writesResults: boolean
  /** Paths that confined actions do not see. */
  readonly hidden: readonly string[]
  /** The log level of the server. Lines below it are not sent. */
  readonly logLevel: LogLevel
}

/** Asks the worker to finish its actions within `drainMs` and then exit. */
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
