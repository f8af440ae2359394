/** The commands for operators, each a process of its own, against running servers. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Metadata } from '@grpc/grpc-js'
import t, { type Test } from 'tap'
import { codec } from '../../src/proto/codec.js'
import { TestClient } from '../server/client.js'
import { AC } from '../service/execution-harness.js'
import { blobOf, wire } from '../service/harness.js'
import { Authority } from '../tls/authority.js'
import { found } from '../until.js'
import { DEFAULT, program, serve, start } from './program.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')

const command = async (t: Test, words: readonly string[]) => {
  const running = start(t, [process.execPath, program, ...words], { env: { PATH: process.env['PATH'] } })
  const { code } = await running.ended
  return { code, text: running.said() }
}

const inProcessOf = (t: Test, options: readonly string[]) => (words: readonly string[]) =>
  command(t, [...words, ...options])

const started = async (t: Test, config: string) => {
  const server = serve(t, config, `${config}.data`)
  return (await server.hears(/serving (grpcs?:\/\/\S+) server=public/))[1] ?? ''
}

const cacheOnly = (listener: object, more: object = {}, services: object = {}): string =>
  JSON.stringify({
    stores: { CAS: { memory: {} }, AC: { memory: {} } },
    servers: [
      {
        name: 'public',
        listener: { http: { socket_address: '127.0.0.1:0', ...listener } },
        services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], ...services },
      },
    ],
    ...more,
  })

t.test('the default server: status, queue, drain and builds', async (t) => {
  const server = serve(t, DEFAULT, t.testdir())
  const [, address = ''] = await server.hears(/serving (grpc:\/\/\S+) server=public/)
  await server.hears(/a worker connected/)
  const run = inProcessOf(t, ['--server', address])
  const status = await found(async () => {
    const one = await run(['status'])
    return one.text.includes('healthy, started') ? one : undefined
  })
  t.equal(status.code, 0, status.text)
  t.match(status.text, /^SCHEDULER +WORKERS +CONNECTED/m)
  t.match(status.text, /^MAIN +1 +1 +0 /m)
  t.match(status.text, /^AC +0 B +1 GB +0$/m)
  const told = JSON.parse((await run(['status', '--json'])).text)
  t.match(told, { health: /healthy/, schedulers: { MAIN: { workers: 1 } }, startedAt: /Z$/ })

  const queue = await run(['queue'])
  t.equal(queue.code, 0)
  const [, id = ''] = /^(\S+) +\S+ +connected +0 /m.exec(queue.text) ?? []
  t.not(id, '', queue.text)
  t.same(await run(['drain', id]), { code: 0, text: `${id} drained\n` })
  t.match((await run(['queue'])).text, new RegExp(`^${id} +\\S+ +draining`, 'm'))
  t.match((await run(['drain', 'nobody'])).text, `drain failed: there is no worker nobody, expected one of ${id}`)
  t.same(await run(['drain', '--undrain', '--scheduler', 'MAIN', `${id.slice(0, 4)}*`]), {
    code: 0,
    text: `${id} gets actions again\n`,
  })
  t.match(server.said(), new RegExp(`an operator drained a worker .*worker=${id}`))
  t.match(await run(['drain', '--scheduler', 'OTHER', id]), {
    code: 1,
    text: /no scheduler OTHER, expected one of MAIN/,
  })

  t.match(await run(['builds']), { code: 0, text: /no builds yet/ })
  t.same(JSON.parse((await run(['builds', '--json'])).text), { count: 0, builds: [] })
  t.match(await run(['builds', '--limit', '0']), { code: 2, text: /expected a number from 1/ })
  t.match(await run(['drain']), { code: 2, text: /expected one WORKER/ })
})

t.test('rm deletes the result of an action, of a target and of a build, and the log says who', async (t) => {
  const server = serve(t, DEFAULT, t.testdir())
  const [, address = ''] = await server.hears(/serving (grpc:\/\/\S+) server=public/)
  const client = new TestClient(address.slice('grpc://'.length))
  t.teardown(() => client.close())
  const run = inProcessOf(t, ['--server', address])
  const digestOf = (name: string) => wire(blobOf(Buffer.from(name)).digest)
  const keyOf = (name: string): string => blobOf(Buffer.from(name)).digest.key
  const keep = async (name: string, targetId: string, toolInvocationId: string): Promise<void> => {
    const metadata = new Metadata()
    const facts = Buffer.from(metadataCodec.encode({ targetId, toolInvocationId }))
    metadata.set('build.bazel.remote.execution.v2.requestmetadata-bin', facts)
    const request = { actionDigest: digestOf(name), actionResult: { exitCode: 0, stdoutRaw: Buffer.from(name) } }
    await client.unary(`${AC}/UpdateActionResult`, request, { metadata }).response
  }
  const has = async (name: string): Promise<boolean> => {
    const asked = client.unary(`${AC}/GetActionResult`, { actionDigest: digestOf(name) }).response
    return asked.then(
      () => true,
      (error: { readonly code: number }) => {
        if (error.code !== 5) throw error
        return false
      },
    )
  }
  for (const name of ['a', 'b', 'c', 'd']) await keep(name, `//x:${name}`, name < 'c' ? 'first' : 'second')

  t.same(await run(['rm', '--action', keyOf('a'), '--dry-run']), {
    code: 0,
    text: `${keyOf('a')}\n1 result would be deleted\n`,
  })
  t.ok(await has('a'))
  t.same(await run(['rm', '--action', keyOf('a').replace('-', '/')]), {
    code: 0,
    text: `${keyOf('a')}\n1 result deleted\n`,
  })
  t.notOk(await has('a'))
  t.match(server.said(), new RegExp(`an operator deleted a result .*action=${keyOf('a')} .*peer=127\\.0\\.0\\.1`))
  t.match(await run(['rm', '--action', keyOf('a')]), { code: 1, text: /the action cache has no result of action/ })
  t.match(await run(['rm', '--target', '//x:b']), { code: 0, text: /1 result deleted\n/ })
  t.match(await run(['rm', '--target', '//x:none']), { code: 1, text: /no request of target .* is remembered/ })
  const ofBuild = await run(['rm', '--build', 'second', '--json'])
  t.same(JSON.parse(ofBuild.text).deleted.sort(), [keyOf('c'), keyOf('d')].sort())
  for (const name of ['b', 'c', 'd']) t.notOk(await has(name), name)

  t.match(await run(['rm']), { code: 2, text: /expected one of --action/ })
  t.match(await run(['rm', '--action', 'x', '--build', 'y']), { code: 2, text: /expected one of --action/ })
  t.match(await run(['rm', '--action', '..']), { code: 1, text: /expected HASH-SIZE of an Action/ })
})

t.test('what is missing is said', async (t) => {
  t.match(await command(t, ['status', '-s', 'grpc://127.0.0.1:1']), {
    code: 1,
    text: /^remexec: status failed: grpc:\/\/127\.0\.0\.1:1: .*nobody listens there.*check address and port/,
  })
  t.match(await command(t, ['status', '-s', '127.0.0.1:1']), { code: 2, text: /no grpc:\/\/host:port/ })
  const folder = t.testdir({ 'bare.json': cacheOnly({}), 'cache.json': cacheOnly({}, {}, { admin: { path: '/x' } }) })
  const bare = await started(t, `${folder}/bare.json`)
  for (const words of [['status'], ['drain', 'w']])
    t.match(await command(t, [...words, '-s', bare]), { code: 1, text: /there is no service `admin`: expected/ })
  const cache = await started(t, `${folder}/cache.json`)
  t.match(await command(t, ['queue', '-s', cache]), { code: 1, text: /there is no service `admin`/ })
  t.match(await command(t, ['queue', '-s', `${cache}/x`]), { code: 1, text: /this server has no scheduler/ })
  t.match(await command(t, ['drain', 'w', '-s', `${cache}/x/`]), { code: 1, text: /this server has no workers here/ })
  t.match(await command(t, ['status', '-s', `${cache}/x`]), { code: 0, text: /^CAS +0 B/m })
})

t.test('over TLS, with tokens: the needed permission is named', async (t) => {
  const folder = t.testdir()
  const authority = new Authority(join(folder, 'authority'))
  const { certFile: cert_file, keyFile: key_file } = authority.issue('server', { alternativeNames: 'IP:127.0.0.1' })
  const tokenOf = (name: string): string => `${name}-${'0'.repeat(40)}`
  const tokens = ['ann', 'bob', 'eve'].map((name) => {
    writeFileSync(join(folder, name), tokenOf(name), { mode: 0o600 })
    return { name, sha256: createHash('sha256').update(tokenOf(name)).digest('hex') }
  })
  const access = [
    { names: ['ann'], may: ['administer'] },
    { names: ['bob'], may: ['read_ac'] },
    { names: ['eve'], may: ['administer'], instances: ['hers'] },
  ]
  const security = { identity: { tokens }, access }
  writeFileSync(join(folder, 'c.json'), cacheOnly({ tls: { cert_file, key_file } }, { security }, { admin: {} }))
  const address = await started(t, join(folder, 'c.json'))
  const run = inProcessOf(t, ['--server', address, '--ca', authority.caFile])
  t.match(await run(['status', '--token-file', join(folder, 'ann')]), { code: 0, text: /^CAS /m })
  t.match(await run(['status', '--token-file', join(folder, 'bob')]), { code: 1, text: /permission `administer`/ })
  t.match(await run(['status']), { code: 1, text: /give --token-file/ })
  const rm = ['rm', '--action', `${'0'.repeat(64)}-1`]
  for (const may of ['bob', 'eve'])
    t.match(await run([...rm, '--token-file', join(folder, may)]), { code: 1, text: /permission `administer`/ }, may)
  t.match(await command(t, ['status', '-s', address]), { code: 1, text: /certificate/ })
})
