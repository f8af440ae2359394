import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Clock } from '../../base/clock.js'
import { errnoOf } from '../../base/errno.js'
import type { Log } from '../../base/log.js'

const SWEEP_PERIOD_MS = 1000

/** A command that runs or is being started. */
export interface RunningCommand {
  /** Each with a slash at its end. */
  readonly directories: readonly string[]
  /** To be set once it is known. */
  processGroup: number | undefined
}

/**
 * Kills what a command left behind outside of its process group: children that made a group or session of their own.
 * They are known by the session of a command that has ended, or by living in the directory of an action that has ended
 * (their current directory, stdout or stderr). Linux tells this through /proc; elsewhere only process groups are killed.
 *
 * A sweep looks at every process of the machine, so there is one a second at most, and only after a command has ended.
 */
export class Leftovers {
  readonly #workDirectory: string
  readonly #log: Log
  readonly #running = new Set<RunningCommand>()
  #ended = new Set<number>()
  #killed: ReadonlySet<number> = new Set()
  readonly #stop: () => void

  constructor(workDirectory: string, clock: Clock, log: Log) {
    this.#workDirectory = `${workDirectory}/`
    this.#log = log
    this.#stop = existsSync('/proc/self/stat')
      ? clock.every(SWEEP_PERIOD_MS, () => this.#ended.size > 0 && this.sweep())
      : () => {}
  }

  /** From now on processes in the directories belong there. To be said before the command is started. */
  starting(directories: readonly string[]): RunningCommand {
    const running = { directories: directories.map((directory) => `${directory}/`), processGroup: undefined }
    this.#running.add(running)
    return running
  }

  ended(running: RunningCommand): void {
    this.#running.delete(running)
    if (running.processGroup !== undefined) this.#ended.add(running.processGroup)
  }

  /** Looks once, now. As long as it finds new ones there is a next sweep: they may have been forking. */
  sweep(): void {
    const ended = this.#ended
    const running = new Set([...this.#running].map(({ processGroup }) => processGroup))
    const killed = new Set<number>()
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      if (Number.isInteger(pid) && pid !== process.pid && this.#isLeftover(pid, ended, running)) killed.add(pid)
    }
    for (const pid of killed) kill(pid)
    const pids = [...killed].filter((pid) => !this.#killed.has(pid))
    if (pids.length > 0) this.#log.info('killed processes that actions left behind', { pids })
    this.#killed = killed
    this.#ended = pids.length > 0 ? ended : new Set()
  }

  close(): void {
    this.#stop()
  }

  #isLeftover(pid: number, ended: ReadonlySet<number>, running: ReadonlySet<number | undefined>): boolean {
    const session = sessionOf(pid)
    if (session === undefined || running.has(session)) return false
    // A number is not given to a new process while a session has it, so with its leader dead the session is the old one.
    if (ended.has(session) && !existsSync(`/proc/${session}`)) return true
    return ['cwd', 'fd/1', 'fd/2'].some((link) => this.#isInEndedDirectory(`/proc/${pid}/${link}`))
  }

  #isInEndedDirectory(link: string): boolean {
    const target = linkTarget(link)
    if (target === undefined || !target.startsWith(this.#workDirectory)) return false
    for (const { directories } of this.#running) {
      if (directories.some((directory) => `${target}/`.startsWith(directory))) return false
    }
    return true
  }
}

/** The session of a process; `undefined` once it is gone, for a zombie and for the kernel's own. */
const sessionOf = (pid: number): number | undefined => {
  const text = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (text === undefined) return undefined
  // After the name, which may hold anything: state, parent, group, session.
  const [state, , , session] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || session === '0' ? undefined : Number(session)
}

const linkTarget = (path: string): string | undefined => unlessGone(() => readlinkSync(path))

/** Processes end while they are looked at, and those of others do not show everything: neither is ours to kill. */
const unlessGone = <T>(look: () => T): T | undefined => {
  try {
    return look()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes(errnoOf(error) ?? '')) return undefined
    throw error
  }
}

const kill = (pid: number): void => {
  unlessGone(() => process.kill(pid, 'SIGKILL'))
}
