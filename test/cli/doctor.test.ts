import { spawnSync } from 'node:child_process'
import t from 'tap'
import { found } from '../until.js'
import { program, root, serve } from './program.js'

const TEAM = `${root}deploy/recipes/team/remexec.json5`

t.test('doctor lists errors first, with what to do, and its status tells scripts', async (t) => {
  const data = t.testdir({ cas: 'a file in the place of the folder' })
  const env = { PATH: process.env['PATH'], HOME: data, REMEXEC_DATA: data, REMEXEC_CAS_SIZE: '900tb' }
  const { status, stdout } = spawnSync(process.execPath, [program, 'doctor', TEAM], { encoding: 'utf8', env })
  t.equal(status, 1)
  t.match(
    stdout,
    /^error {3}store CAS: content_path .*a file is where a directory is expected .*\n {8}-> move that file away/,
  )
  t.match(stdout, /^\d errors, \d warnings?, \d+ checks passed$/m)
  t.notMatch(stdout, /^ok /m)
})

t.test('limits beyond the disk are said at start and in the health report', async (t) => {
  const data = t.testdir()
  const server = serve(t, TEAM, data, { REMEXEC_HOST: '127.0.0.1', REMEXEC_CAS_SIZE: '900tb' })
  await server.hears(/warn {2}may keep 900 TB, more than .* of="disk of CAS, AC" advice="lower max_bytes to/)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+)/)
  // The store checks its files first.
  const report = await found(async () => {
    const text = await (await fetch(`http://${address}/status`)).text()
    return text.includes('Warning') ? text : undefined
  })
  t.match(report, /may keep 900 TB, but its disk has room for [\d.]+ [GT]B: lower max_bytes or make room/)
})
