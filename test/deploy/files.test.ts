import { existsSync, readFileSync } from 'node:fs'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { KINDS } from '../../src/ledger/kinds.js'
import { cleanEnv, run } from '../clients/process.js'
import { findClient } from '../clients/recipe/recipe.js'
import { root, scratchFolder } from '../clients/scratch.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const systemd = await findClient('REMEXEC_TEST_SYSTEMD_ANALYZE', 'systemd-analyze')

/** Each with the configurations that it is for. */
const UNITS = {
  'remexec.service': ['deploy/recipes/machine/remexec.json5'],
  'remexec-worker.service': ['deploy/recipes/workers/worker.json5', 'deploy/chart/config/worker.json5'],
}

for (const [name, configs] of Object.entries(UNITS)) {
  t.test(`systemd takes ${name}`, { skip: systemd === undefined && 'needs systemd-analyze' }, async (t) => {
    const folder = await scratchFolder(t)
    const unit = join(root, 'deploy', name)
    t.same(await run(systemd ?? '', ['verify', '--man=no', unit], folder, cleanEnv(folder)), { code: 0, output: '' })
  })

  t.test(
    `${name} gives little to who breaks in`,
    { skip: systemd === undefined && 'needs systemd-analyze' },
    async (t) => {
      const folder = await scratchFolder(t)
      const args = ['security', '--offline=true', '--no-pager', '--threshold=40', join(root, 'deploy', name)]
      const { code, output } = await run(systemd ?? '', args, folder, cleanEnv(folder))
      t.equal(code, 0, output.trim().split('\n').at(-1) ?? '')
    },
  )

  for (const config of configs)
    t.test(`the variables of ${name} are those that ${config} reads`, async (t) =>
      readsThem(t, `deploy/${name}`, config),
    )
}

t.test(
  'systemd takes the drop-in for secrets',
  { skip: systemd === undefined && 'needs systemd-analyze' },
  async (t) => {
    const folder = await scratchFolder(t)
    const dropIn = join(folder, 'remexec.service.d/secrets.conf')
    await cp(join(root, 'deploy/remexec.service'), join(folder, 'remexec.service'))
    await cp(join(root, 'deploy/remexec-secrets.conf'), dropIn)
    const verify = () =>
      run(systemd ?? '', ['verify', '--man=no', join(folder, 'remexec.service')], folder, cleanEnv(folder))
    t.same(await verify(), { code: 0, output: '' })
    const files = [...read('deploy/recipes/ci/remexec.json5').matchAll(/\$\{REMEXEC_ETC:-[^}]*\}\/([\w.]+)/g)]
    const passed = [...read('deploy/remexec-secrets.conf').matchAll(/^LoadCredential=([\w.]+):/gm)]
    t.same(new Set(passed.map(([, name]) => name)), new Set(files.map(([, name]) => name)), 'what the recipe reads')
    await writeFile(dropIn, read('deploy/remexec-secrets.conf').replace('LoadCredential=', 'LoadCredentials='))
    t.match((await verify()).output, /Unknown key .*'LoadCredentials'/, 'a mistake in it would be seen')
  },
)

t.test('the variables of the image are those the default configuration reads', async (t) =>
  readsThem(t, 'deploy/Containerfile', 'deploy/recipes/machine/remexec.json5'),
)

const readsThem = (t: Test, file: string, config: string): void => {
  const variables = [...read(file).matchAll(/\b(REMEXEC_[A-Z_]+)=/g)].map(([, name = '']) => name)
  t.ok(variables.length > 0)
  for (const name of variables) t.ok(read(config).includes(`\${${name}:-`), name)
}

t.test('the limits of memory in the chart hold what clients can make a server hold', async (t) => {
  const bounds = Object.entries(KINDS).filter(
    ([kind]) => !['parked', 'outputs', 'tool_messages', 'inputs'].includes(kind),
  )
  const mib = bounds.reduce((sum, [, { maxBytes }]) => sum + maxBytes / (1024 * 1024), 0)
  t.match(read('docs/operation.md'), `is ${mib.toLocaleString('en')} MiB`, 'the page has the sum')
  // Connections, an idle process, and the objects of calls: the list below that sum.
  const worstMib = mib + 625 + 150 + 100
  t.match(read('docs/operation.md'), `the worst case is ${(worstMib / 1024).toFixed(1)} GiB`)
  const values = read('deploy/chart/values.yaml')
  for (const part of ['server', 'scheduler']) {
    const [, limitGib] = new RegExp(`^${part}:[\\s\\S]*?limits: \\{ memory: (\\d+)Gi`, 'm').exec(values) ?? []
    t.ok(Number(limitGib) * 1024 >= worstMib, `${part}: ${limitGib}`)
  }
})

t.test('every link of the pages leads to a file, and the package has it', async (t) => {
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
