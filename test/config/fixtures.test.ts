import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import JSON5 from 'json5'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { formatProblems } from '../../src/config/format.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { fixtures, goodConfigs as good } from '../configs.js'
import { TestClient } from '../server/client.js'
import { messagesOf, read, write } from '../service/bytestream-client.js'
import { AC, CAPABILITIES, CAS } from '../service/harness.js'
import { bytesOf } from '../store/blobs.js'
import { Authority } from '../tls/authority.js'
import { whyNot } from '../worker/image/set-up.js'
import { countBackends, placeBackends } from './real-backends.js'

t.setTimeout(600_000)

const schemas = new URL('../../schema/', import.meta.url)

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly $ref?: string
  readonly $defs?: Readonly<Record<string, Schema>>
  readonly 'x-available'?: boolean
  readonly deprecated?: boolean
}

const textOf = (name: string): string => readFileSync(new URL(name, fixtures), 'utf8')

const schemaAt = (url: URL): Schema => JSON.parse(readFileSync(url, 'utf8'))

/** `redis_store.retry.max_retries`: every key path of a schema, without the stores nested in it. */
const keysOf = (path: string, schema: Schema, file: URL, root: Schema): string[] => {
  const { $ref: reference } = schema
  // An older spelling of another key.
  if (reference?.startsWith('#/properties/')) return []
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
    return schema['x-available'] === false || schema.deprecated === true
      ? []
      : [[kind, keysOf(kind, schema, file, schema)] as const]
  }),
)

/** Every key path of the stores of a configuration, relative to the innermost kind. */
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

t.test('every key of every store kind occurs in a fixture that loads', async (t) => {
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

/** Every number and every boolean as text. */
const quoted = (value: unknown): unknown => {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return value.map(quoted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, quoted(inner)]))
}

t.test('every number and boolean of every fixture may be quoted', async (t) => {
  const parsed = (name: string, value: unknown) => {
    const { config, problems } = parseConfig(JSON.stringify(value), name, { env: { HOME: '/home/user' } })
    t.same(problems, [], name)
    // The columns of warnings differ.
    return { ...config, warnings: config?.warnings.map(({ path }) => path) }
  }
  for (const name of good) {
    const value = JSON5.parse(textOf(name))
    t.same(parsed(name, quoted(value)), parsed(name, value), name)
  }
})

t.test('every key of a worker occurs in a fixture that loads', async (t) => {
  const found = new Set<string>()
  for (const name of good) {
    const { workers } = JSON5.parse(textOf(name))
    for (const worker of Object.values(workers ?? {})) for (const path of pathsIn(worker)) found.add(path)
  }
  const file = new URL('worker/local.json', schemas)
  const keys = keysOf('local', schemaAt(file), file, schemaAt(file))
  t.ok(keys.length > 40, `${keys.length} keys`)
  t.same(
    // The TLS options of a connection are checked with the stores.
    keys.filter((key) => !found.has(key) && !key.includes('.tls_config')),
    [],
  )
})

const pathsIn = (value: unknown, path = ''): string[] =>
  typeof value !== 'object' || value === null
    ? []
    : Object.entries(value).flatMap(([key, below]) => {
        const here = path === '' ? key : `${path}.${key}`
        return [here, ...pathsIn(below, here)]
      })

interface Setting {
  readonly folder: string
  readonly authority: Authority
}

/** Starts a fixture unchanged, except for ports, folders and the addresses of its backends. */
const start = async (t: Test, name: string, config: object, { folder, authority }: Setting) => {
  const { certFile, keyFile } = authority.issue('client')
  const files = { CERTIFICATES: authority.caFile, CLIENT_CERTIFICATE: certFile, CLIENT_KEY: keyFile }
  const env = { ...files, HOME: folder, REMEXEC_DATA: folder, REMEXEC_PORT: '0', REMEXEC_WORKER_PORT: '0' }
  const text = JSON.stringify(config)
    .replaceAll(/:500\d\d\b/g, ':0')
    .replaceAll('0.0.0.0', '127.0.0.1')
    .replaceAll(/\/tmp\/remexec|\/var\/lib\/remexec/g, folder)
  const { config: parsed, problems } = parseConfig(text, name, { env })
  if (parsed === undefined) throw new Error(formatProblems(problems))
  const running = await assemble(parsed, { clock: systemClock, log: silentLog })
  t.teardown(() => running.close())
  const clients = running.addresses.map(({ address }) => new TestClient(address))
  t.teardown(() => {
    for (const client of clients) client.close()
  })
  return { parsed, clients }
}

const answersIn = async (client: TestClient, instance: string): Promise<boolean> => {
  const instanceName = instance === '*' ? 'any' : instance
  const { response } = client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName })
  return Boolean((await response).cacheCapabilities)
}

// Each fixture is started once for each state of its backends. Workers and their processes take most of the time.

t.test('every fixture starts while its remote backends are unreachable', async (t) => {
  const authority = new Authority(t.testdir())
  for (const name of good) {
    const config = JSON5.parse(textOf(name))
    // The next test starts the others.
    if (countBackends(config) === 0) continue
    await t.test(name, async (t) => {
      const { parsed, clients } = await start(t, name, config, { folder: t.testdir(), authority })
      const [instance = ''] = parsed.servers[0]?.services.cas.keys() ?? []
      const [client] = clients
      // A worker for another server serves nothing.
      t.equal(client === undefined, parsed.servers.length === 0)
      if (client !== undefined) t.ok(await answersIn(client, instance))
    })
  }
})

t.test('every fixture stores blobs and results in each instance, with its real backends', async (t) => {
  const authority = new Authority(t.testdir())
  for (const name of good) {
    await t.test(name, async (t) => {
      const config = JSON5.parse(textOf(name))
      const missing = [...(await placeBackends(t, config)), ...imageTools(config)]
      if (missing.length > 0) {
        await t.test('on its backends', { skip: missing.join('; ') }, async () => {})
        return
      }
      const { parsed, clients } = await start(t, name, config, { folder: t.testdir(), authority })
      for (const [at, { services }] of parsed.servers.entries()) {
        for (const instance of services.cas.keys()) {
          const seed = `${instance} of ${at}`
          const client = clients[at] as TestClient
          t.ok(await answersIn(client, instance), `instance '${instance}' answers`)
          const ac = services.ac.get(instance)
          const keepsResults = ac !== undefined && parsed.stores.get(ac.ac_store)?.kind !== 'noop' && !ac.read_only
          await keepsBlob(t, client, { instanceName: instance === '*' ? 'any' : instance, seed, keepsResults })
        }
      }
    })
  }
})

const noImages = await whyNot()

/** Why a worker of this configuration cannot run actions in images here. */
const imageTools = (config: object): readonly string[] =>
  JSON.stringify(config).includes('"container_images"') && typeof noImages === 'string' ? [noImages] : []

interface Instance {
  readonly instanceName: string
  /** Selects the test's blobs, because instances may share a store. */
  readonly seed: string
  readonly keepsResults: boolean
}

const keepsBlob = async (
  t: Test,
  client: TestClient,
  { instanceName, seed, keepsResults }: Instance,
): Promise<void> => {
  const said = (what: string): string => `instance '${instanceName}': ${what}`
  const ask = (method: string, request: object) => client.unary(method, { instanceName, ...request }).response
  const small = bytesOf(1000, seed)
  const large = bytesOf(300_000, seed)
  const digests = [small, large].map((bytes) => Digest.of(bytes, digestFunctions.SHA256).toMessage())
  const missing = async (): Promise<number> =>
    (await ask(`${CAS}/FindMissingBlobs`, { blobDigests: digests })).missingBlobDigests.length
  t.equal(await missing(), 2, said('nothing is there at first'))
  const { responses } = await ask(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest: digests[0], data: small }] })
  t.equal(responses[0].status?.code ?? 0, 0, said('a small blob is taken'))
  const prefix = instanceName === '' ? '' : `${instanceName}/`
  const place = `${digests[1]?.hash}/${large.length}`
  const written = await write(client, messagesOf(`${prefix}uploads/${randomUUID()}/blobs/${place}`, large))
  t.equal(Number(written.committedSize), large.length, said('a large blob is taken'))
  t.equal(await missing(), 0, said('both are there'))
  const found = await ask(`${CAS}/BatchReadBlobs`, { digests: digests.slice(0, 1) })
  t.ok(small.equals(found.responses[0].data), said('the small one is read'))
  const { bytes } = await read(client, `${prefix}blobs/${place}`)
  t.ok(large.equals(bytes), said('the large one is read'))
  if (!keepsResults) return
  const actionDigest = Digest.of(Buffer.from(`an action of ${seed}`), digestFunctions.SHA256).toMessage()
  const actionResult = { outputFiles: [{ path: 'out', digest: digests[1] }], exitCode: 0 }
  await ask(`${AC}/UpdateActionResult`, { actionDigest, actionResult })
  const result = await ask(`${AC}/GetActionResult`, { actionDigest })
  t.equal(result.outputFiles[0].digest.hash, digests[1]?.hash, said('and a result with it'))
}
