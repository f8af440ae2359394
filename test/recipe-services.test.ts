import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { parseConfig } from '../src/config/load.js'
import { root } from './cli/program.js'

const filesIn = (folder: string): string[] =>
  readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.json5'))
    .map((path) => `${folder}/${path}`)

/** Services that come with others, and other names of services. */
const IMPLIED = ['capabilities', 'bytestream', 'experimental_bep', 'experimental_prometheus', 'health_status']
const { properties } = JSON.parse(readFileSync(`${root}schema/services.json`, 'utf8')) as { properties: object }
const SERVICES = Object.keys(properties).filter((name) => !IMPLIED.includes(name))

/** What a file says of services that it leaves out: `// Without NAME and NAME: reason`. */
const excused = (text: string): string[] =>
  [...text.matchAll(/\/\/ Without ([\w, ]+): \S/g)].flatMap(([, names = '']) => names.split(/, | and /))

for (const file of [...filesIn('deploy/recipes'), ...filesIn('deploy/chart/config')]) {
  // It serves nobody: a worker is a client of others.
  if (file.endsWith('/worker.json5')) continue
  t.test(`${file} serves each service of the schema, or says why not`, async (t) => {
    const text = readFileSync(`${root}${file}`, 'utf8')
    const { config, problems } = parseConfig(text, file, {
      env: { HOME: '/home/somebody', REMEXEC_OIDC_SECRET: 'secret' },
    })
    if (config === undefined) throw new Error(JSON.stringify(problems))
    const served = new Set(
      config.servers.flatMap(({ services }) =>
        Object.entries(services)
          .filter(([, options]) => (options instanceof Map ? options.size > 0 : options !== undefined))
          .map(([name]) => name),
      ),
    )
    const left = SERVICES.filter((name) => !served.has(name))
    t.same(excused(text).sort(), left.sort(), 'services that are left out, with their reasons')
  })
}
