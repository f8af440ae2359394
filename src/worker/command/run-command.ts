import { ftruncateSync, writeSync } from 'node:fs'
import { whenAborted } from '../../base/cancellation.js'
import { StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Launch, Launcher, LaunchFailed } from './launcher.js'
import { OutdatedSandbox } from './outdated-sandbox.js'
import { type ConfinedCommand, startFailure } from './sandbox.js'
import type { Program, ProgramUsage } from './starter.js'

export interface CommandRun extends Pick<Program, 'killAll'> {
  /** The program (absolute, relative to `cwd`, or looked up in the PATH of `environment`) and its arguments. */
  readonly argv: readonly string[]
  /** The command line that runs it in a sandbox, and a descriptor for the sandbox's status. */
  readonly confined?: (ConfinedCommand & { readonly status: number; readonly gate?: number | undefined }) | undefined
  /** Absolute. Must exist. */
  readonly cwd: string
  /** The whole environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Descriptors that receive the two streams. */
  readonly stdout: number
  readonly stderr: number
  /** Counted from the start of the program. */
  readonly timeoutMs: number
  /** Time from SIGTERM to SIGKILL after the timeout or an abort; 0 for SIGKILL at once. */
  readonly graceMs: number
  /** An abort ends the command. */
  readonly signal: AbortSignal
  /** An abort ends the grace of a command that is being ended. */
  readonly hurry?: AbortSignal | undefined
  /** Called with the process group while it is alive. `exceed` ends the command because it exceeded a limit. */
  readonly onStart?: (processGroup: number, exceed: (what: string) => void) => void
}

/** Of a command and all its processes, in a control group. */
export interface GroupMemory {
  readonly peakBytes: number | undefined
  readonly limitBytes: number | undefined
  /** The kernel ended them at the limit. */
  readonly isExceeded: boolean
}

export interface CommandExit {
  /**
   * The program's own exit code; 128+n after signal n; 127 if the program was not found; 126 if it could not be
   * executed.
   */
  readonly exitCode: number
  /**
   * All except `exited` mean that the worker ended the command; the exit code is then its own, if it ended by itself after
   * SIGTERM.
   */
  readonly end: 'exited' | 'timed out' | 'killed' | 'exceeded'
  /** Which limit was exceeded, in words. */
  readonly excess?: string | undefined
  readonly durationMs: number
  /** Resource usage, if the system reports it. */
  readonly usage?: ProgramUsage | undefined
  /** Of all its processes together, in a control group. */
  readonly memory?: GroupMemory | undefined
}

/**
 * Runs a program without a shell, in its own process group, with empty stdin. When it ends for any reason, all
 * processes left in the group are killed. If the program cannot be started, that is a result and not a failure of the
 * worker: the exit code is that of shells, and stderr has the reason. Rejects with RESOURCE_EXHAUSTED if the machine is why, with
 * OutdatedSandbox if another try may succeed.
 */
export const runCommand = async (run: CommandRun, launcher: Launcher): Promise<CommandExit> => {
  const { confined, cwd, stdout, stderr, signal, graceMs, hurry } = run
  let timer: NodeJS.Timeout | undefined
  let reason: Exclude<CommandExit['end'], 'exited'> = 'killed'
  let excess: string | undefined
  const onStart = (processGroup: number): void => {
    timer = guardedTimeout(
      () => {
        if (!signal.aborted) reason = 'timed out'
        launch.terminate(graceMs)
      },
      Math.min(run.timeoutMs, MAX_TIMER_MS),
    )
    run.onStart?.(processGroup, (what) => {
      if (!signal.aborted && reason === 'killed') {
        reason = 'exceeded'
        excess = what
      }
      launch.kill()
    })
  }
  const environment = Object.entries(confined?.environment ?? run.environment)
  const argv = confined?.argv ?? run.argv
  const { status, gate } = confined ?? {}
  const isMonitor = confined !== undefined
  const program = { argv, cwd, environment, stdout, stderr, status, gate, isMonitor, killAll: run.killAll }
  const launch: Launch = launcher.launch(program, onStart)
  const onAbort = (): void => launch.terminate(graceMs)
  const onHurry = (): void => {
    if (signal.aborted || reason === 'timed out') launch.kill()
  }
  whenAborted(signal, onAbort)
  if (hurry !== undefined) {
    whenAborted(hurry, onHurry)
  }
  if (signal.aborted) onAbort()
  try {
    const outcome = await launch.outcome
    if (outcome.kind === 'failed') return notStarted(outcome, run)
    const { exitCode, durationMs, wasKilled, usage } = outcome
    if (status !== undefined && exitCode === 1 && !wasKilled) {
      const failure = startFailure(run.argv[0] ?? '', { stderr, status })
      if (failure !== undefined) return notStarted(failure, run)
    }
    return { exitCode, end: wasKilled ? reason : 'exited', excess: wasKilled ? excess : undefined, durationMs, usage }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
    hurry?.removeEventListener('abort', onHurry)
  }
}

const notStarted = ({ errno, reason }: Pick<LaunchFailed, 'errno'> & { readonly reason?: string }, run: CommandRun) => {
  const why = errno === undefined ? undefined : START_FAILURES[errno]
  if (why === undefined) {
    const message = `no process could be started on this worker (${errno ?? (reason || 'unknown reason')})`
    const Failure = run.confined?.isOutdated(reason ?? '') === true ? OutdatedSandbox : StatusError
    throw new Failure('RESOURCE_EXHAUSTED', message)
  }
  // Removes the sandbox's own message.
  ftruncateSync(run.stderr)
  writeSync(run.stderr, `remexec: cannot run ${JSON.stringify(run.argv[0])}: ${why.reason}\n`, 0)
  return { exitCode: why.exitCode, end: 'exited', durationMs: 0 } as const
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

/** The maximum of setTimeout, about 24 days. Longer timeouts are cut. */
export const MAX_TIMER_MS = 2 ** 31 - 1
