import { readdirSync, readFileSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'

export interface ProcessFacts {
  /** 0 for processes of the kernel. */
  readonly session: number
  readonly isZombie: boolean
  /** Start time since boot, in hundredths of a second. */
  readonly startTicks: number
  /** Whether the process has a controlling terminal. */
  readonly hasTerminal: boolean
}

/** Facts about a process from Linux' /proc; `undefined` once it is gone. */
export const processFacts = (pid: number): ProcessFacts | undefined => {
  const text = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (text === undefined) return undefined
  // After the name, which may contain any character: state, parent, group, session, terminal. The start time is the
  // 20th.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, , , session, terminal] = fields
  const hasTerminal = Number(terminal) !== 0
  return { session: Number(session), isZombie: state === 'Z', startTicks: Number(fields[19]), hasTerminal }
}

/**
 * Undefined if the process has ended meanwhile, or belongs to another user and hides this. Both are not to be killed.
 */
export const unlessGone = <T>(look: () => T): T | undefined => {
  try {
    return look()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return undefined
    throw error
  }
}

/** No effect on one that is gone, or that this process may not kill. */
export const killProcess = (pid: number): void => {
  unlessGone(() => process.kill(pid, 'SIGKILL'))
}

/** The children of a process; none on systems without /proc. */
export const childrenOf = (pid: number): readonly number[] =>
  unlessGone(() =>
    readdirSync(`/proc/${pid}/task`).flatMap((thread) => {
      const text = unlessGone(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'))
      return (text ?? '').split(' ').filter(Boolean).map(Number)
    }),
  ) ?? []
