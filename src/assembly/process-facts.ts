import type { DeleteResults, ListedScope, ListKept, ProcessFacts, StoreStatus } from '../admin/process-facts.js'
import type { Clock } from '../base/clock.js'
import { version } from '../base/version.js'
import type { Builds } from '../builds/builds.js'
import type { RecentRows } from '../pages/builds/recent-rows.js'
import type { Overviews } from '../pages/server/sources.js'
import { verdictOf } from '../pages/server/verdict.js'
import type { Usages } from './kept-sizes.js'
import type { Observation } from './observation.js'

export interface FactSources {
  readonly observation: Observation
  readonly builds: Builds | undefined
  readonly recent: RecentRows
  readonly usages: Usages
  readonly overviews: Overviews
  readonly deleteResults: DeleteResults
  readonly listKept: ListKept
  readonly scopes: () => readonly ListedScope[]
  readonly clock: Clock
}

/** What the admin service tells about the process. */
export const processFacts = (sources: FactSources): ProcessFacts => {
  const { observation, builds, recent, usages, overviews, deleteResults, listKept, scopes, clock } = sources
  return {
    status: () => {
      const { word: health, reasons } = verdictOf(observation.health.latest(), overviews)
      const kept = builds?.list() ?? []
      return {
        version: version(),
        startedMs: observation.metrics.startedMs,
        nowMs: clock.now(),
        ...{ health, reasons },
        stores: storesOf(usages),
        results: Object.fromEntries(observation.metrics.executions.results()),
        builds: { kept: kept.length, running: kept.filter(({ isOpen }) => isOpen).length },
      }
    },
    builds: (mayRead) => recent.all(mayRead),
    deleteResults,
    listKept,
    scopes,
  }
}

const storesOf = (usages: Usages): readonly StoreStatus[] =>
  [...usages].flatMap(([name, read]) => {
    const usage = read()
    if (usage === undefined) return []
    const { sizeBytes, maxBytes, entryCount: blobs } = usage
    return [{ name, sizeBytes, maxBytes, blobs }]
  })
