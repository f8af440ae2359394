import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { killed } from '../cli/killed.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The configuration with everything that checks can ask for. */
export const everything = join(root, 'test', 'conformance', 'mutations.json5')

/**
 * The built server in a process of its own, with everything that checks can ask for; gives its address. `transport` is one
 * of the configuration's.
 */
export const startServer = (t: Test, transport = 'remexec', config = everything): Promise<string> => {
  const child = spawn(process.execPath, [join(root, 'dist', 'cli.js'), config], {
    env: {
      PATH: process.env['PATH'],
      REMEXEC_DATA: t.testdir(),
      REMEXEC_PORT: '0',
      REMEXEC_WORKER_PORT: '0',
      REMEXEC_TRANSPORT: transport,
      REMEXEC_LOG_FORMAT: 'text',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.teardown(() => killed(child))
  return new Promise((resolve, reject) => {
    let log = ''
    child.once('error', reject)
    child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${log}`)))
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        log = `${log}${line}\n`.slice(-10_000)
        const [, address] = /serving (grpcs?:\S+) server=public/.exec(line) ?? []
        if (address !== undefined) resolve(address)
      })
    }
  })
}
