import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { StatusError } from '../../base/status-error.js'
import { errnoOf } from '../disk/fs-failure.js'

export interface CommandRun {
  /** The program (absolute, relative to `cwd`, or looked up in the PATH of `environment`) and its arguments. */
  readonly argv: readonly string[]
  /** Absolute. Must exist. */
  readonly cwd: string
  /** All of it: nothing is inherited. */
  readonly environment: Readonly<Record<string, string>>
  /** Files that receive the two streams; they must not exist yet. */
  readonly stdoutPath: string
  readonly stderrPath: string
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
}

/**
 * Runs a program without a shell, in a process group of its own, with empty stdin. When it is over, whatever the way,
 * every process left in the group is killed. A program that cannot be started is a result and not a failure of the
 * worker: the exit code is the one shells give, and the reason stands in stderr.
 */
export const runCommand = async (run: CommandRun): Promise<CommandExit> => {
  // Synchronous on purpose: opening costs 10 µs here and five times that through the thread pool, and fork blocks anyway.
  const stdout = openSync(run.stdoutPath, 'wx', 0o600)
  const stderr = openStderr(run, stdout)
  try {
    const child = start(run, stdout, stderr)
    if (child.pid !== undefined) return awaitExit(child, child.pid, run)
    const [error] = await once(child, 'error')
    return notStarted(error, run)
  } catch (error) {
    return notStarted(error, run)
  }
}

const openStderr = (run: CommandRun, stdout: number): number => {
  try {
    return openSync(run.stderrPath, 'wx', 0o600)
  } catch (error) {
    closeSync(stdout)
    throw error
  }
}

const start = (run: CommandRun, stdout: number, stderr: number): ChildProcess => {
  const [program = '', ...args] = run.argv
  try {
    return spawn(program, args, {
      cwd: run.cwd,
      env: run.environment,
      detached: true,
      stdio: ['ignore', stdout, stderr],
    })
  } finally {
    closeSync(stdout)
    closeSync(stderr)
  }
}

const awaitExit = async (child: ChildProcess, pid: number, run: CommandRun): Promise<CommandExit> => {
  const startMs = performance.now()
  let end: CommandExit['end'] = 'exited'
  const stop = (reason: 'timed out' | 'killed') => {
    if (end !== 'exited') return
    end = reason
    killGroup(pid)
  }
  const timer = setTimeout(() => stop('timed out'), Math.min(run.timeoutMs, MAX_TIMER_MS))
  const onAbort = () => stop('killed')
  run.signal.addEventListener('abort', onAbort, { once: true })
  run.onStart?.(pid)
  if (run.signal.aborted) onAbort()
  const { code, signal } = await exitOf(child)
  clearTimeout(timer)
  run.signal.removeEventListener('abort', onAbort)
  killGroup(pid)
  const exitCode = signal === null ? (code ?? 0) : 128 + constants.signals[signal]
  return { exitCode, end, durationMs: performance.now() - startMs }
}

const exitOf = (child: ChildProcess) =>
  new Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }))
  })

const killGroup = (processGroup: number): void => {
  try {
    process.kill(-processGroup, 'SIGKILL')
  } catch (error) {
    // Nobody is left in the group: that is what was wanted.
    if (errnoOf(error) !== 'ESRCH') throw error
  }
}

const notStarted = (error: unknown, run: CommandRun): CommandExit => {
  const errno = errnoOf(error)
  const why = errno === undefined ? undefined : START_FAILURES[errno]
  if (why === undefined) {
    const message = `no process could be started on this worker (${errno ?? 'unknown reason'})`
    throw new StatusError('RESOURCE_EXHAUSTED', message, { cause: error })
  }
  appendFileSync(run.stderrPath, `remexec: cannot run ${JSON.stringify(run.argv[0])}: ${why.reason}\n`)
  return { exitCode: why.exitCode, end: 'exited', durationMs: 0 }
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
