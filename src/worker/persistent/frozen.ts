import { readdirSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { guardedTimeout } from '../../base/timers.js'
import { childrenOf, unlessGone } from '../command/process-facts.js'

/** How long processes may take to stop. One that waits for a disk takes longest. */
const PATIENCE_MS = 2_000
/** Looks without a pause before the first one: most processes stop at once. */
const EAGER_LOOKS = 20
const PAUSE_MS = 1
/** Stopped, ended, or gone. */
const STILL = /^[TtZX]?$/

/** All processes of a program that runs as this group leader; with a sandbox those inside it. */
export const processesOf = (leader: number, isConfined: boolean): readonly number[] => {
  const found: number[] = []
  // The monitor of the sandbox has one child, which waits for everything inside.
  const waiting: number[] = isConfined ? childrenOf(leader).flatMap(childrenOf) : [leader]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    found.push(pid)
    waiting.push(...childrenOf(pid))
  }
  return found
}

/**
 * Stops a program and all its processes, so that none can change a file while its outputs are read and its inputs compared and
 * exchanged. Returns the processes, all of which stand still. Undefined if one of them goes on.
 */
export const freeze = async (leader: number, isConfined: boolean): Promise<readonly number[] | undefined> => {
  const untilMs = performance.now() + PATIENCE_MS
  let all = processesOf(leader, isConfined)
  for (let look = 0; performance.now() < untilMs; look++) {
    for (const pid of all) signal(pid, 'SIGSTOP')
    if (look < EAGER_LOOKS) await setImmediate()
    else await new Promise<void>((resolve) => void guardedTimeout(resolve, PAUSE_MS))
    if (!all.every(isStill)) continue
    // What stands still starts nothing: if there is nobody else now, there will be nobody else.
    const now = processesOf(leader, isConfined)
    if (now.every((pid) => all.includes(pid))) return now
    all = now
  }
  return undefined
}

/** Lets processes that were stopped go on. */
export const thaw = (pids: readonly number[]): void => {
  for (const pid of pids) signal(pid, 'SIGCONT')
}

/** Whether a process of the program is stopped. */
export const isAnyStopped = (leader: number, isConfined: boolean): boolean =>
  processesOf(leader, isConfined).some((pid) => /[Tt]/.test(stateOf(`/proc/${pid}/stat`)))

/** All threads: a signal stops them one after the other. */
const isStill = (pid: number): boolean => {
  // The first one tells of most processes that are not.
  if (!STILL.test(stateOf(`/proc/${pid}/stat`))) return false
  const threads = unlessGone(() => readdirSync(`/proc/${pid}/task`)) ?? []
  return threads.every((thread) => STILL.test(stateOf(`/proc/${pid}/task/${thread}/stat`)))
}

/** One letter; empty if the process is gone. */
const stateOf = (path: string): string => {
  const text = unlessGone(() => readFileSync(path, 'latin1')) ?? ''
  return text.slice(text.lastIndexOf(')') + 2).slice(0, 1)
}

const signal = (pid: number, name: 'SIGSTOP' | 'SIGCONT'): void => {
  unlessGone(() => process.kill(pid, name))
}
