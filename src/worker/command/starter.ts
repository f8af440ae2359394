/** A program as the launcher starts it: leader of a session and process group of its own, with empty stdin. */
export interface Program {
  readonly argv: readonly string[]
  /** Absolute. */
  readonly cwd: string
  /** All of it: nothing is inherited. */
  readonly environment: readonly (readonly [name: string, value: string])[]
  /** Descriptors of this process, which stay its own. */
  readonly stdout: number
  readonly stderr: number
}

/** `onStart` and then `onExit`, or `onFailure` alone, maybe before the call returns. */
export interface ProgramEvents {
  readonly onStart: (pid: number) => void
  /** The program's own exit code, or 128+n after signal n. */
  readonly onExit: (exitCode: number) => void
  /** Nothing was started. */
  readonly onFailure: (errno: string | undefined) => void
}

export type Starter = (program: Program, events: ProgramEvents) => void
