import { availableParallelism, totalmem } from 'node:os'
import type { Clock } from '../../base/clock.js'
import type { LocalWorkerOptions } from '../../config/config.js'
import type { Log } from '../../log/log.js'
import type { Launcher } from '../command/launcher.js'
import { Pool } from './pool.js'

export interface PoolParts {
  readonly options: LocalWorkerOptions
  readonly launcher: Launcher
  /** Whether commands learn paths beside their input roots: a process has one root for many actions. */
  readonly writesBesideRoot: boolean
  readonly clock: Clock
  readonly log: Log
}

const LEAST_PROCESSES = 8
/** Of the memory of the machine. */
const MEMORY_SHARE = 1 / 4

/** The persistent workers of a worker; undefined if it keeps none. */
export const openPool = ({ options, launcher, writesBesideRoot, clock, log }: PoolParts): Pool | undefined => {
  const { persistent_workers: wanted, input_root_is_root: isRoot, max_inflight_tasks: places } = options
  if (!wanted.enabled || isRoot || writesBesideRoot) return undefined
  if (launcher.libc === undefined) {
    log.info('actions that ask for a persistent worker run without one here', { expected: 'Linux with koffi' })
    return undefined
  }
  const twice = 2 * (places === 0 ? availableParallelism() : places)
  return new Pool({
    maxProcesses: wanted.max_processes || Math.max(LEAST_PROCESSES, twice),
    idleMs: wanted.max_idle_s * 1000,
    maxRequests: wanted.max_requests,
    maxMemoryBytes: wanted.max_memory_bytes || machineMemory() * MEMORY_SHARE,
    ...{ clock, log },
  })
}

/** Of the machine, or of the container of this process. */
const machineMemory = (): number => {
  const limit = process.constrainedMemory()
  return limit > 0 && limit < totalmem() ? limit : totalmem()
}
