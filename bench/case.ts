import type { LoadResult } from './load/request.js'
import type { Place } from './server/place.js'
import type { Server } from './server/process.js'

/** The unit of a rate: CPU is given per operation, or per GiB. */
export type Unit = 'op' | 'MiB'

/** The minimal form of a case's work, measured in the same rounds. */
export interface Limit {
  readonly name: string
  /** Without `bare` the limit runs in this process: SHA-256, file operations, spawns. */
  readonly usesBare: boolean
  /** The bare server is Node's own HTTP server. */
  readonly isBareHttp?: boolean
  /** Replaces the bare server: remexec with another configuration, set up like the measured one. */
  readonly configure?: RateCase['configure']
  /** Default: the case's own value. */
  readonly env?: RateCase['env']
  run(bare: Server, requests: number, ready: () => Promise<void>): Promise<LoadResult>
}

/** The same work repeated at full speed, on remexec, other servers, and the limits. */
export interface RateCase {
  readonly kind: 'rate'
  readonly name: string
  readonly unit: Unit
  /** How many units one request is. */
  readonly unitsPerRequest: number
  /**
   * Bounds on the requests of a run; the number within them follows from their duration. If one request is long and
   * runs through much code, time does not show when V8 has compiled it: then `warm` requests do.
   */
  readonly requests: { readonly least: number; readonly most: number; readonly warm?: number }
  /** A configuration of remexec for this case; default the one of the run. Other servers cannot take part then. */
  readonly configure?: (dataPath: string) => object
  /** Environment variables for that server. */
  readonly env?: () => Promise<Readonly<Record<string, string>>>
  /** The data directory of that configuration. Default the temporary folder of the system. */
  readonly place?: Place
  /** Left out of a quick run. */
  readonly isSlow?: boolean
  /**
   * Runs once per server before the rounds: uploads content and checks answers. Throws if the server cannot do the
   * work.
   */
  setUp?(server: Server): Promise<void>
  /** `setUp` of another server that has only an HTTP cache (`--http-target`). Without it that server takes no part. */
  setUpHttpTarget?(server: Server): Promise<void>
  /** `ready` is awaited by a case that had the server do something first: what it costs counts from there. */
  run(server: Server, requests: number, ready: () => Promise<void>): Promise<LoadResult>
  readonly limits: readonly Limit[]
  tearDown?(): Promise<void>
}

/** One figure that is not a rate, a time or an amount, with its reference. */
export interface Observation {
  readonly name: string
  readonly unit: 'ms' | 'µs' | 'MiB' | 'MB/s' | 'B/blob' | 'op/s'
  /** One for each round. */
  readonly values: readonly number[]
  readonly beside?: { readonly name: string; readonly values: readonly number[] }
}

/** How to start what is measured. */
export interface Builds {
  /** dist/cli.js of the build to start; default this one. */
  readonly cli: string | undefined
  readonly profileFolder: string | undefined
  readonly rounds: number
  readonly isQuick: boolean
}

/** An event on a separate server: a start, a million blobs, an eviction. */
export interface EventCase {
  readonly kind: 'event'
  readonly name: string
  readonly isSlow?: boolean
  observe(builds: Builds): AsyncIterable<Observation>
}

export type Case = RateCase | EventCase
