import type { LoadResult } from './load/request.js'
import type { Place } from './server/place.js'
import type { Server } from './server/process.js'

/** What the unit of a rate is: CPU is told per operation, or per GiB. */
export type Unit = 'op' | 'MiB'

/** The plain form of what a case cannot do without, measured in the same rounds. */
export interface Limit {
  readonly name: string
  /** Without `bare` the limit runs in this process: SHA-256, file operations, spawns. */
  readonly usesBare: boolean
  /** Takes the place of the bare server: remexec with another configuration, set up as the one that is measured. */
  readonly configure?: RateCase['configure']
  /** As that of the case, which it has unless it says so. */
  readonly env?: RateCase['env']
  run(bare: Server, requests: number, ready: () => Promise<void>): Promise<LoadResult>
}

/** The same work again and again, as fast as it goes: at remexec, at other servers, and its limits. */
export interface RateCase {
  readonly kind: 'rate'
  readonly name: string
  readonly unit: Unit
  /** How many units one request is. */
  readonly unitsPerRequest: number
  /**
   * A run has at least and at most so many requests; how many within that, is found from how long they take. Where one of
   * them is long and runs through much code, time does not tell when V8 has compiled it: `warm` of them do.
   */
  readonly requests: { readonly least: number; readonly most: number; readonly warm?: number }
  /** A configuration of remexec that this case needs; the one of the run otherwise. Other servers cannot take part then. */
  readonly configure?: (dataPath: string) => object
  /** What the server of that configuration finds in its environment. */
  readonly env?: () => Promise<Readonly<Record<string, string>>>
  /** Where the data of that configuration lies. Default the temporary folder of the system. */
  readonly place?: Place
  /** Left out of a quick run. */
  readonly isSlow?: boolean
  /** Once for each server, before the rounds: content in place, answers checked. Throws when the server cannot do it. */
  setUp?(server: Server): Promise<void>
  /** `ready` is awaited by a case that had the server do something first: what it costs counts from there. */
  run(server: Server, requests: number, ready: () => Promise<void>): Promise<LoadResult>
  readonly limits: readonly Limit[]
  tearDown?(): Promise<void>
}

/** One figure that is no rate: a time or an amount, with what it is beside. */
export interface Observation {
  readonly name: string
  readonly unit: 'ms' | 'µs' | 'MiB' | 'MB/s' | 'B/blob' | 'op/s'
  /** One for each round. */
  readonly values: readonly number[]
  readonly beside?: { readonly name: string; readonly values: readonly number[] }
}

/** How to start what is measured. */
export interface Builds {
  /** dist/cli.js of the build to start; this one's when undefined. */
  readonly cli: string | undefined
  readonly profileFolder: string | undefined
  readonly rounds: number
  readonly isQuick: boolean
}

/** Something that happens to a server of its own: a start, a million blobs, an eviction. */
export interface EventCase {
  readonly kind: 'event'
  readonly name: string
  readonly isSlow?: boolean
  observe(builds: Builds): AsyncIterable<Observation>
}

export type Case = RateCase | EventCase
