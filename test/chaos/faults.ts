/** What befalls a fleet while it works, in an order in which each fault meets something that goes on. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Fleet, type FleetWorker, WORKER_TIMEOUT_S } from './fleet.js'

export interface Fault {
  readonly name: string
  /** What comes next waits until the scheduler is there again. */
  readonly ofScheduler?: boolean
  run(fleet: Fleet): Promise<void>
}

/** Long enough for the scheduler to give a worker up, and short enough not to. */
const LONG_MS = 2_500 * WORKER_TIMEOUT_S
const SHORT_MS = 500 * WORKER_TIMEOUT_S

const worker = ({ workers }: Fleet, index: number): FleetWorker => {
  const one = workers[index]
  if (one === undefined) throw new Error(`there is no worker ${index}`)
  return one
}

const kill = (index: number): Fault => ({
  name: `worker ${index} killed`,
  run: (fleet) => fleet.restartWorker(worker(fleet, index)),
})

const stop = (index: number, ms: number): Fault => ({
  name: `worker ${index} stopped for ${ms} ms`,
  run: async (fleet) => {
    const { child } = worker(fleet, index).process
    child.kill('SIGSTOP')
    await sleep(ms)
    child.kill('SIGCONT')
  },
})

const cut = (index: number, ms: number): Fault => ({
  name: `network of worker ${index} cut for ${ms} ms`,
  run: async (fleet) => {
    const { line } = worker(fleet, index)
    line.cut()
    await sleep(ms)
    line.mend()
  },
})

const restart = (signal: 'SIGTERM' | 'SIGKILL'): Fault => ({
  name: `scheduler ended by ${signal} and started again`,
  ofScheduler: true,
  run: (fleet) => fleet.restartScheduler(signal),
})

export const FAULTS: readonly Fault[] = [
  kill(0),
  stop(1, LONG_MS),
  cut(2, LONG_MS),
  restart('SIGTERM'),
  cut(3, SHORT_MS),
  stop(0, SHORT_MS),
  restart('SIGKILL'),
  kill(2),
]
