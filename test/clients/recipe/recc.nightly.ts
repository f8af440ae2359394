import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, run } from '../process.js'
import { copyFixture, scratchFolder } from '../scratch.js'
import { startServer } from '../server.js'
import { clientOrSkip, named, recipeOf, runLines } from './recipe.js'

// For changes in: docs/clients.md, deploy/recipes/machine, fixtures/recc, src/service/execution

t.setTimeout(900_000)

const program = await clientOrSkip(t, 'REMEXEC_TEST_RECC', 'recc')
const folder = await scratchFolder(t)
const cwd = await copyFixture('recc', folder)
const server = await startServer(t, join(folder, 'data'))
const bin = await named(folder, 'recc', program)

t.test('the recipe for recc compiles remotely, then finds the result in the cache', async (t) => {
  const recipe = `export RECC_LOG_LEVEL=info\n${await recipeOf('recc', 'sh', server)}`
  for (const expected of [/Remote execution finished with exit code 0/, /Action Cache hit/]) {
    const { code, output } = await runLines(recipe, { cwd, home: folder, bin })
    t.equal(code, 0) || t.comment(output, server.log())
    t.match(output, expected)
    // What came is an object file that links here.
    const linked = await run('gcc', ['hello.o', '-o', 'hello'], cwd, cleanEnv(folder))
    t.equal(linked.code, 0) || t.comment(linked.output)
    t.same(await run(join(cwd, 'hello'), [], cwd, {}), { code: 0, output: 'hello from afar\n' })
    await rm(join(cwd, 'hello.o'))
  }
})
