import type { ComponentChildren } from 'preact'
import type { Builds } from '../../builds/builds.js'
import type { Details } from '../../builds/detail/details.js'
import type { Kept } from '../../builds/entry.js'
import type { Log } from '../../log/log.js'
import type { RequestRecord } from '../../rpc/request-records.js'
import type { Visit } from '../page.js'
import type { InQueue } from '../parts/in-queue.js'
import type { Active } from '../server/operations.js'
import type { CasOf } from './blob-text.js'
import type { ResultSources, SavedBytesOf } from './cache-use.js'
import type { LinkPatterns } from './link-patterns.js'
import type { RequestGroup, RequestGroups } from './request-groups.js'
import type { LiveCounts } from './row.js'

/** What the pages about builds read. */
export interface BuildPagesParts {
  /** Undefined if no server takes build events. */
  readonly builds: Builds | undefined
  readonly requests: RequestGroups
  readonly live: LiveCounts
  /** Addresses of commits and pull requests elsewhere, with names in braces. */
  readonly links: LinkPatterns
  /** The last requests about actions. */
  readonly records: Iterable<RequestRecord>
  readonly casOf: CasOf
  /** Undefined for an instance that no server serves. */
  readonly sourcesOf: (instance: string) => ResultSources | undefined
  readonly saved: SavedBytesOf
  readonly inQueueOf: (visit: Visit, invocation: string) => Promise<InQueue>
  readonly activeOf: (visit: Visit, invocation: string) => Promise<Active>
  readonly log: Log
}

/** One invocation, as its tabs see it. Without build events it is known by its requests only. */
export interface Seen {
  readonly visit: Visit
  readonly id: string
  readonly instance: string
  /** Absent for a build of a trusted caller. */
  readonly scope: string | undefined
  readonly kept: Kept | undefined
  readonly details: Details | undefined
  /** Whether its client still publishes, and has not said that it ended. */
  readonly isRunning: boolean
  /** What it asked the caches for, the newest first, of the instances whose requests the reader may see. */
  readonly requests: readonly RequestRecord[]
  readonly parts: BuildPagesParts
  /** What is known of its requests; undefined if none is remembered. */
  readonly group: RequestGroup | undefined
  /** Says that the tab has more to show soon. */
  readonly goesOn: () => void
}

/** A part of the page of an invocation, with an address of its own. */
export interface InvocationTab {
  /** Behind the address of the invocation; empty for the first. */
  readonly address: string
  readonly title: string
  /** Whether it also makes sense without build events. */
  readonly needsEvents: boolean
  /** Whether there is something to see; true if left out. */
  readonly isOffered?: (seen: Seen) => boolean
  /** Whether the reader may open a page of another site from it, which may answer this page. */
  readonly opensOthers?: boolean
  readonly body: (seen: Seen) => ComponentChildren | Promise<ComponentChildren>
  /** The same for programs, without what is about the whole invocation. */
  readonly data: (seen: Seen) => object | Promise<object>
}
