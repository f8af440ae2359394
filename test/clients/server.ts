/** The server as `npm start` runs it: the built program in a process of its own, with the default configuration. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Test } from 'tap'
import { killed, Started } from '../cli/killed.js'
import { root } from './scratch.js'

export interface Server {
  /** As clients want it: `grpc://127.0.0.1:PORT`. */
  readonly uri: string
  /** Everything it logged so far. */
  readonly log: () => string
  /** Asks it to stop as a service manager does, and gives the exit code. */
  readonly stop: () => Promise<number | null>
  /** Kills it as kill -9 does, and resolves when it and its workers are gone. */
  readonly crash: () => Promise<number | null>
}

const startLimitMs = 30_000

const SERVING = /serving (grpc:\/\/[\w.:[\]-]+)/

export interface ServerOptions {
  /** The node that runs it; by default the one that runs the tests. */
  readonly node?: string
  /** The folder of the package; by default this checkout. */
  readonly from?: string
  /** The path of its configuration; by default that of `npm start`. */
  readonly config?: string
  /** What it says once it can be used, with the address if there is one. */
  readonly ready?: RegExp
  /** Environment beyond that of the default configuration. */
  readonly env?: Readonly<Record<string, string>>
}

/** Starts a server that keeps its data in `dataFolder`, on a port of the system's choice. */
export const startServer = async (
  t: Test,
  dataFolder: string,
  { node = process.execPath, from = root, config, ready = SERVING, env = {} }: ServerOptions = {},
): Promise<Server> => {
  const program = join(from, 'dist', 'cli.js')
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build makes it`)
  const child = spawn(node, [program, config ?? join(from, 'deploy/recipes/machine/remexec.json5')], {
    cwd: from,
    env: {
      PATH: process.env['PATH'],
      REMEXEC_DATA: dataFolder,
      REMEXEC_PORT: '0',
      REMEXEC_WORKER_PORT: '0',
      REMEXEC_LOG_FORMAT: 'text',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  const started = new Started(child)
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve))
  const kill = () => child.kill('SIGKILL')
  process.once('exit', kill)
  exited.then(() => process.removeListener('exit', kill))
  t.teardown(() => killed(child, started))

  const uri = await new Promise<string>((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`the server ${why}:\n${log}`))
    // biome-ignore lint/plugin: the limit of a start, which names it
    const limit = setTimeout(fail, startLimitMs, `names no address after ${startLimitMs} ms`)
    child.once('error', reject)
    child.once('close', (code) => fail(`ended with ${code}`))
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        log += `${line}\n`
        started.heard()
        const found = ready.exec(line)
        if (found === null) return
        clearTimeout(limit)
        resolve(found[1] ?? '')
      })
    }
  })
  return {
    uri,
    log: () => log,
    stop: () => {
      child.kill('SIGTERM')
      return exited
    },
    crash: async () => {
      await killed(child, started)
      return exited
    },
  }
}
