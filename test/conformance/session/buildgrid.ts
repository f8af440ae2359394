import { spawn, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { credentials } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { Client } from '../../../conformance/wire/client.js'
import { scratchFolder } from '../../clients/scratch.js'
import { freePorts } from '../../store/remote/backend.js'

const program = process.env['REMEXEC_TEST_BUILDGRID'] ?? 'bgd'

export const needsBuildGrid =
  spawnSync(program, ['--help']).status === 0
    ? false
    : `needs ${program} of BuildGrid, or one in REMEXEC_TEST_BUILDGRID`

const START_LIMIT_MS = 60_000

/** A BuildGrid of its own, with a CAS and an action cache; gives its address. */
export const startBuildGrid = async (t: Test): Promise<string> => {
  const [port] = await freePorts(1)
  const folder = await scratchFolder(t)
  const config = join(folder, 'buildgrid.yml')
  writeFileSync(config, configuration(port ?? 0, join(folder, 'cas')))
  const child = spawn(program, ['server', 'start', config], { stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  t.teardown(() => {
    child.kill('SIGKILL')
    return exited
  })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    log = `${log}${text}`.slice(-10_000)
  })
  const identity = { toolName: 'test', invocationId: 'test' }
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { headers: {}, identity })
  const ended = exited.then(() => Promise.reject(new Error(`BuildGrid ended:\n${log}`)))
  await Promise.race([client.waitForReady(START_LIMIT_MS), ended]).finally(() => client.close())
  return `grpc://127.0.0.1:${port}`
}

const configuration = (port: number, folder: string): string => `
server:
  - !channel { address: '127.0.0.1:${port}', insecure-mode: true }
storages:
  - !disk-storage &blobs { path: '${folder}' }
caches:
  - !lru-action-cache &results { storage: *blobs, max-cached-refs: 1000, allow-updates: true, cache-failed-actions: true }
instances:
  - name: ''
    services:
      - !action-cache { cache: *results }
      - !cas { storage: *blobs }
      - !bytestream { storage: *blobs }
thread-pool-size: 20
`
