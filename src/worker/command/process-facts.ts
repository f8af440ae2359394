import { readFileSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'

export interface ProcessFacts {
  /** 0 for the kernel's own. */
  readonly session: number
  readonly isZombie: boolean
  /** Since the machine was started, in hundredths of a second. */
  readonly startTicks: number
  /** Somebody sits before it. */
  readonly hasTerminal: boolean
}

/** What Linux tells of a process through /proc; `undefined` once it is gone. */
export const processFacts = (pid: number): ProcessFacts | undefined => {
  const text = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (text === undefined) return undefined
  // After the name, which may hold anything: state, parent, group, session, terminal; the start is the 20th.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, , , session, terminal] = fields
  const hasTerminal = Number(terminal) !== 0
  return { session: Number(session), isZombie: state === 'Z', startTicks: Number(fields[19]), hasTerminal }
}

/** Processes end while they are looked at, and those of others do not show everything: neither is ours to kill. */
export const unlessGone = <T>(look: () => T): T | undefined => {
  try {
    return look()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return undefined
    throw error
  }
}
