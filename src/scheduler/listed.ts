import { TimeSlices } from '../work/time-slices.js'
import { MAX_LISTED_QUEUED, type QueuedOverview, type SchedulerOverview } from './scheduler.js'

/** A queued action with the reason why it waits. */
export interface ListedAction extends Omit<QueuedOverview, 'waitsFor'> {
  readonly waitsFor: string
}

const SLICE_MS = 5

/** One for all who ask, so that many of them do not make a turn longer. */
const slices = new TimeSlices(SLICE_MS)

/** The first 2,000 of a queue. Yields the event loop. */
export const listedOf = async (queue: SchedulerOverview['queue']): Promise<readonly ListedAction[]> => {
  const listed: ListedAction[] = []
  for (const one of queue) {
    if (listed.length === MAX_LISTED_QUEUED) break
    const { waitsFor, ...action } = one.overview()
    listed.push({ ...action, waitsFor: waitsFor() })
    const pause = slices.step()
    if (pause !== undefined) await pause
  }
  return listed
}
