import { guardedTimeout } from '../../base/timers.js'
import { numberIn } from './hierarchy.js'

const FIRST_MS = 1
const LONGEST_MS = 50

/** Whether no process is left in the group and those below. One that has ended and was not waited for does not count. */
const isEmpty = (path: string): boolean => numberIn(`${path}/cgroup.events`, 'populated') === 0

/** Waits until a group has no process, at most for `ms`. Returns whether it has none. The end of a process takes a moment. */
export const within = async (ms: number, path: string): Promise<boolean> => {
  const sinceMs = performance.now()
  for (let pauseMs = FIRST_MS; !isEmpty(path); pauseMs = Math.min(2 * pauseMs, LONGEST_MS)) {
    if (performance.now() - sinceMs > ms) return false
    await new Promise<void>((resolve) => void guardedTimeout(resolve, pauseMs))
  }
  return true
}
