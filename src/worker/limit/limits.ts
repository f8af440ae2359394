import { fstatSync } from 'node:fs'
import { inWords } from '../../base/errno.js'
import { guardedInterval, guardedTimeout } from '../../base/timers.js'
import type { Log } from '../../log/log.js'
import { diskUsage } from './disk-usage.js'
import { groupUsage } from './group-usage.js'

/** Limits of an action; 0 for no limit. */
export interface ActionLimits {
  /** Of each of stdout and stderr. */
  readonly printedBytes: number
  readonly diskBytes: number
  readonly processes: number
  readonly memoryBytes: number
}

export interface Watched {
  readonly processGroup: number
  /** Returns further processes of the command whose parents have ended. */
  readonly strays: () => readonly number[]
  /** Descriptors of its stdout and stderr. */
  readonly printed: readonly number[]
  /** The input root. */
  readonly root: string
  /** The kernel counts and limits its processes and their memory. */
  readonly group?: { exceeded(): string | undefined } | undefined
}

const PERIOD_MS = 100
/** Processes are checked only every second period, because it takes about 30 µs for each. */
const PROCESSES_EVERY = 2
/** Minimum pause after a check of the files. The pause is also at least as long as the check took. */
const DISK_PAUSE_MS = 250

/** The reason if a stream exceeds its limit; else undefined. */
export const printedTooMuch = (printed: readonly number[], { printedBytes }: ActionLimits): string | undefined => {
  if (printedBytes === 0 || printed.every((file) => fstatSync(file).size <= printedBytes)) return undefined
  return `it printed more than ${printedBytes} bytes`
}

/**
 * Checks a running command against its limits until the returned function is called. Calls `stop` once, with the
 * exceeded limit. A failed check is logged and repeated, so that a failure of this machine does not end the worker.
 */
export const watchLimits = (
  watched: Watched,
  limits: ActionLimits,
  stop: (reason: string) => void,
  log: Log,
): (() => void) => {
  const watch = new Watch(watched, limits, stop, log)
  return () => watch.end()
}

class Watch {
  readonly #watched: Watched
  readonly #limits: ActionLimits
  readonly #stop: (reason: string) => void
  readonly #log: Log
  /** Kinds of checks whose failure was already logged. */
  readonly #logged = new Set<string>()
  readonly #timer: NodeJS.Timeout
  #diskTimer: NodeJS.Timeout | undefined
  #looks = 0
  #isOver = false

  constructor(watched: Watched, limits: ActionLimits, stop: (reason: string) => void, log: Log) {
    this.#watched = watched
    this.#limits = limits
    this.#stop = stop
    this.#log = log
    this.#timer = guardedInterval(() => this.#look(), PERIOD_MS)
    if (limits.diskBytes > 0) this.#diskTimer = guardedTimeout(() => void this.#lookAtDisk(), DISK_PAUSE_MS)
  }

  end(): void {
    this.#isOver = true
    clearInterval(this.#timer)
    clearTimeout(this.#diskTimer)
  }

  #look(): void {
    const isTurn = ++this.#looks % PROCESSES_EVERY === 0
    try {
      const reason = printedTooMuch(this.#watched.printed, this.#limits) ?? (isTurn ? this.#ofProcesses() : undefined)
      if (reason !== undefined) this.#exceeded(reason)
    } catch (error) {
      this.#failed('processes', error)
    }
  }

  #ofProcesses(): string | undefined {
    const { processes: most, memoryBytes } = this.#limits
    if (most === 0 && memoryBytes === 0) return undefined
    const { processGroup, strays, group } = this.#watched
    if (group !== undefined) return group.exceeded()
    const found = groupUsage([processGroup, ...strays()], { most, memory: memoryBytes > 0 })
    if (most > 0 && found.processes > most) return `it had more than ${most} processes`
    if (memoryBytes > 0 && found.residentBytes > memoryBytes) return `it had more than ${memoryBytes} bytes of memory`
    return undefined
  }

  async #lookAtDisk(): Promise<void> {
    const { diskBytes } = this.#limits
    const sinceMs = performance.now()
    const bytes = await diskUsage(this.#watched.root, diskBytes, (error) => this.#failed('files', error))
    if (this.#isOver) return
    if (bytes > diskBytes) this.#exceeded(`its files have more than ${diskBytes} bytes`)
    const pauseMs = Math.max(DISK_PAUSE_MS, performance.now() - sinceMs)
    this.#diskTimer = guardedTimeout(() => void this.#lookAtDisk(), pauseMs)
  }

  /** The next check may succeed. */
  #failed(of: 'processes' | 'files', error: unknown): void {
    if (this.#isOver || this.#logged.has(of)) return
    this.#logged.add(of)
    this.#log.warn('could not check the limits of an action', { of, reason: inWords(error) })
  }

  #exceeded(reason: string): void {
    if (this.#isOver) return
    this.end()
    this.#stop(reason)
  }
}
