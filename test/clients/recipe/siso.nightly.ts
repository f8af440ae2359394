import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { copyFixture, scratchFolder } from '../scratch.js'
import { startServer } from '../server.js'
import { clientOrSkip, named, recipeOf, runLines } from './recipe.js'

// For changes in: docs/clients.md, deploy/recipes/machine, fixtures/siso, src/service/execution

t.setTimeout(900_000)

const program = await clientOrSkip(t, 'REMEXEC_TEST_SISO', 'siso')
const folder = await scratchFolder(t)
const server = await startServer(t, join(folder, 'data'))
const bin = await named(folder, 'siso', program)

t.test('the recipe for Siso runs steps remotely, then takes them from the cache', async (t) => {
  const recipe = await recipeOf('Siso', 'sh', server)
  for (const expected of [/\bremote:2 cache:0\b/, /\bremote:0 cache:2\b/]) {
    // Siso keeps what it knows of a build beside its outputs.
    const cwd = await copyFixture('siso', folder)
    const { code, output } = await runLines(recipe, { cwd, home: folder, bin })
    t.equal(code, 0) || t.comment(output, server.log())
    t.match(output, expected)
    t.match(output, /\blocal:0\b/)
    t.equal(await readFile(join(cwd, 'out/upper.txt'), 'utf8'), 'ALPHA\nBETA\n')
    await rm(cwd, { recursive: true })
  }
})
