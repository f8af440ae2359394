import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { silentLog } from '../../../src/log/log.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { WorkDirectory } from '../../../src/worker/disk/work-directory.js'
import { loader, programAt } from '../../built.js'
import { FileStore } from '../file-store.js'

const run = promisify(execFile)

t.test('a worker that is killed before any step of a change leaves nothing, and no input is damaged', async (t) => {
  const program = programAt('test/worker/input/changing.ts')
  const change = (folder: string, step: number) =>
    run(process.execPath, [...loader, program, folder, String(step)]).then(
      ({ stdout }) => ({ steps: Number(stdout) }),
      ({ signal }: { signal: string }) => ({ signal }),
    )
  const whole = await change(t.testdir({ work: {} }), 0)
  const steps = 'steps' in whole ? whole.steps : 0
  t.ok(steps > 12, `${steps} steps`)
  const folder = t.testdir({ work: {} })
  for (let step = 1; step <= steps; step++) {
    t.same(await change(folder, step), { signal: 'SIGKILL' }, `killed before step ${step}`)
    const [session, ...others] = readdirSync(join(folder, 'work'))
    t.same(others, [])
    t.ok(session, 'the worker was killed while it had a root')
    const next = WorkDirectory.open(join(folder, 'work'), silentLog)
    next.removeRemains()
    await next.settle()
    await next.close()
    t.same(readdirSync(join(folder, 'work')), [], 'the next worker removes what it left')
    const store = new FileStore(join(folder, 'cas'))
    for (const key of readdirSync(join(folder, 'cas')).filter((name) => name !== 'x')) {
      const digest = Digest.ofKey(key) as Digest
      t.equal(Digest.of(store.bytesOf(digest), digestFunctions.SHA256).key, key)
    }
  }
})
