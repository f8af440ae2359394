import { errnoOf } from '../../base/errno.js'

/** Kills every process of a group that this process may kill. */
export const killGroup = (processGroup: number): void => {
  try {
    process.kill(-processGroup, 'SIGKILL')
  } catch (error) {
    // Nobody is left in the group, which is what was wanted; or a setuid program is, which is not ours to kill.
    if (errnoOf(error) !== 'ESRCH' && errnoOf(error) !== 'EPERM') throw error
  }
}
