import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import type { Clock } from '../../base/clock.js'
import { errnoOf, inWords } from '../../base/errno.js'
import type { Log } from '../../log/log.js'
import type { Commands, Orphans } from './orphans.js'
import { killProcess, processFacts, unlessGone } from './process-facts.js'

const SWEEP_PERIOD_MS = 1000

/** A command that is running or being started. */
export class RunningCommand {
  /** Each ends with a slash. */
  readonly directories: readonly string[]
  readonly sinceMs = performance.now()
  /**
   * Processes that are older are not its own. A persistent worker, which goes on for hours, sets it for each request; infinity
   * while it has none.
   */
  busySinceMs = this.sinceMs
  /** Resolves when the command has started, or will never start. */
  readonly started: Promise<void>
  #processGroup: number | undefined
  #notify: () => void = () => {}

  constructor(directories: readonly string[]) {
    this.directories = directories.map((directory) => `${directory}/`)
    this.started = new Promise((resolve) => {
      this.#notify = resolve
    })
  }

  /** Undefined until the command has started. */
  get processGroup(): number | undefined {
    return this.#processGroup
  }

  set processGroup(pid: number) {
    this.#processGroup = pid
    this.#notify()
  }

  ended(): void {
    this.#notify()
  }
}

/**
 * Kills processes that a command left outside of its process group, because they made a group or session of their own.
 * A process counts as left behind in one of these cases:
 * - Its session is that of a command that has ended.
 * - Its current directory, stdout or stderr is in the directory of an action that has ended, and it has no terminal. A
 *   shell of a person who inspects the directory has one.
 * - It is an orphan of a command that has ended.
 * Uses /proc of Linux; on other systems only process groups are killed.
 * Without `orphans`, a sweep reads every process of the machine, so it runs at most once a second and only after a
 * command has ended.
 *
 * Where commands have control groups and a sandbox, it finds nothing of theirs: both end with all of their processes. It is the only
 * means for commands with neither, for what a command without a sandbox started before its group took it in, for the precondition
 * script, which has neither, and after a worker that was killed without groups. The session serves only where there are no `orphans`
 * (no koffi, or other programs in this process); directories and streams also for processes whose worker was killed.
 */
export class Leftovers {
  readonly #workDirectory: string
  readonly #log: Log
  readonly #running = new Set<RunningCommand>()
  #ended = new Set<number>()
  #killed: ReadonlySet<number> = new Set()
  readonly #orphans: Orphans | undefined
  readonly #stop: () => void

  /** With `orphans`, only orphans are checked regularly, and all processes of the machine only by `sweep`. */
  constructor(workDirectory: string, clock: Clock, log: Log, orphans?: Orphans) {
    this.#workDirectory = `${workDirectory}/`
    this.#log = log
    this.#orphans = orphans
    this.#stop = existsSync('/proc/self/stat')
      ? clock.every(SWEEP_PERIOD_MS, () => this.#ended.size > 0 && this.look())
      : () => {}
  }

  /** Processes in these directories belong to the command from now on. Call it before the command starts. */
  starting(directories: readonly string[]): RunningCommand {
    const running = new RunningCommand(directories)
    this.#running.add(running)
    return running
  }

  ended(running: RunningCommand): void {
    this.#running.delete(running)
    running.ended()
    if (running.processGroup !== undefined) this.#ended.add(running.processGroup)
  }

  /** Kills leftover processes of ended commands. A failure is logged and retried in the next period. */
  look(): void {
    this.#guarded(() => this.#look())
  }

  #look(): void {
    if (this.#orphans === undefined) this.#sweep()
    else {
      const killed = this.#orphans.kill(this.#commands)
      if (killed.length > 0) this.#notify(killed)
      // Orphans younger than a running command cannot be attributed yet, so they are checked again later.
      else if (![...this.#running].some(({ busySinceMs }) => busySinceMs < Number.POSITIVE_INFINITY))
        this.#ended = new Set()
    }
  }

  /** Orphaned processes of a running command, as far as they can be attributed. Each may have children. */
  straysOf({ processGroup }: RunningCommand): readonly number[] {
    if (this.#orphans === undefined || processGroup === undefined) return []
    return this.#orphans.of(processGroup, this.#commands)
  }

  get #isStarting(): boolean {
    for (const { processGroup } of this.#running) if (processGroup === undefined) return true
    return false
  }

  get knowsOrphans(): boolean {
    return this.#orphans !== undefined
  }

  /** Whether no process of an ended command is left. False also if that is unknown or not known immediately. */
  haveNoOrphans(): boolean {
    return this.#orphans?.areNone() === true
  }

  /** Whether every process present now belongs to a running command. False if that is unknown. */
  async areNone(): Promise<boolean> {
    const strangers = this.#orphans?.strangersTo(this.#commands.running)
    if (strangers === undefined || strangers.length === 0) return strangers !== undefined
    const starting = [...this.#running].filter(({ processGroup }) => processGroup === undefined)
    await Promise.all(starting.map(({ started }) => started))
    return strangers.every((pid) => starting.some(({ processGroup }) => processGroup === pid))
  }

  get #commands(): Commands {
    const running = new Map<number, number>()
    let startingSinceMs = Number.POSITIVE_INFINITY
    for (const { processGroup, sinceMs, busySinceMs } of this.#running) {
      if (processGroup === undefined) startingSinceMs = Math.min(startingSinceMs, sinceMs)
      else running.set(processGroup, busySinceMs)
    }
    return { running, startingSinceMs }
  }

  #notify(pids: readonly number[]): void {
    this.#log.info('killed processes that actions left behind', { pids })
  }

  /**
   * Checks every process of the machine. If it kills new ones, the next period sweeps again, because they may have
   * forked. A failure is logged and retried in the next period.
   */
  sweep(): void {
    this.#guarded(() => this.#sweep())
  }

  #guarded(look: () => void): void {
    try {
      look()
    } catch (error) {
      this.#log.warn('could not look for processes that actions left behind', { reason: inWords(error) })
    }
  }

  #sweep(): void {
    const ended = this.#ended
    const commands = this.#commands
    const killed = new Set(this.#orphans?.kill(commands))
    for (const name of readdirSync('/proc')) {
      const pid = Number(name)
      if (Number.isInteger(pid) && pid !== process.pid && this.#isLeftover(pid, ended, commands.running))
        killed.add(pid)
    }
    for (const pid of killed) killProcess(pid)
    const pids = [...killed].filter((pid) => !this.#killed.has(pid))
    if (pids.length > 0) this.#notify(pids)
    this.#killed = killed
    this.#ended = pids.length > 0 || this.#isStarting ? ended : new Set()
  }

  /** Sweeps after marking all commands as ended. None may run any more. */
  sweepAll(): void {
    for (const running of [...this.#running]) this.ended(running)
    this.sweep()
  }

  close(): void {
    this.#stop()
  }

  #isLeftover(pid: number, ended: ReadonlySet<number>, running: Commands['running']): boolean {
    const facts = processFacts(pid)
    if (facts === undefined || facts.isZombie || facts.session === 0) return false
    const { session } = facts
    if (running.has(session)) return false
    // The kernel does not reuse a number as long as a session has it. So if the leader is dead, the session is the old
    // one.
    if (ended.has(session) && !existsSync(`/proc/${session}`)) return true
    // A command that is being started may print to files beside its directory, and its number is not known yet.
    const links = this.#isStarting ? ['cwd'] : ['cwd', 'fd/1', 'fd/2']
    return !facts.hasTerminal && links.some((link) => this.#isInEndedDirectory(`/proc/${pid}/${link}`))
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

/** Undefined also for a directory without a path, because the kernel does not report where it is. */
const linkTarget = (path: string): string | undefined => {
  try {
    return unlessGone(() => readlinkSync(path))
  } catch (error) {
    if (errnoOf(error) === 'ENAMETOOLONG') return undefined
    throw error
  }
}
