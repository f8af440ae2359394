/** The built program as a user runs it: a process of its own, all of whose words are kept. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'

export const root = fileURLToPath(new URL('../..', import.meta.url))
export const program = `${root}dist/cli.js`

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface Program {
  readonly child: ChildProcess
  /** What it wrote so far, on both of its outputs. */
  said(): string
  /** Resolves when it has said this; rejects when it ended without. */
  hears(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves when it has ended and everything that wrote to its outputs has too. */
  readonly ended: Promise<Ending>
}

export const start = (t: Test, command: readonly string[], options: SpawnOptions = {}): Program => {
  // Without what tap has every Node process below it load, which writes to files that other users may not.
  const child = spawn('env', ['-u', 'NODE_OPTIONS', ...command], {
    cwd: root,
    ...options,
    // Lines as a terminal gets them, which is what most tests look at.
    env: { REMEXEC_LOG_FORMAT: 'text', ...(options.env ?? process.env) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      said += text
      for (const listener of listeners) listener()
    })
  }
  const ended = new Promise<Ending>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
  t.teardown(() => child.kill('SIGKILL'))
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

/** A server with its data in `data` and on ports of the system's choice. */
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

export const DEFAULT = 'fixtures/configs/default.json5'
