import { createHash } from 'node:crypto'
import { existsSync, readFileSync, renameSync, statSync } from 'node:fs'
import type { Metadata } from '@grpc/grpc-js'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { silentLog } from '../../src/log/log.js'
import { AuditLog } from '../../src/security/audit-log.js'
import { hashOf } from '../../src/security/identity/credential.js'
import { collect, type TestClient } from '../server/client.js'
import { buildAction, EXECUTION, FakeWorker } from '../service/execution-harness.js'
import { CAPABILITIES, CAS, failure, wire } from '../service/harness.js'
import { Lines } from '../tls/lines.js'
import { found } from '../until.js'
import { bearer, startGuarded, withHeaders } from './server.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

type Line = Readonly<Record<string, unknown>>
const linesOf = (path: string): Line[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))

/** The file has what was recorded a moment later. */
const linesWhen = (path: string, isThere: (lines: Line[]) => boolean): Promise<Line[]> =>
  found(
    () => {
      const lines = linesOf(path)
      return isThere(lines) ? lines : undefined
    },
    () => `${isThere} of ${linesOf(path).length} lines`,
  )

const ask = (client: TestClient, instanceName: string, metadata: Metadata): Promise<unknown> =>
  failure(client.unary(`${CAPABILITIES}/GetCapabilities`, { instanceName }, { metadata }).response)

t.test('the audit log says which operator drained which worker, and from where', async (t) => {
  const path = `${t.testdir()}/audit`
  const tokens = ['ann', 'bob'].map((name) => ({ name, sha256: sha256(`token-of-${name}`) }))
  const security = { identity: { tokens }, access: [{ names: ['ann'], may: ['administer'] }], audit_log: { path } }
  const { port, said } = await startGuarded(t, security, {}, undefined, { admin: {} })
  const page = `http://127.0.0.1:${port}/admin/drain?scheduler=S&worker=w1`
  for (const name of ['ann', 'bob']) {
    await fetch(page, { method: 'PUT', headers: { authorization: `Bearer token-of-${name}` } })
  }
  const asked = { peer: /^127\.0\.0\.1:\d+$/, method: 'PUT /admin/drain', query: 'scheduler=S&worker=w1' }
  t.match(await linesWhen(path, ({ length }) => length >= 2), [
    { ...asked, identity: 'token ann', allowed: true },
    { ...asked, identity: 'token bob', allowed: false, code: 'PERMISSION_DENIED' },
  ])
  t.notMatch(said.text, /an operator drained/, 'there is no such worker')
})

for (const transport of ['remexec', 'grpc-js']) {
  t.test(`${transport}: caller, request, time and decision, without secrets`, async (t) => {
    const path = `${t.testdir()}/audit`
    const tokens = [{ name: 'ci', sha256: sha256('the-token-of-ci') }]
    const access = [{ names: ['ci'], may: ['read_cas'], instances: ['main'] }]
    const security = { identity: { tokens }, access, audit_log: { path } }
    const { client, clock, said, port } = await startGuarded(t, security, { transport })
    const at = new Date(clock.now()).toISOString()
    await ask(client, 'main', bearer('the-token-of-ci'))
    await ask(client, 'other', bearer('the-token-of-ci'))
    await ask(client, 'main', bearer('a-guessed-token'))
    await ask(
      client,
      'main',
      withHeaders({ authorization: `Basic ${Buffer.from('ann:a-password').toString('base64')}` }),
    )
    await failure(
      client.unary(
        'build.bazel.remote.execution.v2.ContentAddressableStorage/BatchUpdateBlobs',
        { instanceName: 'main' },
        { metadata: bearer('the-token-of-ci') },
      ).response,
    )
    await fetch(`http://127.0.0.1:${port}/`, { headers: { authorization: 'Bearer the-token-of-ci' } })
    const lines = await linesWhen(path, ({ length }) => length >= 6)
    const peer = /^127\.0\.0\.1:\d+$/
    const method = '/build.bazel.remote.execution.v2.Capabilities/GetCapabilities'
    t.match(lines, [
      { time: at, identity: 'token ci', peer, method, instance: 'main', allowed: true },
      { identity: 'token ci', instance: 'other', allowed: false, code: 'INVALID_ARGUMENT' },
      { peer, method, allowed: false, code: 'UNAUTHENTICATED', reason: /not known/ },
      { allowed: false, code: 'UNAUTHENTICATED' },
      {
        method: /BatchUpdateBlobs/,
        allowed: false,
        code: 'PERMISSION_DENIED',
        reason: 'token ci may not write_cas in instance "main"',
      },
      { identity: 'token ci', method: 'GET /', allowed: false, code: 'PERMISSION_DENIED' },
    ])
    t.equal(lines.length, 6)
    t.equal(statSync(path).mode & 0o777, 0o600, 'it is for the user of the server alone')
    const secrets = [
      'the-token-of-ci',
      sha256('the-token-of-ci'),
      'a-guessed-token',
      hashOf('a-guessed-token'),
      'a-password',
      'YW5uOmEt',
    ]
    for (const secret of secrets) {
      t.notOk(readFileSync(path, 'utf8').includes(secret), 'no secret is in it')
      t.notOk(said.text.includes(secret), 'nor in the log')
    }
  })
}

t.test(
  'a line for each result of a worker that was kept: who asked, shared or of a scope, worker, confined',
  async (t) => {
    const path = `${t.testdir()}/audit`
    const tokens = ['ci', 'branch', 'w'].map((name) => ({ name, sha256: sha256(name) }))
    const may = ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute']
    const security = {
      ...{ identity: { tokens }, audit_log: { path } },
      access: [
        { names: ['ci', 'branch'], may },
        { names: ['w'], may: ['work'] },
      ],
      scopes: { rules: [{ names: ['branch'], scope: 'refs/pull/1' }] },
    }
    const { client, clock } = await startGuarded(t, security)
    const worker = await new FakeWorker(client, clock, bearer('w')).hello({ confined: true, knowsScopes: true })
    const execute = async (who: string, name: string, report: { confined: boolean; exitCode?: number }) => {
      const built = buildAction({ command: { arguments: [name] } })
      const about = { instanceName: 'main', actionDigest: wire(built.digest) }
      const requests = [built.action, built.command, built.root].map(({ digest, bytes }) => ({
        ...{ digest: wire(digest), data: bytes },
      }))
      const metadata = bearer(who)
      await client.unary(`${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests }, { metadata }).response
      const done = collect(client.serverStream(`${EXECUTION}/Execute`, about, { metadata }))
      const { confined, exitCode = 0 } = report
      worker.report(await worker.start(), { confined, executeResponse: { result: { exitCode } } })
      await done
      return built.digest.key
    }
    const actions = [
      await execute('ci', 'of main', { confined: false }),
      await execute('branch', 'confined', { confined: true }),
      await execute('branch', 'not confined', { confined: false }),
    ]
    await execute('ci', 'failed', { confined: true, exitCode: 1 })
    const results = async () =>
      (await linesWhen(path, (lines) => lines.filter(({ kept }) => kept).length >= 3)).filter(({ kept }) => kept)
    const ofWorker = {
      instance: 'main',
      worker: /./,
      workerIdentity: 'token w',
      time: new Date(clock.now()).toISOString(),
    }
    const ofBranch = { ...ofWorker, identity: 'token branch', scope: 'refs/pull/1' }
    t.match(await results(), [
      { ...ofWorker, identity: 'token ci', action: actions[0], kept: 'shared', confined: false },
      { ...ofBranch, action: actions[1], kept: 'shared', confined: true },
      { ...ofBranch, action: actions[2], kept: 'scope', confined: false },
    ])
    t.equal((await results()).length, 3, 'a failure is not kept')
  },
)

t.test('only refusals, if configured', async (t) => {
  const path = `${t.testdir()}/audit`
  const identity = { tokens: [{ name: 'ci', sha256: sha256('a') }] }
  const { client } = await startGuarded(t, { identity, audit_log: { path, calls: 'refused' } })
  await ask(client, 'main', bearer('a'))
  await ask(client, 'main', bearer('b'))
  t.match(await linesWhen(path, ({ length }) => length > 0), [{ allowed: false }])
})

const open = (path: string, more: object = {}, log = silentLog) => {
  const clock = new ManualClock(1_700_000_000_000)
  const options = { path, calls: 'all', max_bytes: 1024 * 1024, max_files: 2, ...more } as const
  return AuditLog.open(options, { clock, log }).then((audit) => ({ audit, clock }))
}
const entry = (method: string) => ({ identity: 'anonymous', peer: '127.0.0.1:1', method })

t.test('a full file is rotated, and the configured number of older files is kept', async (t) => {
  const path = `${t.testdir()}/audit`
  const { audit } = await open(path, { max_bytes: 1 })
  for (const method of ['/1', '/2', '/3', '/4']) {
    audit.record(entry(method))
    await audit.written()
  }
  await audit.close()
  t.same(linesOf(path), [])
  t.match(linesOf(`${path}.1`), [{ method: '/4' }])
  t.match(linesOf(`${path}.2`), [{ method: '/3' }])
  t.notOk(existsSync(`${path}.3`))
})

t.test('a moved file is opened again', async (t) => {
  const path = `${t.testdir()}/audit`
  const { audit, clock } = await open(path)
  audit.record(entry('/before'))
  await audit.written()
  renameSync(path, `${path}.old`)
  clock.advance(5000)
  await audit.written()
  audit.record(entry('/after'))
  await audit.close()
  t.match(linesOf(`${path}.old`), [{ method: '/before' }])
  t.match(linesOf(path), [{ method: '/after' }])
})

t.test('lines that do not reach the disk are bounded, counted and reported', async (t) => {
  const path = `${t.testdir()}/audit`
  const said = new Lines()
  const { audit } = await open(path, { max_bytes: 1024 ** 3 }, said.log)
  for (let i = 0; i < 30_000; i++) audit.record(entry(`/${'x'.repeat(450)}`))
  audit.record({ ...entry('/m'), instance: 'y'.repeat(100_000) })
  const { lostLines } = audit
  await audit.close()
  const lines = linesOf(path)
  t.equal(audit.lostLines, 30_001 - (lines.length - 1), 'also for the metrics')
  t.ok(lostLines >= audit.lostLines, 'lines that wait count as lost until they are written')
  t.ok(lines.length > 10_000 && lines.length < 20_000, `${lines.length} of 8 MiB`)
  t.match(lines.at(-1), { lost: 30_001 - (lines.length - 1) }, 'the rest is counted')
  t.match(said.text, /the audit log does not keep up/)
})

t.test('an unwritable file is reported at start', async (t) => {
  await t.rejects(open(`${t.testdir()}/absent/audit`), { message: /security\.audit_log\.path.*no such/i })
})
