/**
 * What the worker and its launcher process say to each other, over Node's channel between parent and child. What there is
 * to say in one turn of the loop goes as one array.
 */

/** One program to start. `id` is new. */
export interface LaunchRequest {
  readonly kind: 'launch'
  readonly id: number
  readonly argv: readonly string[]
  readonly cwd: string
  /** Pairs, because a variable may be called `__proto__`. */
  readonly environment: readonly (readonly [name: string, value: string])[]
  readonly stdoutPath: string
  readonly stderrPath: string
  /** The two files are those of an earlier program that ended with `areFilesFree`; else they must not exist yet. */
  readonly reusesFiles: boolean
}

/** Kills the group of a launched program. Nothing happens when it has ended. */
export interface KillRequest {
  readonly kind: 'kill'
  readonly id: number
}

export type ToLauncher = LaunchRequest | KillRequest

/** The launcher listens. Comes once, first. */
export interface LauncherReady {
  readonly kind: 'ready'
}

/** Programs are started in the slower way, by fork, and files are used once. Comes at most once. */
export interface LauncherForks {
  readonly kind: 'forks'
  readonly reason: string
}

export interface LaunchStarted {
  readonly kind: 'started'
  readonly id: number
  readonly pid: number
}

/** The program ended, and whatever was left in its group was killed. */
export interface LaunchEnded {
  readonly kind: 'ended'
  readonly id: number
  /** The program's own exit code, or 128+n after signal n. */
  readonly exitCode: number
  /** A `kill` came before it ended. */
  readonly wasKilled: boolean
  readonly durationMs: number
  /** Both files are empty, and the system says that no process has them open: another program may have them. */
  readonly areFilesFree: boolean
}

/** Nothing was started: a file for its output could not be made, or the program could not be run. */
export interface LaunchFailed {
  readonly kind: 'failed'
  readonly id: number
  readonly attempted: 'open' | 'spawn'
  readonly errno: string | undefined
}

export type FromLauncher = LauncherReady | LauncherForks | LaunchStarted | LaunchEnded | LaunchFailed
