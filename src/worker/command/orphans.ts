import { existsSync, readFileSync } from 'node:fs'
import type { Libc } from './libc.js'
import { childrenOf, killProcess, type ProcessFacts, processFacts, unlessGone } from './process-facts.js'

const CHILD_SUBREAPER = 36
const WAIT_NO_HANG = 1
/** A process may fork while it is killed. Its children are orphans then and are found in the next round. */
const ROUNDS = 10

/** The commands of a worker at one moment. */
export interface Commands {
  /** Process groups of running commands, with `performance.now` at a moment before which none of their processes began. */
  readonly running: ReadonlyMap<number, number>
  /** `performance.now` at the oldest start whose process is not known yet; infinity if there is none. */
  readonly startingSinceMs: number
}

const TICK_MS = 10

/**
 * Children of this process that it did not start. As a subreaper, it inherits all descendants whose parents have ended.
 * So a process that made its own session and closed all its descriptors is found here once its parent is gone.
 * Linux does not report which command an orphan came from. But an orphan is younger than its command. So once all
 * running commands are younger than the orphan, it belongs to a command that has ended.
 *
 * A control group would say it, and a sandbox leaves none. What remains for this: commands with neither; and with a group but no
 * sandbox those processes that lost their parent before the group took the command in, as nothing holds it until then.
 */
export class Orphans {
  readonly #libc: Libc
  readonly #self = processFacts(process.pid)

  private constructor(libc: Libc) {
    this.#libc = libc
  }

  /**
   * Only for a process in which no other code starts long-lived programs. `undefined` if the system does not support
   * it.
   */
  static adopted(libc: Libc | undefined): Orphans | undefined {
    if (libc === undefined || !existsSync('/proc/self/task')) return undefined
    return libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0) === 0 ? new Orphans(libc) : undefined
  }

  /** Kills the orphans of commands that have ended. Returns their process ids. */
  kill({ running, startingSinceMs }: Commands): readonly number[] {
    const startingTicks = this.#ticksAt(startingSinceMs)
    const starts = [...running].map((command) => this.#beginOf(command) ?? Number.POSITIVE_INFINITY)
    const oldest = Math.min(startingTicks, ...starts)
    const killed = new Set<number>()
    for (let round = 0, before = -1; round < ROUNDS && killed.size > before; round++) {
      before = killed.size
      for (const { pid, session, isZombie, startTicks } of this.#strays(running)) {
        // Programs that are being started are skipped.
        if (startTicks >= startingTicks) continue
        if (isZombie) this.#libc.wait(pid, Buffer.alloc(4), WAIT_NO_HANG, Buffer.alloc(256))
        else if (!running.has(session) && startTicks < oldest && !killed.has(pid)) {
          killed.add(pid)
          killProcess(pid)
        }
      }
    }
    return [...killed]
  }

  /**
   * Orphans that can only belong to this running process group: those of its session, and those of no running session
   * that started after it but before all other commands.
   */
  of(processGroup: number, { running, startingSinceMs }: Commands): readonly number[] {
    const startingTicks = this.#ticksAt(startingSinceMs)
    const others = [...running].filter(([pid]) => pid !== processGroup)
    const nextTicks = Math.min(startingTicks, ...others.map((command) => this.#beginOf(command) ?? 0))
    const sinceTicks = this.#beginOf([processGroup, running.get(processGroup) ?? 0]) ?? Number.POSITIVE_INFINITY
    const isIts = ({ session, startTicks }: Stray): boolean =>
      running.has(session) ? session === processGroup : startTicks >= sinceTicks && startTicks < nextTicks
    return this.#strays(running).flatMap((one) => (!one.isZombie && isIts(one) ? [one.pid] : []))
  }

  /**
   * Whether there is no orphan, not even a zombie. Then no process of an ended command is left. Cheap, because it reads
   * only the main thread: Linux gives orphans to the first thread.
   */
  areNone(): boolean {
    return unlessGone(() => readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1')) === ''
  }

  /** Live children that belong to none of these process groups. */
  strangersTo(running: Commands['running']): readonly number[] {
    const all = this.#strays(running)
    return all.flatMap(({ pid, isZombie, session }) => (isZombie || running.has(session) ? [] : [pid]))
  }

  /** When a running command began, or the request of a persistent worker; infinity if that has none. */
  #beginOf([pid, sinceMs]: readonly [number, number]): number | undefined {
    const facts = processFacts(pid)
    return facts && Math.max(facts.startTicks, this.#ticksAt(sinceMs))
  }

  /** Never later than the real time, because this clock starts a little after the process. */
  #ticksAt(ms: number): number {
    return (this.#self?.startTicks ?? 0) + Math.floor(ms / TICK_MS)
  }

  /**
   * Its children but for the first processes of running commands, and for those that Node has started: they are in the session of this
   * process, which others cannot join.
   */
  #strays(running: Commands['running']): readonly Stray[] {
    return childrenOf(process.pid).flatMap((pid) => {
      const facts = running.has(pid) ? undefined : processFacts(pid)
      return facts === undefined || facts.session === this.#self?.session ? [] : [{ pid, ...facts }]
    })
  }
}

interface Stray extends ProcessFacts {
  readonly pid: number
}
