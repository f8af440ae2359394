import { appendFileSync } from 'node:fs'
import { StatusError } from '../../base/status-error.js'
import type { LaunchFailed } from './launch-messages.js'
import type { Launch, Launcher } from './launcher.js'

export interface CommandRun {
  /** The program (absolute, relative to `cwd`, or looked up in the PATH of `environment`) and its arguments. */
  readonly argv: readonly string[]
  /** Absolute. Must exist. */
  readonly cwd: string
  /** All of it: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Files that receive the two streams; they must not exist yet, or be those of an exit with `areFilesFree`. */
  readonly stdoutPath: string
  readonly stderrPath: string
  readonly reusesFiles: boolean
  /** Counted from the moment the program has started. */
  readonly timeoutMs: number
  /** An abort kills the command. */
  readonly signal: AbortSignal
  /** Told the process group while it lives. */
  readonly onStart?: (processGroup: number) => void
}

export interface CommandExit {
  /** The program's own, 128+n after signal n, 127 when the program was not found, 126 when it could not be executed. */
  readonly exitCode: number
  /** `timed out` and `killed` say who ended it; both come with exit code 137. */
  readonly end: 'exited' | 'timed out' | 'killed'
  readonly durationMs: number
  /** Nothing was printed, and no process has the two files open: another run may have them. */
  readonly areFilesFree: boolean
}

/**
 * Runs a program without a shell, in a process group of its own, with empty stdin. When it is over, whatever the way,
 * every process left in the group is killed. A program that cannot be started is a result and not a failure of the
 * worker: the exit code is the one shells give, and the reason stands in stderr.
 */
export const runCommand = async (run: CommandRun, launcher: Launcher): Promise<CommandExit> => {
  const { argv, cwd, stdoutPath, stderrPath, reusesFiles, signal } = run
  let timer: NodeJS.Timeout | undefined
  let reason: 'timed out' | 'killed' = 'killed'
  const onStart = (processGroup: number): void => {
    timer = setTimeout(
      () => {
        if (!signal.aborted) reason = 'timed out'
        launch.kill()
      },
      Math.min(run.timeoutMs, MAX_TIMER_MS),
    )
    run.onStart?.(processGroup)
  }
  const environment = Object.entries(run.environment)
  const launch: Launch = launcher.launch({ argv, cwd, environment, stdoutPath, stderrPath, reusesFiles }, onStart)
  const onAbort = (): void => launch.kill()
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  try {
    const outcome = await launch.outcome
    if (outcome.kind === 'failed') return notStarted(outcome, run)
    const { exitCode, durationMs, wasKilled, areFilesFree } = outcome
    return { exitCode, end: wasKilled ? reason : 'exited', durationMs, areFilesFree }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

const notStarted = ({ attempted, errno }: LaunchFailed, run: CommandRun): CommandExit => {
  if (attempted === 'open') {
    throw Object.assign(new Error(`no file for the output of a command could be made (${errno})`), { code: errno })
  }
  const why = errno === undefined ? undefined : START_FAILURES[errno]
  if (why === undefined) {
    const message = `no process could be started on this worker (${errno ?? 'unknown reason'})`
    throw new StatusError('RESOURCE_EXHAUSTED', message)
  }
  appendFileSync(run.stderrPath, `remexec: cannot run ${JSON.stringify(run.argv[0])}: ${why.reason}\n`)
  return { exitCode: why.exitCode, end: 'exited', durationMs: 0, areFilesFree: false }
}

const START_FAILURES: Readonly<Record<string, { readonly exitCode: number; readonly reason: string }>> = {
  ENOENT: { exitCode: 127, reason: 'there is no such program, or its interpreter is missing' },
  ENOTDIR: { exitCode: 127, reason: 'part of its path is not a directory' },
  ENAMETOOLONG: { exitCode: 127, reason: 'its path is too long' },
  ELOOP: { exitCode: 127, reason: 'its path has too many symlinks' },
  EACCES: { exitCode: 126, reason: 'it is not an executable file' },
  EISDIR: { exitCode: 126, reason: 'it is a directory' },
  ENOEXEC: { exitCode: 126, reason: 'it is not in a format this machine executes' },
  EPERM: { exitCode: 126, reason: 'this machine does not permit it' },
  ETXTBSY: { exitCode: 126, reason: 'it is being written' },
  E2BIG: { exitCode: 126, reason: 'its arguments and environment are too long for this machine' },
}

/** What setTimeout can count; longer waits are cut to these 24 days. */
const MAX_TIMER_MS = 2 ** 31 - 1
