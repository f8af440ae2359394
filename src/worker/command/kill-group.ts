import { constants } from 'node:os'
import { errnoOf } from '../../base/errno.js'
import type { Libc } from './libc.js'

/** Kills all processes of a group that this process may kill. */
export const killGroup = (processGroup: number, libc: Libc | undefined): void => {
  if (libc !== undefined) {
    // Nearly every group is already gone, and Node would create an error for each.
    libc.kill(-processGroup, constants.signals.SIGKILL)
    return
  }
  try {
    process.kill(-processGroup, 'SIGKILL')
  } catch (error) {
    // ESRCH: no process is left, as wanted. EPERM: only setuid programs are left, which this process may not kill.
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error
  }
}
