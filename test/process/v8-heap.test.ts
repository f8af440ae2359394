import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { loader, programAt } from '../built.js'

const transfers = programAt(new URL('transfers.ts', import.meta.url))

/** V8 chooses this by how fast it was lately, so only some processes get into it by themselves. */
const LEAST_GROWTH = '--heap-growing-percent=1'

/** How often V8 collects the whole heap of a process that transfers much, and that it lets grow least. */
const collections = async (...args: readonly string[]): Promise<number> => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    LEAST_GROWTH,
    '--trace-gc',
    ...loader,
    transfers,
    ...args,
  ])
  return stdout.match(/Mark-Compact/g)?.length ?? 0
}

t.test('a small heap is not collected as a whole again and again while much is transferred', async (t) => {
  const without = await collections()
  const prepared = await collections('prepared')
  t.ok(without >= 10, `${without} without`)
  t.ok(prepared * 2 < without, `${prepared} prepared, ${without} without`)
})
