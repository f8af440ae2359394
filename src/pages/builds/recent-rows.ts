import type { Builds } from '../../builds/builds.js'
import { mappedInTurns } from '../parts/in-turns.js'
import { nameOfGroup, outcomeOfGroup, type RequestGroup, type RequestGroups } from './request-groups.js'
import { type BuildRow, type LiveCounts, rowOf } from './row.js'

interface RecentParts {
  /** Undefined if no server takes build events. */
  readonly builds: Builds | undefined
  readonly requests: RequestGroups
  readonly live: LiveCounts
}

/** The builds of the list: those with events, and those of clients that only use the caches. */
export class RecentRows {
  readonly #parts: RecentParts

  constructor(parts: RecentParts) {
    this.#parts = parts
  }

  /** Makes the rows of what is kept already, in slices of time, so that the first reader need not wait for it. */
  async prepare(): Promise<void> {
    await mappedInTurns(this.#parts.builds?.list() ?? [], (kept) => void rowOf(kept, this.#parts.live))
  }

  /** Those of the instances that the reader may read. */
  async all(mayReadIn: (instance: string) => boolean): Promise<readonly BuildRow[]> {
    const groups = [...(await this.#parts.requests.all())]
    const mayRead = memoised(mayReadIn)
    const rows = await mappedInTurns(this.#parts.builds?.list() ?? [], (kept) =>
      mayRead(kept.summary.about.instance) ? rowOf(kept, this.#parts.live) : undefined,
    )
    // One that began before the server kept its events has both.
    const nameOf = ({ id, scope = '' }: Pick<BuildRow, 'id' | 'scope'>): string => `${scope}\0${id}`
    const known = new Set(groups.length === 0 ? [] : rows.map(nameOf))
    for (const group of groups) if (mayRead(group.instance) && !known.has(nameOf(group))) rows.push(rowOfGroup(group))
    return rows
  }
}

const memoised = (ask: (instance: string) => boolean): ((instance: string) => boolean) => {
  const known = new Map<string, boolean>()
  return (instance) => {
    const answer = known.get(instance) ?? ask(instance)
    known.set(instance, answer)
    return answer
  }
}

const rowOfGroup = (group: RequestGroup): BuildRow => {
  const { id, instance, scope, firstMs, lastMs, hits, misses, ran, failed } = group
  return {
    ...{ id, instance, scope, outcome: outcomeOfGroup(group), startedMs: firstMs, tookMs: lastMs - firstMs },
    ...{ command: undefined, patterns: [], user: undefined, host: undefined, branch: undefined, commit: undefined },
    ...{ targetCount: 0, failedTargetCount: 0, testCount: 0, failedTestCount: 0, flakyTestCount: 0, hits, misses },
    ...{ countedBy: 'server', name: nameOfGroup(group), executions: { count: ran, failed } },
  }
}
