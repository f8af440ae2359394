import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { basename } from 'node:path'
import { credentials, Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { program, root, serve } from './cli/program.js'
import { collect, TestClient } from './server/client.js'
import { buildAction, EXECUTION, responseOf } from './service/execution-harness.js'
import { AC, blobOf, CAS, failure, wire } from './service/harness.js'
import { Authority } from './tls/authority.js'

const recipes = `${root}deploy/recipes/`
const pathOf = (recipe: string, file = 'remexec.json5'): string => `${recipes}${recipe}/${file}`

t.test('each recipe has a page with its cost, how to see that it works, and its files', async (t) => {
  const names = readdirSync(recipes)
  t.ok(names.length > 3)
  for (const name of names) {
    const page = readFileSync(pathOf(name, 'README.md'), 'utf8')
    t.match(page, /^# \S/, name)
    for (const part of ['**What it costs.**', '**How to see that it works.**'])
      t.ok(page.includes(part), `${name}: ${part}`)
    t.ok(page.includes(`remexec init ${name}`), name)
    for (const file of readdirSync(`${recipes}${name}`).filter((file) => file.endsWith('.json5'))) {
      t.ok(page.includes(file), `${name}: ${file}`)
      t.match(readFileSync(pathOf(name, file), 'utf8'), /^\/\/ [A-Z]/, `${file} says what it is`)
    }
    for (const [, link = ''] of page.matchAll(/\]\(([^)#:]+)\)/g))
      t.ok(existsSync(pathOf(name, link)), `${name}: ${link}`)
  }
})

/** A server of a recipe, and its address. */
const start = async (t: Test, path: string, data: string, env: NodeJS.ProcessEnv = {}) => {
  const server = serve(t, path, data, { REMEXEC_HOST: '127.0.0.1', REMEXEC_CAS_SIZE: '10gb', ...env })
  const [, address = ''] = await server.hears(/serving grpcs?:\/\/(\S+) server=public/)
  return { server, address }
}

const upload = async (client: TestClient, blobs: readonly Buffer[], metadata = new Metadata()): Promise<void> => {
  const requests = blobs.map((data) => ({ digest: wire(blobOf(data).digest), data }))
  const { responses } = await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: '', requests }, { metadata })
    .response
  for (const { status } of responses) if (status?.code) throw new Error(status.message)
}

t.test('team: everybody reads and writes, nobody executes', async (t) => {
  const { address } = await start(t, pathOf('team'), t.testdir())
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const { bytes, digest } = blobOf(Buffer.from('a blob of the team'))
  await upload(client, [bytes])
  const found = await client.unary(`${CAS}/FindMissingBlobs`, { instanceName: 'any', blobDigests: [wire(digest)] })
    .response
  t.same(found.missingBlobDigests, [])
  const { status } = await collect(client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(digest) }))
  t.equal(status?.code, 12, 'UNIMPLEMENTED')
})

t.test('ci: CI writes, people read, operators see the page, the others nothing', async (t) => {
  const folder = t.testdir()
  const authority = new Authority(`${folder}/authority`)
  const { certFile, keyFile } = authority.issue('server')
  const made = ['ci', 'people', 'operators'].map((group) => {
    const text = execFileSync(process.execPath, [program, 'token', `a-${group}`, '--group', group], {
      encoding: 'utf8',
    })
    return { group, token: /nowhere: (\S+)/.exec(text)?.[1] ?? '', line: /tokens_file: (.*)/.exec(text)?.[1] ?? '' }
  })
  writeFileSync(`${folder}/tokens`, made.map(({ line }) => `${line}\n`).join(''), { mode: 0o600 })
  copyFileSync(certFile, `${folder}/server.pem`)
  copyFileSync(keyFile, `${folder}/server.key`)
  const { address } = await start(t, pathOf('ci'), folder, { REMEXEC_ETC: folder })
  const port = address.replace(/.*:/, '')
  const client = new TestClient(`localhost:${port}`, {}, credentials.createSsl(authority.ca))
  t.teardown(() => client.close())
  const tokenOf = (group: string): string => made.find((one) => one.group === group)?.token ?? ''
  const as = (group: string): Metadata => {
    const metadata = new Metadata()
    if (group !== '') metadata.set('authorization', `Bearer ${tokenOf(group)}`)
    return metadata
  }
  const { bytes, digest } = blobOf(Buffer.from('a blob of CI'))
  await upload(client, [bytes], as('ci'))
  const update = { actionDigest: wire(digest), actionResult: { exitCode: 0, stdoutRaw: Buffer.from('x') } }
  const updated = (group: string) => client.unary(`${AC}/UpdateActionResult`, update, { metadata: as(group) }).response
  await updated('ci')
  const get = (group: string) =>
    client.unary(`${AC}/GetActionResult`, { actionDigest: wire(digest) }, { metadata: as(group) }).response
  t.equal((await get('people')).stdoutRaw.toString(), 'x')
  t.match(await failure(updated('people')), { code: 'PERMISSION_DENIED' })
  t.match(await failure(get('')), { code: 'UNAUTHENTICATED' })
  const page = (login?: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const asked = {
        host: 'localhost',
        port,
        path: '/server',
        ca: authority.ca,
        ...(login && { auth: `any:${tokenOf(login)}` }),
      }
      request(asked, (response) => resolve(response.resume().statusCode))
        .on('error', reject)
        .end()
    })
  t.same(await Promise.all([page('operators'), page('people'), page()]), [200, 403, 401])
})

t.test('workers: an action runs on another process, and its result is on the server', async (t) => {
  const folder = t.testdir({ server: {}, worker: {} })
  const { server, address } = await start(t, pathOf('workers', 'server.json5'), `${folder}/server`)
  const [, workers = ''] = await server.hears(/serving grpc:\/\/(\S+) server=workers/)
  const env = { REMEXEC_SERVER: address, REMEXEC_WORKER_API: workers, REMEXEC_CAS_SIZE: '10gb' }
  const worker = serve(t, pathOf('workers', 'worker.json5'), `${folder}/worker`, env)
  await worker.hears(/connected to the scheduler/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const built = buildAction({ command: { arguments: ['/bin/sh', '-c', 'echo from afar'] } })
  await upload(
    client,
    [built.action, built.command, built.root].map(({ bytes }) => bytes),
  )
  const { messages } = await collect(client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(built.digest) }))
  t.match(responseOf(messages.at(-1)), { result: { exitCode: 0 } })
  const found = await client.unary(`${AC}/GetActionResult`, { actionDigest: wire(built.digest), inlineStdout: true })
    .response
  t.equal(found.stdoutRaw.toString(), 'from afar\n')
})

/** Every key with this mark in the schema, with its last name. */
const keysWith = (mark: string): string[] => {
  const found = new Set<string>()
  const walk = (value: unknown, name: string): void => {
    if (typeof value !== 'object' || value === null) return
    if (mark in value) found.add(name)
    for (const [key, inner] of Object.entries(value)) walk(inner, key === 'properties' || key === 'items' ? name : key)
  }
  for (const path of readdirSync(`${root}schema`, { recursive: true, encoding: 'utf8' }))
    if (path.endsWith('.json')) walk(JSON.parse(readFileSync(`${root}schema/${path}`, 'utf8')), basename(path, '.json'))
  return [...found]
}

t.test('from-nativelink: the page names every key that has no effect or is refused', async (t) => {
  const page = readFileSync(pathOf('from-nativelink', 'README.md'), 'utf8')
  const [ignored = '', refused = ''] = page.split(/^## What /m).slice(1)
  const areNot = (keys: readonly string[], part: string): string[] =>
    keys.filter((key) => !part.includes(key === 'redis' ? 'experimental_backend.redis' : key))
  t.same(areNot(keysWith('x-ignored'), ignored), [])
  t.same(areNot(keysWith('x-available'), refused), [])
})

t.test(
  'from-bazel-remote: a result over gRPC is there over HTTP on the other port, with status and health',
  async (t) => {
    const { server, address } = await start(t, pathOf('from-bazel-remote'), t.testdir(), { REMEXEC_STATUS_PORT: '0' })
    const [, status = ''] = await server.hears(/serving grpc:\/\/(\S+) server=http/)
    const client = new TestClient(address)
    t.teardown(() => client.close())
    const { bytes, digest } = blobOf(Buffer.from('a blob'))
    await upload(client, [bytes])
    const actionResult = { outputFiles: [{ path: 'out', digest: wire(digest) }] }
    const action = blobOf(Buffer.from('an action')).digest
    await client.unary(`${AC}/UpdateActionResult`, { actionDigest: wire(action), actionResult }).response
    t.equal((await fetch(`http://${status}/ac/${action.hash}`)).status, 200)
    t.equal(await (await fetch(`http://${status}/cas/${digest.hash}`)).text(), 'a blob')
    t.equal((await fetch(`http://${status}/status`)).status, 200)
    t.equal((await fetch(`http://${status}/health`)).status, 200)
    t.match(await (await fetch(`http://${status}/`)).text(), /<title>/)
  },
)

t.test('bucket: while neither S3 nor Redis answers, uploads, lookups and hits come from the disk', async (t) => {
  const folder = t.testdir({ data: {}, config: {} })
  const path = `${folder}/config/remexec.json5`
  const text = readFileSync(pathOf('bucket'), 'utf8')
  // A start waits for Redis once.
  writeFileSync(path, text.replace("key_ttl_s: '30d'", "key_ttl_s: '30d', connection_timeout_ms: 100"))
  const env = {
    ...{
      REMEXEC_ENDPOINT: 'http://127.0.0.1:1',
      REMEXEC_ALLOW_HTTP: 'true',
      REMEXEC_REDIS: 'redis://127.0.0.1:1',
      REMEXEC_QUEUE_SIZE: '1gb',
    },
    ...{ AWS_ACCESS_KEY_ID: 'a-key', AWS_SECRET_ACCESS_KEY: 'a-secret' },
  }
  const { address } = await start(t, path, `${folder}/data`, env)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const { bytes, digest } = blobOf(Buffer.from('a blob of the outage'))
  await upload(client, [bytes])
  const found = await client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: [wire(digest)] }).response
  t.same(found.missingBlobDigests, [])
  const actionResult = { outputFiles: [{ path: 'out', digest: wire(digest) }] }
  await client.unary(`${AC}/UpdateActionResult`, { actionDigest: wire(digest), actionResult }).response
  const hit = await client.unary(`${AC}/GetActionResult`, { actionDigest: wire(digest) }).response
  t.same(hit.outputFiles[0].digest, wire(digest))
  t.equal((await fetch(`http://${address}/status/ready`)).status, 200, 'it stays behind its load balancer')
  const report = await (await fetch(`http://${address}/status`)).text()
  t.match(report, /"component":"uploads\/CAS","status":\{"Warning":\{[^}]*1 blob of 20 B waits/)
})
