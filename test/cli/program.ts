/** The built program, run like by a user in its own process. All of its output is kept. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { killed, Started } from './killed.js'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const program = `${root}dist/cli.js`

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Program {
  readonly child: ChildProcess
  /** The output so far, on both streams. */
  said(): string
  /** Resolves when the output matches; rejects if the process ends before. */
  hears(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves when the process and all processes with its output streams have ended. */
  readonly ended: Promise<Ending>
}

export const start = (t: Test, command: readonly string[], options: SpawnOptions = {}): Program => {
  // Without the variables by which tap instruments Node processes, because the instrumentation writes to files that other users may not write.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', ...command], {
    cwd: root,
    ...options,
    // Text lines, as on a terminal, which most tests read.
    env: { REMEXEC_LOG_FORMAT: 'text', ...(options.env ?? process.env) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const started = new Started(child)
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      started.heard()
      for (const listener of listeners) listener()
    })
  }
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  t.teardown(() => killed(child, started))
  const hears = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(said)
        if (found === null) return
        listeners.delete(look)
        resolve(found)
      }
      listeners.add(look)
      look()
      ended.then(({ code }) => reject(new Error(`ended with ${code} before ${pattern}:\n${said}`)), reject)
    })
  return { child, said: () => said, hears, ended }
}

/** A server with its data in `data` and ports chosen by the system. */
export const serve = (
  t: Test,
  config: string,
  data: string,
  env: NodeJS.ProcessEnv = {},
  options: SpawnOptions = {},
): Program =>
  start(t, [process.execPath, program, config], {
    ...options,
    env: {
      PATH: process.env['PATH'],
      HOME: data,
      REMEXEC_DATA: data,
      REMEXEC_PORT: '0',
      REMEXEC_WORKER_PORT: '0',
      ...env,
    },
  })

export const DEFAULT = 'deploy/recipes/machine/remexec.json5'
