/** A backend that a test starts: a separate program on ports chosen by the system. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

/** The parts of a test that a backend needs. */
export interface Scope {
  teardown(stop: () => unknown): void
}

export interface Backend {
  /** Its output so far. */
  readonly log: () => string
  /** Kills it. */
  kill(): Promise<void>
  /** Suspends it with its connections open, and resumes it. */
  pause(): void
  resume(): void
}

const START_LIMIT_MS = 30_000

/** Starts it and waits until its output has `ready`. Killed when the test ends. */
export const startBackend = async (
  t: Scope,
  program: string,
  args: readonly string[],
  ready: RegExp,
  { cwd, env = process.env }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Backend> => {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()).once('error', () => resolve()))
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  const killOnExit = (): boolean => child.kill('SIGKILL')
  process.once('exit', killOnExit)
  void ended.then(() => process.removeListener('exit', killOnExit))
  t.teardown(kill)
  const log = await waitFor(child, ready)
  return { log, kill, pause: () => child.kill('SIGSTOP'), resume: () => child.kill('SIGCONT') }
}

const waitFor = (child: ChildProcess, ready: RegExp): Promise<() => string> =>
  new Promise((resolve, reject) => {
    let log = ''
    const fail = (why: string): void => reject(new Error(`${child.spawnfile} ${why}:\n${log}`))
    // biome-ignore lint/plugin: the limit of a start, which names it
    const limit = setTimeout(fail, START_LIMIT_MS, `is not ready after ${START_LIMIT_MS} ms`)
    child.once('error', reject)
    child.once('close', (code) => fail(`ended with ${code}`))
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface(stream).on('line', (line) => {
        log += `${line}\n`
        if (!ready.test(line)) return
        clearTimeout(limit)
        resolve(() => log)
      })
    }
  })

/** An empty folder that is gone when the test ends. */
export const folderOf = async (t: Scope): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'remexec-backend-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Ports that are free now, for programs that cannot choose one. They lie below those that a system hands out for port 0
 * (32768 and up on Linux), and each process of a test run has its own sixteen: a port that a test frees, or has not taken
 * yet, is never given to a test beside it.
 */
export const freePorts = async (count: number): Promise<number[]> => {
  const ports: number[] = []
  for (let tries = 0; ports.length < count && tries < OWN_PORTS.count; tries++) {
    const port = OWN_PORTS.first + (asked++ % OWN_PORTS.count)
    if (await isFree(port)) ports.push(port)
  }
  if (ports.length < count) throw new Error(`only ${ports.length} of ${count} ports are free`)
  return ports
}

const OWN_PORTS = { first: 12_000, count: 20_480 }
let asked = process.pid * 16

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer().listen(port, '127.0.0.1')
  const free = await once(server, 'listening').then(
    () => true,
    () => false,
  )
  if (free) await once(server.close(), 'close')
  return free
}

export const portOf = (address: unknown): number => (address as { readonly port: number }).port
