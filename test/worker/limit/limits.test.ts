import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { loader, programAt } from '../../built.js'

t.test('a worker without free descriptors keeps checking the limits of its actions', async (t) => {
  const root = t.testdir({ file: 'x'.repeat(10_000) })
  const program = programAt('test/worker/limit/out-of-descriptors.ts')
  const script = 'ulimit -n 128; exec "$0" "$@"'
  const env = { PATH: process.env['PATH'] }
  const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script, process.execPath, ...loader, program, root], {
    env,
  })
  t.match(stdout, /of=processes reason=.*EMFILE/)
  t.match(stdout, /of=files reason=.*EMFILE/)
  t.match(stdout, /stopped: its files have more than 1000 bytes/, 'the limit holds once there are descriptors again')
  t.equal(stdout.match(/warned/g)?.length, 2, 'each failure is logged once for an action')
})
