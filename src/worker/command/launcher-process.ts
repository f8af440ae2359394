import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'
import { forkStarter } from './fork-starter.js'
import { killGroup } from './kill-group.js'
import type { FromLauncher, LaunchRequest, ToLauncher } from './launch-messages.js'
import { type Libc, loadLibc } from './libc.js'
import { posixStarter } from './posix-starter.js'
import type { Starter } from './starter.js'

// The launcher: a process that does nothing but start commands for its worker (see launcher.ts). It imports as little as
// it can, because what it costs to start a program grows with the memory of the process that does it.

interface Launched {
  pid: number
  wasKilled: boolean
}

const launched = new Map<number, Launched>()
let messages: FromLauncher[] = []

/** A worker that is gone hears nothing any more: 'disconnect' deals with that. */
const tell = (message: FromLauncher): void => {
  messages.push(message)
  if (messages.length > 1) return
  setImmediate(() => {
    process.send?.(messages, undefined, undefined, () => {})
    messages = []
  })
}

interface Means {
  readonly libc: Libc | undefined
  readonly start: Starter
}

let means: Means | undefined

const loaded = (): Means => {
  if (means === undefined) {
    const libc = loadLibc((reason) => tell({ kind: 'forks', reason }))
    means = { libc, start: libc === undefined ? forkStarter : posixStarter(libc) }
  }
  return means
}

const launch = (request: LaunchRequest): void => {
  const { id, argv, cwd, environment, stdoutPath, stderrPath } = request
  const startMs = performance.now()
  const output = openOutput(request)
  if (output === undefined) return
  const running: Launched = { pid: 0, wasKilled: false }
  loaded().start(
    { argv, cwd, environment, ...output },
    {
      onStart: (pid) => {
        running.pid = pid
        launched.set(id, running)
        tell({ kind: 'started', id, pid })
      },
      onExit: (exitCode) => {
        killGroup(running.pid)
        launched.delete(id)
        const durationMs = performance.now() - startMs
        const areFilesFree = [stdoutPath, stderrPath].every(isFree)
        tell({ kind: 'ended', id, exitCode, wasKilled: running.wasKilled, durationMs, areFilesFree })
      },
      onFailure: (errno) => tell({ kind: 'failed', id, attempted: 'spawn', errno }),
    },
  )
  for (const file of Object.values(output)) closeSync(file)
}

const openOutput = (request: LaunchRequest): { readonly stdout: number; readonly stderr: number } | undefined => {
  const { id, stdoutPath, stderrPath, reusesFiles } = request
  const flags = reusesFiles ? constants.O_WRONLY | constants.O_NOFOLLOW : 'wx'
  let stdout: number | undefined
  try {
    stdout = openSync(stdoutPath, flags, 0o600)
    return { stdout, stderr: openSync(stderrPath, flags, 0o600) }
  } catch (error) {
    if (stdout !== undefined) closeSync(stdout)
    tell({ kind: 'failed', id, attempted: 'open', errno: errnoOf(error) })
    return undefined
  }
}

const F_WRLCK = 1
const F_UNLCK = 2
/** Whatever a program has put in place of its file. */
const CAREFULLY = constants.O_RDWR | constants.O_NOFOLLOW | constants.O_NONBLOCK
const FILE_MODE = constants.S_IFREG | 0o600

/**
 * Whether a file is empty and nobody has it open: the system gives a write lease only then. Else what a program left
 * running could write into the output of the next one.
 */
const isFree = (path: string): boolean => {
  const { libc } = loaded()
  if (libc === undefined) return false
  let file: number | undefined
  try {
    file = openSync(path, CAREFULLY)
    const { size, nlink, mode } = fstatSync(file)
    if (size > 0 || nlink !== 1 || mode !== FILE_MODE || libc.setLease(file, F_WRLCK) !== 0) return false
    return libc.setLease(file, F_UNLCK) === 0
  } catch {
    // Gone or made inaccessible: its worker makes another one.
    return false
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

const kill = (running: Launched): void => {
  running.wasKilled = true
  killGroup(running.pid)
}

process.on('message', (received: readonly ToLauncher[]) => {
  for (const message of received) {
    if (message.kind === 'launch') {
      launch(message)
      continue
    }
    const running = launched.get(message.id)
    if (running !== undefined) kill(running)
  }
})

// The worker has closed, or died: nothing it started may go on.
const end = (): void => {
  for (const running of launched.values()) kill(running)
  process.exit()
}

process.once('disconnect', end)
if (process.connected) {
  tell({ kind: 'ready' })
  // Takes 50 ms, which nobody has to wait for before there is something to start.
  setImmediate(() => setImmediate(loaded))
} else end()
