import {
  type ActionFacts,
  type FailedAction,
  MAX_LISTED_QUEUED,
  type QueuedAction,
  type SchedulerOverview,
} from '../../scheduler/scheduler.js'
import { eachInTurns, mappedInTurns, sortedInTurns } from '../parts/in-turns.js'

/** An action that waits or runs now. */
export interface ActiveAction extends Partial<ActionFacts> {
  readonly scheduler: string
  /** In words; `waiting` in the queue. */
  readonly state: string
  readonly sinceMs: number
  /** Undefined while it waits. */
  readonly worker?: string
  /** Why it waits. */
  readonly waitsFor?: string
  readonly attempts?: number
  readonly priority?: number
}

/** What goes on of a build. */
export interface Active {
  readonly running: readonly ActiveAction[]
  readonly waiting: number
}

type Overviews = ReadonlyMap<string, SchedulerOverview>

/** What runs, the oldest first. */
export const runningIn = (overviews: Overviews): readonly ActiveAction[] =>
  [...overviews]
    .flatMap(([scheduler, { workers }]) =>
      workers.flatMap(({ id, attempts }) =>
        attempts.map(
          ({ startedMs, ...facts }): ActiveAction => ({ ...facts, scheduler, worker: id, sinceMs: startedMs }),
        ),
      ),
    )
    .sort((a, b) => a.sinceMs - b.sinceMs)

/** An action that waits. Why it does is looked up for those that are shown: it takes a look at every worker. */
export interface WaitingAction extends Omit<ActiveAction, 'waitsFor'> {
  readonly why: () => string
}

export interface Waiting {
  /** At most 2,000 of each scheduler, the oldest first. */
  readonly listed: readonly WaitingAction[]
  /** All of them. */
  readonly count: number
}

/** What waits and `fits`. Yields the event loop. */
export const waitingIn = async (overviews: Overviews, fits: (one: QueuedAction) => boolean): Promise<Waiting> => {
  let count = 0
  const listed: WaitingAction[] = []
  for (const [scheduler, { queue }] of overviews) {
    let ofScheduler = 0
    const rows = await mappedInTurns(queue, (one): WaitingAction | undefined => {
      if (!fits(one)) return undefined
      count += 1
      if (++ofScheduler > MAX_LISTED_QUEUED) return undefined
      const { queuedMs, waitsFor: why, ...facts } = one.overview()
      return { ...facts, scheduler, state: 'waiting', sinceMs: queuedMs, why }
    })
    for (const row of rows) listed.push(row)
  }
  return { listed: await sortedInTurns(listed, (a, b) => a.sinceMs - b.sinceMs), count }
}

/** The actions of a page, with the reason why each waits. Yields the event loop. */
export const explained = (shown: readonly WaitingAction[]): Promise<readonly ActiveAction[]> =>
  eachInTurns(shown, ({ why, ...action }) => ({ ...action, waitsFor: why() }))

/** What failed lately, the newest first. */
export const failedIn = (overviews: Overviews): readonly FailedAction[] =>
  [...overviews.values()].flatMap(({ failed }) => failed).sort((a, b) => b.endedMs - a.endedMs)
