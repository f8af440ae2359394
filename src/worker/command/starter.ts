/** A program to start. It leads its own session and process group. */
export interface Program {
  readonly argv: readonly string[]
  /** Absolute. */
  readonly cwd: string
  /** The whole environment: nothing is inherited. Pairs, because a variable may be called `__proto__`. */
  readonly environment: readonly (readonly [name: string, value: string])[]
  /** Descriptor of this process that it reads from; an empty stdin without one. */
  readonly stdin?: number | undefined
  /** Descriptors of this process, which stays their owner. */
  readonly stdout: number
  readonly stderr: number
  /** Optional descriptor that the program gets as `STATUS_FD`. */
  readonly status?: number | undefined
  /** Optional descriptor that the program gets as `GATE_FD`; only with `status`. */
  readonly gate?: number | undefined
  /** Ends all that it has started, in whatever group or session, where that can be known. */
  readonly killAll?: (() => void) | undefined
  /** The program only watches over a sandbox: its end kills what runs inside. */
  readonly isMonitor?: boolean | undefined
}

/** The first descriptor after stdin, stdout and stderr. */
export const STATUS_FD = 3
export const GATE_FD = 4

/** Resource usage of a program and of the children that it has waited for. */
export interface ProgramUsage {
  readonly userMs: number
  readonly systemMs: number
  /**
   * Peak of the largest of these processes. Undefined if it does not exceed the peak of this process, because Linux
   * counts memory from before the exec.
   */
  readonly peakResidentBytes: number | undefined
}

/** Either `onStart` and then `onExit`, or only `onFailure`; before or after the call returns. */
export interface ProgramEvents {
  readonly onStart: (pid: number) => void
  /** The program's own exit code, or 128+n after signal n; and its usage, if the system reports it. */
  readonly onExit: (exitCode: number, usage?: ProgramUsage) => void
  /** Nothing was started. */
  readonly onFailure: (errno: string | undefined) => void
}

export type Starter = (program: Program, events: ProgramEvents) => void
