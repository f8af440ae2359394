import { constants } from 'node:os'
import { errnoOf } from '../../base/errno.js'
import type { Libc } from './libc.js'
import { childrenOf, unlessGone } from './process-facts.js'

const { SIGKILL, SIGTERM } = constants.signals
const WAIT_NO_HANG = 1
/** Larger than `struct rusage`. */
const RUSAGE_BYTES = 256

/** Kills all processes of a group that this process may kill. */
export const killGroup = (processGroup: number, libc: Libc | undefined): void => {
  signalGroup(processGroup, SIGKILL, libc)
}

/** Asks all processes of a group to end. */
export const terminateGroup = (processGroup: number, libc: Libc | undefined): void => {
  signalGroup(processGroup, SIGTERM, libc)
}

/**
 * Asks the processes below the monitor of a sandbox to end, and not the monitor: its end would kill them at once. False
 * if there is none yet. The first process inside only waits for the others, and the kernel keeps the signal from it.
 */
export const terminateBelow = (monitor: number): boolean => {
  const found: number[] = []
  const waiting = childrenOf(monitor).flatMap(childrenOf)
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    found.push(pid)
    waiting.push(...childrenOf(pid))
  }
  for (const pid of found) unlessGone(() => process.kill(pid, 'SIGTERM'))
  return found.length > 0
}

/**
 * Whether a process of the group is left, whose leader this process has waited for. Members that have ended and became
 * children of this process are waited for, because they would count.
 */
export const groupIsAlive = (processGroup: number, libc: Libc | undefined): boolean => {
  if (libc !== undefined) {
    const reapsOne = (): boolean =>
      libc.wait(-processGroup, Buffer.alloc(4), WAIT_NO_HANG, Buffer.alloc(RUSAGE_BYTES)) > 0
    while (reapsOne());
  }
  return signalGroup(processGroup, 0, libc)
}

/** False if no process of the group is left that this process may signal. */
const signalGroup = (processGroup: number, signal: number, libc: Libc | undefined): boolean => {
  // Nearly every group is already gone, and Node would create an error for each.
  if (libc !== undefined) return libc.kill(-processGroup, signal) === 0
  try {
    return process.kill(-processGroup, signal)
  } catch (error) {
    // ESRCH: no process is left, as wanted. EPERM: only setuid programs are left, which this process may not kill.
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error
    return false
  }
}
