import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { constants } from 'node:os'
import { errnoOf } from '../disk/errno.js'
import { killGroup } from './kill-group.js'
import type { FromLauncher, LaunchRequest, ToLauncher } from './launch-messages.js'

// The launcher: a process that does nothing but start commands for its worker (see launcher.ts). It imports as little as
// it can, because what it costs to start a program grows with the memory of the process that does it.

interface Launched {
  readonly pid: number
  wasKilled: boolean
}

const launched = new Map<number, Launched>()

/** A worker that is gone hears nothing any more: 'disconnect' deals with that. */
const tell = (message: FromLauncher): void => void process.send?.(message, undefined, undefined, () => {})

const launch = (request: LaunchRequest): void => {
  const { id } = request
  const startMs = performance.now()
  const output = openOutput(request)
  if (output === undefined) return
  let child: ChildProcess
  try {
    child = start(request, output)
  } catch (error) {
    tell({ kind: 'failed', id, attempted: 'spawn', errno: errnoOf(error) })
    return
  } finally {
    for (const file of output) closeSync(file)
  }
  const { pid } = child
  if (pid === undefined) {
    child.once('error', (error) => tell({ kind: 'failed', id, attempted: 'spawn', errno: errnoOf(error) }))
    return
  }
  const running: Launched = { pid, wasKilled: false }
  launched.set(id, running)
  tell({ kind: 'started', id, pid })
  child.once('exit', (code, signal) => {
    killGroup(pid)
    launched.delete(id)
    const exitCode = signal === null ? (code ?? 0) : 128 + constants.signals[signal]
    const durationMs = performance.now() - startMs
    tell({ kind: 'ended', id, exitCode, wasKilled: running.wasKilled, durationMs })
  })
}

/** Files for stdout and stderr, which must not exist yet. */
const openOutput = ({ id, stdoutPath, stderrPath }: LaunchRequest): readonly number[] | undefined => {
  const files: number[] = []
  try {
    for (const path of [stdoutPath, stderrPath]) files.push(openSync(path, 'wx', 0o600))
    return files
  } catch (error) {
    for (const file of files) closeSync(file)
    tell({ kind: 'failed', id, attempted: 'open', errno: errnoOf(error) })
    return undefined
  }
}

const start = ({ argv, cwd, environment }: LaunchRequest, output: readonly number[]): ChildProcess => {
  const [program = '', ...args] = argv
  // Without a prototype a variable may be called `__proto__`.
  const env: Record<string, string> = Object.create(null)
  for (const [name, value] of environment) env[name] = value
  return spawn(program, args, { cwd, env, detached: true, stdio: ['ignore', ...output] })
}

const kill = (running: Launched): void => {
  running.wasKilled = true
  killGroup(running.pid)
}

process.on('message', (message: ToLauncher) => {
  if (message.kind === 'launch') {
    launch(message)
    return
  }
  const running = launched.get(message.id)
  if (running !== undefined) kill(running)
})

// The worker has closed, or died: nothing it started may go on.
const end = (): void => {
  for (const running of launched.values()) kill(running)
  process.exit()
}

process.once('disconnect', end)
if (process.connected) tell({ kind: 'ready' })
else end()
