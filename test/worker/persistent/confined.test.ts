import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Digest } from '../../../src/reapi/digest.js'
import { Sandbox } from '../../../src/worker/command/sandbox.js'
import { processesOf } from '../../../src/worker/persistent/frozen.js'
import { SHA256 } from '../attempt/runner-set-up.js'
import { noWorkers, setUp } from './set-up.js'

const settings = { ownsMounts: true, keepsNetwork: false, isRoot: false, tmpBytes: 0, hidden: [] }
const sandboxOf = (protectsInputs: boolean) => Sandbox.open({ ...settings, protectsInputs })
const skip =
  noWorkers ||
  (await sandboxOf(true).then(
    () => false as const,
    ({ message }: Error) => message,
  ))

for (const protectsInputs of [true, false]) {
  t.test(
    `a confined process serves requests, and reaches no file of the store (${protectsInputs})`,
    { skip },
    async (t) => {
      const { runTool, pool, store, directory } = await setUp(t, { sandbox: await sandboxOf(protectsInputs) })
      const inputs = { a: 'precious', 'd/b': 'too' }
      const first = await runTool({
        steps: ['facts out', 'write /tmp/kept 1', 'list ls'],
        inputs,
        outputs: ['out', 'ls'],
      })
      t.match(first, { status: 0, exitCode: 0, process: { processRequest: 1 } })
      const again = {
        steps: ['facts out', 'exists /tmp/kept tmp', 'copy a copied'],
        inputs,
        outputs: ['out', 'tmp', 'copied'],
      }
      const second = await runTool(again)
      t.equal(second.out?.split(' ')[1], '2')
      t.match(second.files, { tmp: 'true', copied: 'precious' })
      const kept = Digest.of(Buffer.from('precious'), SHA256)
      t.ok(store.bytesOf(kept).equals(Buffer.from('precious')))
      await runTool({ steps: ['rewrite a spoilt!', 'rewrite d/b bad', 'copy a out'], inputs })
      t.ok(store.bytesOf(kept).equals(Buffer.from('precious')), 'it wrote to a copy')
      t.equal((await runTool({ steps: ['copy a out'], inputs })).out, 'precious', 'that no other request sees')
      t.equal(pool.counts.ends.changed, 1)
      const hidden = join(directory, 'cas')
      t.ok(existsSync(hidden) && statSync(hidden).isDirectory())
    },
  )
}

t.test('only the first request of a process counts as confined', { skip }, async (t) => {
  const { runTool } = await setUp(t, { sandbox: await sandboxOf(true) })
  const { outcome: first } = await runTool({ steps: ['facts out'] })
  const { outcome: second } = await runTool({ steps: ['facts out'] })
  t.same([first.confined, second.confined], [true, false])
})

t.test('a confined process ends with the worker, and with all that it started', { skip }, async (t) => {
  const { runTool, pool } = await setUp(t, { sandbox: await sandboxOf(true) })
  await runTool({ steps: ['child detached', 'facts out'] })
  const [one] = pool.processes
  const all = processesOf(one?.group ?? 0, true)
  t.equal(all.length, 2, 'the tool and its child')
  await pool.close()
  for (const pid of all) t.notOk(existsSync(`/proc/${pid}`))
})
