import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import { errnoOf } from '../../base/errno.js'
import type { Program, Starter } from './starter.js'

/** Starts programs by Node's `spawn`, which forks. The cost of a fork grows with the memory of this process. */
export const forkStarter: Starter = (program, { onStart, onExit, onFailure }) => {
  let child: ChildProcess
  try {
    child = spawnProgram(program)
  } catch (error) {
    onFailure(errnoOf(error))
    return
  }
  const { pid } = child
  if (pid === undefined) {
    child.on('error', (error) => onFailure(errnoOf(error)))
    return
  }
  onStart(pid)
  child.once('exit', (code, signal) => onExit(signal === null ? (code ?? 0) : 128 + constants.signals[signal]))
}

const spawnProgram = ({ argv, cwd, environment, stdin, stdout, stderr, status, gate }: Program): ChildProcess => {
  const [program = '', ...args] = argv
  // No prototype, because a variable may be called `__proto__`.
  const env: Record<string, string> = Object.create(null)
  for (const [name, value] of environment) env[name] = value
  const files = [status, gate].filter((fd) => fd !== undefined)
  const stdio = [stdin ?? ('ignore' as const), stdout, stderr, ...files]
  return spawn(program, args, { cwd, env, detached: true, stdio })
}
