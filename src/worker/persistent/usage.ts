import { readFileSync, writeFileSync } from 'node:fs'
import { unlessGone } from '../command/process-facts.js'
import type { ProgramUsage } from '../command/starter.js'

const TICK_MS = 10
/** Resets the peak of a process (proc(5), clear_refs). */
const RESET_PEAK = '5'

/** What a program has used at one moment. */
export interface UsageSoFar {
  readonly userMs: number
  readonly systemMs: number
  /** Of its largest process, since `begin`. */
  readonly peakResidentBytes: number
  /** Of all its processes, now. */
  readonly residentBytes: number
}

/** Begins to measure the peak of memory for a request. */
export const beginUsage = (pids: readonly number[]): UsageSoFar => {
  for (const pid of pids) unlessGone(() => writeFileSync(`/proc/${pid}/clear_refs`, RESET_PEAK))
  return usageSoFar(pids)
}

export const usageSoFar = (pids: readonly number[]): UsageSoFar => {
  const sum = { userMs: 0, systemMs: 0, peakResidentBytes: 0, residentBytes: 0 }
  for (const pid of pids) {
    const text = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
    if (text === undefined) continue
    // Behind the name, fields 14 to 17 of proc(5): own time, and that of children that were waited for.
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 15)
      .map(Number)
    sum.userMs += (user + childUser) * TICK_MS
    sum.systemMs += (system + childSystem) * TICK_MS
    const status = unlessGone(() => readFileSync(`/proc/${pid}/status`, 'latin1')) ?? ''
    sum.peakResidentBytes = Math.max(sum.peakResidentBytes, kibOf(status, 'VmHWM') * 1024)
    sum.residentBytes += kibOf(status, 'VmRSS') * 1024
  }
  return sum
}

/** What a request used. The time of a process that has ended meanwhile counts for its parent. */
export const usageBetween = (before: UsageSoFar, after: UsageSoFar): ProgramUsage => ({
  userMs: Math.max(0, after.userMs - before.userMs),
  systemMs: Math.max(0, after.systemMs - before.systemMs),
  peakResidentBytes: after.peakResidentBytes,
})

const kibOf = (status: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0)
