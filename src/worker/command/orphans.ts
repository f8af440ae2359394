import { readdirSync, readFileSync } from 'node:fs'
import type { Libc } from './libc.js'
import { processFacts, unlessGone } from './process-facts.js'

const CHILD_SUBREAPER = 36
const WAIT_NO_HANG = 1
/** One that forks while it is killed is found again: its children are orphans by then. */
const ROUNDS = 10

/** The commands of a worker at one moment. */
export interface Commands {
  /** The process groups of those that run. */
  readonly running: ReadonlySet<number>
  /** Since when, as `performance.now` tells it, the oldest of those is being started whose process is not known; infinity for none. */
  readonly startingSinceMs: number
}

const TICK_MS = 10

/**
 * Children of this process that it did not start: Linux gives it those whose parents ended, of everything below it. So what a
 * command started can go into sessions of its own and close all it has, and is found here as soon as its parent is gone.
 * Whose it was is not told. But it is younger than its command: once all commands that run are younger than it, it belongs
 * to one that has ended.
 */
export class Orphans {
  readonly #libc: Libc
  readonly #own = processFacts(process.pid)

  private constructor(libc: Libc) {
    this.#libc = libc
  }

  /** For a process in which nothing else starts programs that stay. `undefined` where the system does not have it. */
  static adopted(libc: Libc | undefined): Orphans | undefined {
    if (libc === undefined || children() === undefined) return undefined
    return libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0) === 0 ? new Orphans(libc) : undefined
  }

  /** Kills those of commands that have ended. Answers whom. */
  kill({ running, startingSinceMs }: Commands): readonly number[] {
    const startingTicks = this.#ticksAt(startingSinceMs)
    const starts = [...running].map((pid) => processFacts(pid)?.startTicks ?? Number.POSITIVE_INFINITY)
    const oldest = Math.min(startingTicks, ...starts)
    const killed = new Set<number>()
    for (let round = 0; round < ROUNDS; round++) {
      const found = this.#ended(running, { startingTicks, oldest }).filter((pid) => !killed.has(pid))
      if (found.length === 0) break
      for (const pid of found) {
        killed.add(pid)
        unlessGone(() => process.kill(pid, 'SIGKILL'))
      }
    }
    return [...killed]
  }

  /** Those that can only be of this one of the process groups that run: of its session, or of none and older than all others. */
  of(processGroup: number, { running, startingSinceMs }: Commands): readonly number[] {
    const startingTicks = this.#ticksAt(startingSinceMs)
    const others = [...running].filter((pid) => pid !== processGroup)
    const nextTicks = Math.min(startingTicks, ...others.map((pid) => processFacts(pid)?.startTicks ?? 0))
    const sinceTicks = processFacts(processGroup)?.startTicks ?? Number.POSITIVE_INFINITY
    return (children() ?? []).filter((pid) => {
      if (running.has(pid)) return false
      const facts = processFacts(pid)
      if (facts === undefined || facts.isZombie || facts.session === this.#own?.session) return false
      if (running.has(facts.session)) return facts.session === processGroup
      return facts.startTicks >= sinceTicks && facts.startTicks < nextTicks
    })
  }

  /**
   * Whether there is no such child, not even one that has ended and was not waited for: then nothing is left of commands that have
   * ended. Known soon, as it takes no look at each thread: Linux gives orphans to the first of them.
   */
  areNone(): boolean {
    return unlessGone(() => readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1')) === ''
  }

  /** Children that live and are of none of these process groups. */
  strangersTo(running: ReadonlySet<number>): readonly number[] {
    return (children() ?? []).filter((pid) => {
      if (running.has(pid)) return false
      const facts = processFacts(pid)
      return facts && !facts.isZombie && facts.session !== this.#own?.session && !running.has(facts.session)
    })
  }

  /** Never later than the time is: this clock begins a little after the process. */
  #ticksAt(ms: number): number {
    return (this.#own?.startTicks ?? 0) + Math.floor(ms / TICK_MS)
  }

  #ended(
    running: ReadonlySet<number>,
    { startingTicks, oldest }: { readonly startingTicks: number; readonly oldest: number },
  ): readonly number[] {
    return (children() ?? []).filter((pid) => {
      if (running.has(pid)) return false
      const facts = processFacts(pid)
      // Node's own are of the session of this process; nobody can join that. What is being started is in time.
      if (facts === undefined || facts.session === this.#own?.session || facts.startTicks >= startingTicks) return false
      if (facts.isZombie) this.#libc.wait(pid, Buffer.alloc(4), WAIT_NO_HANG, Buffer.alloc(256))
      return !facts.isZombie && !running.has(facts.session) && facts.startTicks < oldest
    })
  }
}

const children = (): number[] | undefined =>
  unlessGone(() =>
    readdirSync('/proc/self/task').flatMap((thread) => {
      const text = unlessGone(() => readFileSync(`/proc/self/task/${thread}/children`, 'latin1'))
      return (text ?? '').split(' ').filter(Boolean).map(Number)
    }),
  )
