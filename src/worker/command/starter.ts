/** A program to start: leader of a session and process group of its own, with empty stdin. */
export interface Program {
  readonly argv: readonly string[]
  /** Absolute. */
  readonly cwd: string
  /** All of it: nothing is inherited. Pairs, because a variable may be called `__proto__`. */
  readonly environment: readonly (readonly [name: string, value: string])[]
  /** Descriptors of this process, which stay its own. */
  readonly stdout: number
  readonly stderr: number
  /** One more, which it gets as its descriptor `STATUS_FD`. */
  readonly status?: number | undefined
}

/** Behind stdin, stdout and stderr. */
export const STATUS_FD = 3

/** What a program and those of its children it has waited for took. */
export interface ProgramUsage {
  readonly userMs: number
  readonly systemMs: number
  /** Of the largest of them; absent where it was no more than this process has, which Linux takes for theirs. */
  readonly peakResidentBytes: number | undefined
}

/** `onStart` and then `onExit`, or `onFailure` alone, before the call returns or later. */
export interface ProgramEvents {
  readonly onStart: (pid: number) => void
  /** The program's own exit code, or 128+n after signal n; what it took where the system tells. */
  readonly onExit: (exitCode: number, usage?: ProgramUsage) => void
  /** Nothing was started. */
  readonly onFailure: (errno: string | undefined) => void
}

export type Starter = (program: Program, events: ProgramEvents) => void
