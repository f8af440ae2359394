import type { ActionFacts, FailedAction, SchedulerOverview } from '../../scheduler/scheduler.js'

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

/** What waits, the oldest first. */
export const waitingIn = (overviews: Overviews): readonly ActiveAction[] =>
  [...overviews]
    .flatMap(([scheduler, { queue }]) =>
      queue.map(
        ({ queuedMs, ...facts }): ActiveAction => ({ ...facts, scheduler, state: 'waiting', sinceMs: queuedMs }),
      ),
    )
    .sort((a, b) => a.sinceMs - b.sinceMs)

/** What failed lately, the newest first. */
export const failedIn = (overviews: Overviews): readonly FailedAction[] =>
  [...overviews.values()].flatMap(({ failed }) => failed).sort((a, b) => b.endedMs - a.endedMs)
