import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Test } from 'tap'
import { scratchFolder } from '../../clients/scratch.js'
import { freePorts } from '../../store/remote/backend.js'
import { startForeign } from './foreign-server.js'

const programs = process.env['REMEXEC_TEST_BUILDBOX'] ?? '/usr/bin'
const program = join(programs, 'buildbox-casd')

export const needsBuildBox =
  spawnSync(program, ['--version']).status === 0
    ? false
    : `needs ${program} of BuildBox, or a folder with it in REMEXEC_TEST_BUILDBOX`

/** A buildbox-casd of its own, which keeps blobs and results and runs actions by itself; gives its address. */
export const startBuildBox = async (t: Test): Promise<string> => {
  const [port] = await freePorts(1)
  const runner = join(programs, 'buildbox-run-hosttools')
  const args = ['--bind', `127.0.0.1:${port}`, '--buildbox-run', runner, '--quota-high', '1G', await scratchFolder(t)]
  return startForeign(t, port ?? 0, program, args)
}
