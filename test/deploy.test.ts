import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { cleanEnv, run } from './clients/process.js'
import { findClient } from './clients/recipe/recipe.js'
import { root, scratchFolder } from './clients/scratch.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const systemd = await findClient('REMEXEC_TEST_SYSTEMD_ANALYZE', 'systemd-analyze')

t.test('systemd takes the unit', { skip: systemd === undefined && 'needs systemd-analyze' }, async (t) => {
  const folder = await scratchFolder(t)
  const unit = join(root, 'deploy/remexec.service')
  t.same(await run(systemd ?? '', ['verify', '--man=no', unit], folder, cleanEnv(folder)), { code: 0, output: '' })
})

t.test('the variables that deploy/ sets are those the default configuration reads', async (t) => {
  const config = read('fixtures/configs/default.json5')
  for (const file of ['deploy/remexec.service', 'deploy/Containerfile']) {
    const variables = [...read(file).matchAll(/\b(REMEXEC_[A-Z_]+)=/g)].map(([, name]) => name)
    t.ok(variables.length > 0, file)
    for (const name of variables) t.ok(config.includes(`\${${name}:-`), `${file}: ${name}`)
  }
})

t.test('the pages link to what is there, and the package has it', async (t) => {
  const { files } = JSON.parse(read('package.json')) as { files: string[] }
  for (const page of ['README.md', 'docs/operation.md', 'docs/architecture.md']) {
    const links = [...read(page).matchAll(/\]\(([^)#:]+)\)/g)].map(([, link = '']) => join(page, '..', link))
    t.ok(links.length > 0 || page.endsWith('architecture.md'), page)
    for (const link of links) {
      t.ok(existsSync(join(root, link)), `${page}: ${link}`)
      const isPacked = files.some((part) => link === part || link.startsWith(`${part}/`))
      t.ok(isPacked || link.startsWith('conformance/'), `${page}: ${link} is in the package`)
    }
  }
})
