import type { Visit } from '../page.js'
import { mappedInTurns } from '../parts/in-turns.js'
import type { BuildPagesParts } from './invocation.js'
import type { RequestGroup } from './request-groups.js'
import { type BuildRow, READ_BUILDS, rowOf } from './row.js'

/** The builds of the list: those with events, and those of clients that only use the caches. */
export class RecentRows {
  readonly #parts: BuildPagesParts

  constructor(parts: BuildPagesParts) {
    this.#parts = parts
  }

  /** Makes the rows of what is kept already, in slices of time, so that the first reader need not wait for it. */
  async prepare(): Promise<void> {
    await mappedInTurns(this.#parts.builds?.list() ?? [], (kept) => void rowOf(kept))
  }

  async for(visit: Visit): Promise<readonly BuildRow[]> {
    const groups = [...(await this.#parts.requests.all())]
    const mayRead = memoised((instance) => visit.may(READ_BUILDS, instance))
    const rows = await mappedInTurns(this.#parts.builds?.list() ?? [], (kept) =>
      mayRead(kept.summary.about.instance) ? rowOf(kept) : undefined,
    )
    // One that began before the server kept its events has both.
    const ids = new Set(groups.length === 0 ? [] : rows.map(({ id }) => id))
    for (const group of groups) if (mayRead(group.instance) && !ids.has(group.id)) rows.push(rowOfGroup(group))
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

const rowOfGroup = ({ id, instance, firstMs, lastMs, hits, misses }: RequestGroup): BuildRow => ({
  ...{ id, instance, outcome: 'cache only', startedMs: firstMs, tookMs: lastMs - firstMs },
  ...{ command: undefined, patterns: [], user: undefined, host: undefined, branch: undefined, commit: undefined },
  ...{ targetCount: 0, failedTargetCount: 0, testCount: 0, failedTestCount: 0, hits, misses },
})
