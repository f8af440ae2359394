import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { until } from '../until.js'

/** A server that says much is looked at now and then. */
const LOOKS = { first: 50, each: 20 }

/**
 * The processes that a server has started. When it has ended, nothing says any more which they were: so somebody has to look before,
 * for example whenever it says something.
 */
export class Started {
  readonly #pid: number | undefined
  /** Their start times by their process numbers, which the system gives again. */
  readonly #seen = new Map<number, string>()
  #heardCount = 0

  constructor({ pid }: ChildProcess) {
    this.#pid = pid
  }

  /** The server has said something. */
  heard(): void {
    this.#heardCount += 1
    if (this.#heardCount <= LOOKS.first || this.#heardCount % LOOKS.each === 0) this.look()
  }

  look(): void {
    if (this.#pid === undefined) return
    for (const pid of childrenOf(this.#pid)) {
      const startedAt = startOf(pid)
      if (startedAt !== undefined) this.#seen.set(pid, startedAt)
    }
  }

  /** Resolves when none of them runs any more. */
  async gone(): Promise<void> {
    await until(() => [...this.#seen].every(([pid, startedAt]) => startOf(pid) !== startedAt))
  }
}

/**
 * Kills a server if it still runs, and waits until the processes that it started have noticed: its worker makes directories for the
 * next actions until then, so that the folder of the test could not be removed.
 */
export const killed = async (child: ChildProcess, started = new Started(child)): Promise<void> => {
  if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) {
    // It may end by itself meanwhile.
    const exited = once(child, 'exit')
    started.look()
    child.kill('SIGKILL')
    await exited
  }
  await started.gone()
}

/** The direct children, on Linux. */
const childrenOf = (pid: number): readonly number[] =>
  unlessGone(() => readdirSync(`/proc/${pid}/task`), [])
    .flatMap((task) => unlessGone(() => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8'), '').split(' '))
    .filter((text) => text !== '')
    .map(Number)

/** When a process started, in ticks since the start of the machine; undefined if it is gone or a zombie. */
const startOf = (pid: number): string | undefined => {
  const line = unlessGone(() => readFileSync(`/proc/${pid}/stat`, 'utf8'), '')
  const [state, ...rest] = line.slice(line.lastIndexOf(')') + 2).split(' ')
  return state === '' || state === 'Z' ? undefined : rest[18]
}

const unlessGone = <T>(look: () => T, otherwise: T): T => {
  try {
    return look()
  } catch {
    return otherwise
  }
}
