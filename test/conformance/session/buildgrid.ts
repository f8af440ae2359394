import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { scratchFolder } from '../../clients/scratch.js'
import { freePorts } from '../../store/remote/backend.js'
import { startForeign } from './foreign-server.js'

const program = process.env['REMEXEC_TEST_BUILDGRID'] ?? 'bgd'

export const needsBuildGrid =
  spawnSync(program, ['--help']).status === 0
    ? false
    : `needs ${program} of BuildGrid, or one in REMEXEC_TEST_BUILDGRID`

/** A BuildGrid of its own, with a CAS and an action cache; gives its address. */
export const startBuildGrid = async (t: Test): Promise<string> => {
  const [port] = await freePorts(1)
  const folder = await scratchFolder(t)
  const config = join(folder, 'buildgrid.yml')
  writeFileSync(config, configuration(port ?? 0, join(folder, 'cas')))
  return startForeign(t, port ?? 0, program, ['server', 'start', config])
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
