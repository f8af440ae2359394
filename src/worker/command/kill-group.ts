import { constants } from 'node:os'
import { errnoOf } from '../../base/errno.js'
import type { Libc } from './libc.js'

/** Kills every process of a group that this process may kill. */
export const killGroup = (processGroup: number, libc: Libc | undefined): void => {
  if (libc !== undefined) {
    // Node would make an error of each group that is gone, which nearly each is.
    libc.kill(-processGroup, constants.signals.SIGKILL)
    return
  }
  try {
    process.kill(-processGroup, 'SIGKILL')
  } catch (error) {
    // Nobody is left in the group, which is what was wanted; or a setuid program is, which is not ours to kill.
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error
  }
}
