import { appendFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { copyFixture, scratchFolder } from '../scratch.js'
import { startServer } from '../server.js'
import { clientOrSkip, named, recipeOf, runLines } from './recipe.js'

// For changes in: docs/clients.md, deploy/recipes/machine, fixtures/moon

t.setTimeout(900_000)

const program = await clientOrSkip(t, 'REMEXEC_TEST_MOON', 'moon')
const folder = await scratchFolder(t)
const cwd = await copyFixture('moon', folder)
const server = await startServer(t, join(folder, 'data'))
const bin = await named(folder, 'moon', program)

t.test('the recipe for moon stores a result, then takes it from the cache', async (t) => {
  await appendFile(join(cwd, '.moon/workspace.yml'), await recipeOf('moon', 'yaml', server))
  const commit = `git init --quiet --initial-branch=main && git add . &&
    git -c user.name=remexec -c user.email=remexec@localhost commit --quiet --message=fixture`
  const committed = await runLines(commit, { cwd, home: folder, bin })
  t.equal(committed.code, 0) || t.comment(committed.output)
  for (const isCached of [false, true]) {
    const { code, output } = await runLines('moon run app:report', { cwd, home: folder, bin })
    t.equal(code, 0) || t.comment(output, server.log())
    t.equal(/cached from remote/.test(output), isCached)
    t.equal(await readFile(join(cwd, 'app/out/report.txt'), 'utf8'), 'ALPHA\nBETA\n')
    await rm(join(cwd, '.moon/cache'), { recursive: true })
    await rm(join(cwd, 'app/out'), { recursive: true })
  }
})
