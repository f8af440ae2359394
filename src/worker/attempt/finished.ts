import type { CommandExit } from '../command/run-command.js'
import type { Execution } from './execution.js'

/** A command that has ended, and its input root. */
export interface Finished {
  readonly execution: Execution
  readonly exit: CommandExit
  /** See `Execution.left`. */
  readonly root: string | undefined
  readonly wroteInputs: boolean
  /** The persistent worker that it was a request of; undefined for a process of its own. */
  readonly process?: ServingProcess | undefined
}

export interface ServingProcess {
  readonly id: string
  /** Counted from 1: only the first depends on nothing but its inputs. */
  readonly request: number
}
