import { readFileSync } from 'node:fs'
import { childrenOf, unlessGone } from '../command/process-facts.js'

export interface GroupUsage {
  readonly processes: number
  /** Sum over all processes. 0 unless `memory` is set. */
  readonly residentBytes: number
}

/**
 * Counts processes and their descendants; stops after exceeding `most`, unless that is 0. All 0 on systems without
 * /proc.
 */
export const groupUsage = (
  of: readonly number[],
  { most, memory }: { readonly most: number; readonly memory: boolean },
): GroupUsage => {
  let processes = 0
  let residentBytes = 0
  const waiting = [...of]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    processes += 1
    if (most > 0 && processes > most) break
    if (memory) residentBytes += residentBytesOf(pid)
    for (const child of childrenOf(pid)) waiting.push(child)
  }
  return { processes, residentBytes }
}

const residentBytesOf = (pid: number): number => {
  const text = unlessGone(() => readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(text ?? '')?.[1] ?? 0) * 1024
}
