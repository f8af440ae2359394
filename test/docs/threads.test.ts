/** Which of the shipped configurations threads serve, as docs/threads.md says. */
import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { threadCallsOf } from '../../src/assembly/threads/thread-calls.js'
import { parseConfig } from '../../src/config/load.js'
import { threadUsesOf } from '../../src/store/thread-uses-of.js'
import { root } from '../cli/program.js'

const page = readFileSync(`${root}docs/threads.md`, 'utf8')
const [, inThreads = '', inOwner = ''] = /^\| shipped configurations \| (.*?) \| (.*?) \|$/m.exec(page) ?? []

/** The names of recipes in a cell. Other names in it are those of options, in parentheses. */
const namesIn = (cell: string): string[] =>
  [...cell.replace(/\(.*?\)/g, '').matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name).sort()

/** Whether threads serve a server of it with blobs. */
const isServed = async (file: string): Promise<boolean> => {
  const environment = { HOME: '/home', REMEXEC_OIDC_SECRET: 'secret' }
  const { config, problems } = parseConfig(readFileSync(`${root}${file}`, 'utf8'), file, { env: environment })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const { servers } = threadCallsOf(config, await threadUsesOf(config.stores), { isTraced: false })
  return servers.length > 0
}

t.test('the shipped configurations that threads serve', async (t) => {
  const served: string[] = []
  const owned: string[] = []
  for (const name of readdirSync(`${root}deploy/recipes`)) {
    const file = ['remexec.json5', 'server.json5'].find((one) =>
      readdirSync(`${root}deploy/recipes/${name}`).includes(one),
    )
    if (file !== undefined) ((await isServed(`deploy/recipes/${name}/${file}`)) ? served : owned).push(name)
  }
  t.same(namesIn(inThreads), served.sort())
  t.same(namesIn(inOwner), owned.sort())
  t.match(inThreads, /README.*chart with its blobs on disk/)
  t.equal(await isServed('fixtures/configs/readme.json5'), true)
  t.equal(await isServed('deploy/chart/config/server.json5'), true)
})
