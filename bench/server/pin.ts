import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Processors of the servers while `pinApart` is in force, as `taskset` takes them. */
let ofServers: string | undefined

/**
 * Gives the servers the first half of the processors and everything else of the bench the second (`--pin`). Where the
 * kernel places the two ends of a loopback connection is half of what a MiB costs: the same build took 0.6 and 1.2 ms
 * of system time for a Read of 1 MiB, from run to run.
 */
export const pinApart = (): void => {
  const all = allowed()
  const half = Math.floor(all.length / 2)
  if (half === 0) throw new Error(`--pin: expected at least two processors, this process may use ${all.length}`)
  try {
    execFileSync('taskset', ['-a', '-p', '-c', all.slice(half).join(','), String(process.pid)], { stdio: 'ignore' })
  } catch (error) {
    throw new Error('--pin: expected the command taskset (Debian: apt install util-linux)', { cause: error })
  }
  ofServers = all.slice(0, half).join(',')
}

/** The command line that starts a server on its processors. */
export const pinned = (command: string, args: readonly string[]): readonly [string, readonly string[]] =>
  ofServers === undefined ? [command, args] : ['taskset', ['-c', ofServers, command, ...args]]

/** The processors that this process may use. */
const allowed = (): readonly number[] => {
  try {
    const text = execFileSync('taskset', ['-p', '-c', String(process.pid)], { encoding: 'utf8' })
    return (text.split(':').at(-1) ?? '').trim().split(',').flatMap(rangeOf)
  } catch {
    return Array.from({ length: availableParallelism() }, (_, index) => index)
  }
}

const rangeOf = (text: string): readonly number[] => {
  const [first = 0, last = first] = text.split('-').map(Number)
  return Array.from({ length: last - first + 1 }, (_, index) => first + index)
}
