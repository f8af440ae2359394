import { createHash } from 'node:crypto'
import { credentials } from '@grpc/grpc-js'
import t from 'tap'
import { collect, TestClient } from '../server/client.js'
import { AC, type BuiltAction, buildAction, EXECUTION, FakeWorker, responseOf } from '../service/execution-harness.js'
import { CAS, wire } from '../service/harness.js'
import { Authority } from '../tls/authority.js'
import { bearer, type Guarded, startGuarded } from './server.js'

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')
const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute', 'push']
const SECURITY = {
  identity: {
    tokens: [
      ...['main', 'pr-1', 'pr-2', 'boss', 'w'].map((name) => ({ name, sha256: hash(name) })),
      { name: 'fixed', sha256: hash('fixed'), scope: 'pr-1' },
      { name: 'bad-worker', sha256: hash('bad-worker') },
    ],
  },
  access: [
    { names: ['main', 'pr-*', 'fixed'], may: ALL, instances: ['main'] },
    { names: ['boss'], may: ['administer', 'read_ac'] },
    { names: ['w', 'bad-worker'], may: ['work'] },
  ],
  scopes: { rules: [{ names: ['pr-*', 'bad-*'], scope: '{name}' }] },
  callers_in_results: 'readers',
}

const asks = ({ client }: Pick<Guarded, 'client'>, who: string) => {
  const metadata = who === '' ? undefined : bearer(who)
  const about = ({ digest }: BuiltAction) => ({ instanceName: 'main', actionDigest: wire(digest) })
  const unary = (name: string, request: object) =>
    client.unary(name, request, { ...(metadata && { metadata }) }).response
  return {
    unary,
    give: (built: BuiltAction, text: string) =>
      unary(`${AC}/UpdateActionResult`, { ...about(built), actionResult: { stdoutRaw: Buffer.from(text) } }),
    read: (built: BuiltAction): Promise<string> =>
      unary(`${AC}/GetActionResult`, about(built)).then(
        ({ stdoutRaw }: { stdoutRaw: Buffer }) => stdoutRaw.toString(),
        ({ code }: { code: number }) => `code ${code}`,
      ),
    upload: ({ action, command, root }: BuiltAction) => {
      const requests = [action, command, root].map(({ digest, bytes }) => ({ digest: wire(digest), data: bytes }))
      return unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests })
    },
    execute: async (built: BuiltAction, more: object = {}): Promise<string> => {
      const stream = client.serverStream(
        `${EXECUTION}/Execute`,
        { ...about(built), ...more },
        { ...(metadata && { metadata }) },
      )
      return responseOf((await collect(stream)).messages.at(-1)).result?.stdoutRaw.toString() ?? 'no result'
    },
  }
}

const CONFINED = { confined: true, knowsScopes: true }

t.test('a branch reads its own results before the shared ones, and writes only its own', async (t) => {
  const server = await startGuarded(t, SECURITY)
  const [main, one, two, fixed] = ['main', 'pr-1', 'pr-2', 'fixed'].map((who) => asks(server, who))
  if (!main || !one || !two || !fixed) throw new Error('nobody')
  const [known, fresh] = [buildAction(), buildAction({ command: { arguments: ['fresh'] } })]
  await main.give(known, 'of main')
  t.equal(await one.read(known), 'of main', 'main shares')
  await one.give(known, 'poison')
  await one.give(fresh, 'of one')
  t.same([await one.read(known), await one.read(fresh)], ['poison', 'of one'])
  t.same([await fixed.read(known), await fixed.read(fresh)], ['poison', 'of one'], 'a token says its scope itself')
  t.same([await two.read(known), await two.read(fresh)], ['of main', 'code 5'], 'another branch')
  t.same([await main.read(known), await main.read(fresh)], ['of main', 'code 5'])
  await main.give(fresh, 'of main')
  t.same([await main.read(fresh), await one.read(fresh)], ['of main', 'of one'])
})

t.test('a rule gives a scope by the client certificate of the connection', async (t) => {
  const authority = new Authority(`${t.testdir()}/authority`)
  const { certFile, keyFile } = authority.issue('server')
  const security = {
    identity: { client_certificates: {} },
    access: [{ by: ['certificate'], groups: ['ci', 'pull-requests'], may: ALL }],
    scopes: { rules: [{ by: ['certificate'], groups: ['pull-requests'], scope: 'pull-requests/{name}' }] },
  }
  const http = { tls: { cert_file: certFile, key_file: keyFile, client_ca_file: authority.caFile } }
  const { port } = await startGuarded(t, security, http)
  const connected = (name: string, group: string) => {
    const own = authority.issue(name, { subject: `/OU=${group}/CN=${name}` })
    const client = new TestClient(`localhost:${port}`, {}, credentials.createSsl(authority.ca, own.key, own.cert))
    t.teardown(() => client.close())
    return asks({ client }, '')
  }
  const main = connected('main', 'ci')
  const [one, two] = [connected('one', 'pull-requests'), connected('two', 'pull-requests')]
  const [known, fresh] = [buildAction(), buildAction({ command: { arguments: ['fresh'] } })]
  await main.give(known, 'of main')
  for (const built of [known, fresh]) await one.give(built, 'of one')
  t.same([await one.read(known), await one.read(fresh)], ['of one', 'of one'])
  t.same([await main.read(known), await main.read(fresh)], ['of main', 'code 5'])
  t.same([await two.read(known), await two.read(fresh)], ['of main', 'code 5'])
})

t.test('GetCapabilities says to a branch that updates are enabled', async (t) => {
  const server = await startGuarded(t, SECURITY)
  const { cacheCapabilities } = await asks(server, 'pr-1').unary(
    'build.bazel.remote.execution.v2.Capabilities/GetCapabilities',
    { instanceName: 'main' },
  )
  t.equal(cacheCapabilities.actionCacheUpdateCapabilities.updateEnabled, true)
})

t.test("a result of a worker is shared if the run was confined, and is the branch's if not", async (t) => {
  const server = await startGuarded(t, SECURITY)
  const [main, branch] = [asks(server, 'main'), asks(server, 'pr-1')]
  const worker = await new FakeWorker(server.client, server.clock, bearer('w')).hello(CONFINED)
  for (const [confined, read] of [
    [true, 'ran'],
    [false, 'code 5'],
  ] as const) {
    const built = buildAction({ command: { arguments: [`${confined}`] } })
    await branch.upload(built)
    const running = branch.execute(built)
    const start = await worker.start()
    t.same(start.scope, { name: 'pr-1' })
    worker.report(start, { confined, executeResponse: { result: { stdoutRaw: Buffer.from('ran') } } })
    t.equal(await running, 'ran')
    t.equal(await main.read(built), read, `confined: ${confined}`)
    t.equal(await branch.read(built), 'ran')
  }
})

t.test('a run of a branch does not replace what is shared, confined or not', async (t) => {
  const server = await startGuarded(t, SECURITY)
  const [main, branch] = [asks(server, 'main'), asks(server, 'pr-1')]
  const worker = await new FakeWorker(server.client, server.clock, bearer('w')).hello(CONFINED)
  const built = buildAction()
  await branch.upload(built)
  await main.give(built, 'of main')
  const running = branch.execute(built, { skipCacheLookup: true })
  worker.report(await worker.start(), {
    confined: true,
    executeResponse: { result: { stdoutRaw: Buffer.from('late') } },
  })
  t.equal(await running, 'late')
  t.equal(await main.read(built), 'of main')
  t.equal(await branch.read(built), 'late')
})

t.test(
  'main joins the run of a branch only if workers confine their actions, and runs again if one did not',
  async (t) => {
    const server = await startGuarded(t, SECURITY)
    const [main, branch] = [asks(server, 'main'), asks(server, 'pr-1')]
    const worker = await new FakeWorker(server.client, server.clock, bearer('w')).hello(CONFINED)
    const built = buildAction()
    await branch.upload(built)
    const first = branch.execute(built)
    const start = await worker.start()
    const joined = main.execute(built)
    worker.report(start, { confined: false, executeResponse: { result: { stdoutRaw: Buffer.from('poison') } } })
    t.equal(await first, 'poison')
    const again = await worker.start()
    t.same(again.scope, { name: '' })
    worker.report(again, { confined: false, executeResponse: { result: { stdoutRaw: Buffer.from('right') } } })
    t.equal(await joined, 'right')
    t.same([await main.read(built), await branch.read(built)], ['right', 'poison'])
  },
)

t.test('a caller with a scope is no worker, and an older worker gets none of its actions', async (t) => {
  const server = await startGuarded(t, SECURITY)
  const bad = new FakeWorker(server.client, server.clock, bearer('bad-worker'))
  await t.rejects(bad.hello(CONFINED), { code: 7, details: /has a scope/ })
  const older = await new FakeWorker(server.client, server.clock, bearer('w')).hello()
  const built = buildAction()
  await asks(server, 'pr-1').upload(built)
  const [branch, main] = [asks(server, 'pr-1').execute(built), asks(server, 'main').execute(built)]
  branch.catch(() => {})
  server.clock.advance(2_000)
  const start = await older.start()
  t.same(start.scope, { name: '' })
  older.succeed(start, { stdoutRaw: Buffer.from('ran') })
  t.equal(await main, 'ran')
})
