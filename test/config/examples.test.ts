import { existsSync, readdirSync, readFileSync } from 'node:fs'
import JSON5 from 'json5'
import t from 'tap'
import { parseConfig } from '../../src/config/load.js'

const folder = new URL('../../schema/', import.meta.url)
const kindsOf = (entry: string): string[] => {
  const { properties } = JSON.parse(readFileSync(new URL(entry, folder), 'utf8')) as { properties: object }
  return Object.entries(properties).flatMap(([kind, schema]) => ('$ref' in schema ? [kind] : []))
}

/** The older spelling of another kind has no example of its own. */
const WITHOUT = ['experimental_s3_store']

const memory = { memory: { eviction_policy: { max_bytes: '1mb' } } }

/** A configuration around an example, with the names that examples refer to. */
const around = (what: string, example: object): object => ({
  stores: { CAS: memory, AC: memory, ...(what === 'store' && { EXAMPLE: example }) },
  schedulers: what === 'scheduler' ? { EXAMPLE: example } : {},
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:50051' } },
      services: {
        cas: [{ cas_store: 'CAS' }],
        ac: [{ ac_store: 'AC' }],
        ...(what === 'scheduler' && { execution: [{ cas_store: 'CAS', scheduler: 'EXAMPLE' }] }),
      },
    },
  ],
})

for (const what of ['store', 'scheduler']) {
  for (const kind of kindsOf(`${what}.json`).filter((name) => !WITHOUT.includes(name))) {
    t.test(`the ${what} ${kind} has an example with advice, which is valid`, async (t) => {
      const file = new URL(`examples/${what}/${kind}.json5`, folder)
      if (!existsSync(file)) {
        t.fail(`there is no ${file.pathname}`)
        return
      }
      const text = readFileSync(file, 'utf8')
      t.match(text, /^\/\/ .*\b(?:Take it|take it|Taking it|by itself)/, 'it says when to take it')
      const { problems } = parseConfig(JSON.stringify(around(what, JSON5.parse(text))), 'test.json', { env: {} })
      t.same(
        problems.map(({ path, message }) => `${path}: ${message}`),
        [],
      )
    })
  }
}

const read = (name: string): Record<string, object> =>
  JSON5.parse(readFileSync(new URL(`examples/${name}.json5`, folder), 'utf8'))

t.test('the examples of the other parts are valid together', async (t) => {
  const tier = { filesystem: { content_path: '/c', temp_path: '/t', ...read('shared/eviction_policy') } }
  const { local } = read('worker/local') as { local: object }
  const { instances = {} } = read('instance')
  const config = {
    ...read('global'),
    ...read('security'),
    instances,
    stores: { CAS: { fast_slow: { fast: tier, slow: { noop: {} } } }, AC: memory },
    workers: [{ local }],
    servers: [
      {
        ...read('listener'),
        services: {
          cas: Object.keys(instances).map((name) => ({ instance_name: name, cas_store: 'CAS' })),
          ac: Object.keys(instances).map((name) => ({ instance_name: name, ac_store: 'AC' })),
        },
      },
    ],
  }
  const { problems } = parseConfig(JSON.stringify(config), 'test.json', { env: {} })
  t.same(
    problems.map(({ path, message }) => `${path}: ${message}`),
    [],
  )
})

t.test('each example stands in the reference', async (t) => {
  const page = readFileSync(new URL('../docs/configuration.md', folder), 'utf8')
  const names = readdirSync(new URL('examples', folder), { recursive: true, encoding: 'utf8' })
  for (const name of names.filter((one) => one.endsWith('.json5'))) {
    t.ok(page.includes(readFileSync(new URL(`examples/${name}`, folder), 'utf8')), name)
  }
})
