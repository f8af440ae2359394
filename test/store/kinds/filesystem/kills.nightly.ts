// For changes in: src/store/kinds/filesystem, src/store/index
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { loader, programOf } from './program.js'

t.setTimeout(900_000)

t.test('kill -9 of thirty writers loses no recent blob and restores no removed one', async (t) => {
  const run = promisify(execFile)(process.execPath, [...loader, programOf('kills.ts'), '30'])
  const output = await run.catch((error: { readonly stdout: string }) => error)
  t.comment(output.stdout)
  t.equal('code' in output, false, 'every kind of work took place, and nothing was lost')
})
