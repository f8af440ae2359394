import { readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { copyFixture, scratchFolder } from '../scratch.js'
import { startServer } from '../server.js'
import { clientOrSkip, named, recipeOf, runLines } from './recipe.js'

// For changes in: docs/clients.md, deploy/recipes/machine, fixtures/pants, src/service/execution

t.setTimeout(900_000)

const program = await clientOrSkip(t, 'REMEXEC_TEST_PANTS', 'pants')
const folder = await scratchFolder(t)
const cwd = await copyFixture('pants', folder)
const server = await startServer(t, join(folder, 'data'))
const bin = await named(folder, 'pants', program)

t.test('the recipe for Pants runs a command remotely, then finds its result in the cache', async (t) => {
  await writeFile(join(cwd, 'remote.toml'), await recipeOf('Pants', 'toml', server))
  const lines = 'pants --pants-config-files=remote.toml export-codegen ::'
  for (const expected of [/remote_execution_success: [1-9]/, /remote_cache_requests_cached: [1-9]/]) {
    // What it keeps here is in the home folder.
    const home = join(folder, 'home')
    const { code, output } = await runLines(lines, { cwd, home, bin })
    t.equal(code, 0) || t.comment(output, server.log())
    t.match(output, expected)
    t.equal(await readFile(join(cwd, 'dist/codegen/words/upper.txt'), 'utf8'), 'ALPHA\nBETA\n')
    await rm(home, { recursive: true })
    await rm(join(cwd, 'dist'), { recursive: true })
  }
})
