import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import JSON5 from 'json5'
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { silentLog } from '../../src/base/log.js'
import { formatProblems } from '../../src/config/format.js'
import { parseConfig } from '../../src/config/load.js'
import { assemble } from '../../src/main.js'
import { TestClient } from '../server/client.js'
import { Authority } from '../tls/authority.js'

const fixtures = new URL('../../fixtures/configs/', import.meta.url)
const schemas = new URL('../../schema/', import.meta.url)

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly 'x-available'?: boolean
}

const good = readdirSync(fixtures).filter((name) => /\.json5?$/.test(name))
const textOf = (name: string): string => readFileSync(new URL(name, fixtures), 'utf8')

const schemaAt = (url: URL): Schema => JSON.parse(readFileSync(url, 'utf8'))

/** `redis_store.retry.max_retries`: every path of keys below a schema, but not into the stores that it nests. */
const keysOf = (path: string, schema: Schema, file: URL, root: Schema): string[] => {
  const { $ref: reference } = schema
  if (reference?.endsWith('store.json')) return []
  if (reference?.startsWith('#/$defs/')) {
    const definition = root.$defs?.[reference.slice('#/$defs/'.length)]
    return definition === undefined ? [] : keysOf(path, definition, file, root)
  }
  if (reference !== undefined) {
    const target = new URL(reference, file)
    return keysOf(path, schemaAt(target), target, schemaAt(target))
  }
  if (schema.items !== undefined) return keysOf(path, schema.items, file, root)
  return Object.entries(schema.properties ?? {}).flatMap(([key, below]) => [
    `${path}.${key}`,
    ...keysOf(`${path}.${key}`, below, file, root),
  ])
}

const kinds = new Map(
  readdirSync(new URL('store/', schemas)).flatMap((name) => {
    const file = new URL(`store/${name}`, schemas)
    const schema = schemaAt(file)
    const kind = basename(name, '.json')
    return schema['x-available'] === false ? [] : [[kind, keysOf(kind, schema, file, schema)] as const]
  }),
)

/** Every path of keys below the stores of a configuration, each counted from the innermost kind it is in. */
const written = (value: unknown, path: string, found: Set<string>): void => {
  if (Array.isArray(value)) {
    for (const item of value) written(item, path, found)
    return
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, below] of Object.entries(value)) {
    const here = kinds.has(key) && typeof below === 'object' ? key : `${path}.${key}`
    found.add(here)
    written(below, here, found)
  }
}

t.test('every key of every store kind stands in a fixture that loads', async (t) => {
  const found = new Set<string>()
  for (const name of good) written(JSON5.parse(textOf(name)), '', found)
  for (const [kind, keys] of kinds) {
    t.ok(found.has(kind) || kind === 'noop', kind)
    t.same(
      keys.filter((key) => !found.has(key)),
      [],
      `${kind}: ${keys.length} keys`,
    )
  }
})

t.test('every fixture serves, whether what it names on other machines is there or not', async (t) => {
  const authority = new Authority(t.testdir())
  for (const name of good) {
    await t.test(name, async (t) => {
      const folder = t.testdir()
      const { certFile, keyFile } = authority.issue('client')
      const files = { CERTIFICATES: authority.caFile, CLIENT_CERTIFICATE: certFile, CLIENT_KEY: keyFile }
      const env = { ...files, HOME: folder, REMEXEC_DATA: folder, REMEXEC_PORT: '0', REMEXEC_WORKER_PORT: '0' }
      const text = textOf(name)
        .replaceAll(/:500\d\d\b/g, ':0')
        .replaceAll('0.0.0.0', '127.0.0.1')
        .replaceAll('/tmp/remexec', folder)
      const { config, problems } = parseConfig(text, name, { env })
      if (config === undefined) throw new Error(formatProblems(problems))
      const running = await assemble(config, { clock: systemClock, log: silentLog })
      try {
        const [{ address = '' } = {}] = running.addresses
        const caller = new TestClient(address)
        const { response } = caller.unary('build.bazel.remote.execution.v2.Capabilities/GetCapabilities', {
          instanceName: instanceOf(text),
        })
        t.ok((await response).cacheCapabilities)
        caller.client.close()
      } finally {
        await running.close()
      }
    })
  }
})

/** Any instance that the configuration serves. */
const instanceOf = (text: string): string => {
  const [{ services }] = Object.values(JSON5.parse(text).servers) as [{ services: { cas?: unknown; ac?: unknown } }]
  const { cas } = services
  if (!Array.isArray(cas)) return Object.keys(cas as object)[0] ?? ''
  const name: string = cas[0]?.instance_name ?? ''
  return name === '*' ? 'any' : name
}
