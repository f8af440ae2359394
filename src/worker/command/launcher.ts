import { StatusError } from '../../base/status-error.js'
import { guardedInterval, guardedTimeout } from '../../base/timers.js'
import type { Log } from '../../log/log.js'
import { forkStarter } from './fork-starter.js'
import { groupIsAlive, killGroup, terminateBelow, terminateGroup } from './kill-group.js'
import { type Libc, loadLibc } from './libc.js'
import { posixStarter } from './posix-starter.js'
import type { Program, ProgramUsage, Starter } from './starter.js'

/** The program has ended, and the rest of its process group was killed. */
export interface LaunchEnded {
  readonly kind: 'ended'
  /** The program's own exit code, or 128+n after signal n. */
  readonly exitCode: number
  /** Whether `terminate` or `kill` was called before it ended. */
  readonly wasKilled: boolean
  readonly durationMs: number
  readonly usage: ProgramUsage | undefined
}

/** Nothing was started. */
export interface LaunchFailed {
  readonly kind: 'failed'
  readonly errno: string | undefined
}

export interface Launch {
  readonly outcome: Promise<LaunchEnded | LaunchFailed>
  /**
   * Asks the whole process group to end by SIGTERM, and kills what is left of it after `graceMs`. The outcome waits for the
   * whole group, so that a program whose first process ends at once has its time too. Like `kill` without a grace.
   */
  terminate(graceMs: number): void
  /** Kills the whole process group, also if the program is still being started. No effect after it has ended. */
  kill(): void
}

interface Running {
  /** Undefined until it has started. */
  pid: number | undefined
  wasKilled: boolean
  /** What was asked for before it had started. */
  ask: (() => void) | undefined
  readonly isMonitor: boolean
  readonly killAll: () => void
  /** The end of its grace, once it was asked to end. */
  timer: NodeJS.Timeout | undefined
  /** Looks whether the group has ended, once its first process has. */
  watch: NodeJS.Timeout | undefined
  /** Tells the outcome; set once the first process has ended. */
  settle: (() => void) | undefined
}

/** How often a group is looked at whose first process has ended in its grace. */
const GROUP_LOOK_MS = 20

/**
 * Starts programs by posix_spawn: until its exec, the new process uses the memory of this one. Without koffi it forks,
 * which copies the page tables. Measured with `/bin/true` in a process of 110 MiB: 1.3 ms of CPU with posix_spawn, 6 ms
 * with fork.
 */
export class Launcher {
  readonly libc: Libc | undefined
  readonly #start: Starter
  readonly #running = new Set<Running>()
  #isClosed = false

  constructor(log: Log, libc?: Libc) {
    const onFailure = (reason: string): void =>
      log.info('commands are started by fork, which is slower than posix_spawn', { reason })
    this.libc = libc ?? loadLibc(onFailure)
    this.#start = this.libc === undefined ? forkStarter : posixStarter(this.libc)
  }

  /** Calls `onStart` with the process group while it is alive. */
  launch(program: Program, onStart: (pid: number) => void): Launch {
    if (this.#isClosed) throw new StatusError('UNAVAILABLE', 'the worker is closed and starts no commands')
    const sinceMs = performance.now()
    const isMonitor = program.isMonitor === true
    const unset = { pid: undefined, ask: undefined, timer: undefined, watch: undefined, settle: undefined }
    const running: Running = { ...unset, wasKilled: false, isMonitor, killAll: program.killAll ?? (() => {}) }
    this.#running.add(running)
    const outcome = new Promise<LaunchEnded | LaunchFailed>((resolve) => {
      this.#start(program, {
        onStart: (pid) => {
          running.pid = pid
          onStart(pid)
          running.ask?.()
        },
        onExit: (exitCode, usage) => {
          const { wasKilled } = running
          running.settle = () =>
            resolve({ kind: 'ended', exitCode, wasKilled, durationMs: performance.now() - sinceMs, usage })
          this.#leaderEnded(running)
        },
        onFailure: (errno) => {
          this.#running.delete(running)
          resolve({ kind: 'failed', errno })
        },
      })
    })
    return { outcome, terminate: (graceMs) => this.#terminate(running, graceMs), kill: () => this.#kill(running) }
  }

  /** Kills all running programs, and those being started as soon as they have started. */
  close(): void {
    this.#isClosed = true
    for (const running of this.#running) this.#kill(running)
  }

  #leaderEnded(running: Running): void {
    const { pid, timer } = running
    if (timer === undefined || pid === undefined || !this.#isAlive(pid)) this.#end(running)
    else running.watch = guardedInterval(() => !this.#isAlive(pid) && this.#end(running), GROUP_LOOK_MS)
  }

  #isAlive(pid: number): boolean {
    // A number is free again when its group has ended, and a new program may have got it.
    const isTaken = [...this.#running].filter((running) => running.pid === pid).length > 1
    return !isTaken && groupIsAlive(pid, this.libc)
  }

  #end(running: Running): void {
    clearTimeout(running.timer)
    clearInterval(running.watch)
    this.#killAll(running)
    this.#running.delete(running)
    running.settle?.()
  }

  #terminate(running: Running, graceMs: number): void {
    if (!this.#running.has(running) || running.timer !== undefined) return
    if (graceMs <= 0) {
      this.#kill(running)
      return
    }
    const { pid } = running
    running.wasKilled = true
    if (pid === undefined) {
      running.ask ??= () => this.#terminate(running, graceMs)
      return
    }
    running.timer = guardedTimeout(() => this.#kill(running), graceMs)
    if (!running.isMonitor) terminateGroup(pid, this.libc)
    else if (!terminateBelow(pid)) this.#kill(running)
  }

  #kill(running: Running): void {
    if (!this.#running.has(running)) return
    running.wasKilled = true
    if (running.settle !== undefined) this.#end(running)
    else if (running.pid !== undefined) this.#killAll(running)
    else running.ask = () => this.#kill(running)
  }

  #killAll({ pid, killAll }: Running): void {
    if (pid !== undefined) killGroup(pid, this.libc)
    killAll()
  }
}
