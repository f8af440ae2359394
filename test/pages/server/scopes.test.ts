import { createHash } from 'node:crypto'
import t from 'tap'
import { bearer } from '../../security/server.js'
import { AC, type BuiltAction, buildAction, EXECUTION, FakeWorker } from '../../service/execution-harness.js'
import { CAS, wire } from '../../service/harness.js'
import { rowsIn, startPages } from '../harness.js'

const ALL = ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute']
const security = {
  identity: {
    tokens: ['main', 'pr-1', 'boss', 'w'].map((name) => ({
      name,
      sha256: createHash('sha256').update(name).digest('hex'),
    })),
  },
  access: [
    { names: ['main', 'pr-*'], may: ALL, instances: ['main'] },
    { names: ['boss'], may: ['administer', 'read_ac', 'read_cas'] },
    { names: ['w'], may: ['work'] },
  ],
  scopes: { rules: [{ names: ['pr-*'], scope: '{name}' }] },
}

t.test('a branch that wrote nothing is on the page of scopes, with the hits that it shares with main', async (t) => {
  const { client, clock, get } = await startPages(t, { security, services: { metrics: {}, admin: {} } })
  const about = ({ digest }: BuiltAction) => ({ instanceName: 'main', actionDigest: wire(digest) })
  const unary = (who: string, name: string, request: object) =>
    client.unary(name, request, { metadata: bearer(who) }).response
  const asked = (who: string, built: BuiltAction) =>
    unary(who, `${AC}/GetActionResult`, about(built)).catch(({ code }: { code: number }) => code)
  const given = (who: string, built: BuiltAction) =>
    unary(who, `${AC}/UpdateActionResult`, { ...about(built), actionResult: { stdoutRaw: Buffer.from(who) } })
  const [shared, own, none] = ['shared', 'own', 'none'].map((name) => buildAction({ command: { arguments: [name] } }))
  if (!shared || !own || !none) throw new Error('no actions')
  const counted = async () => {
    const headers = { authorization: 'Bearer boss' }
    const { scopes } = JSON.parse((await get('/scopes.json', headers)).text) as { scopes: { reads: object }[] }
    const { text } = await get('/metrics', headers)
    const metric = [...text.matchAll(/^svc_scope_reads_total\{.*scope_layer="(\w+)".*\} (\d+)$/gm)]
    return { page: scopes.map(({ reads }) => reads), metric: metric.map(([, layer, value]) => `${layer} ${value}`) }
  }

  await given('main', shared)
  t.match(await asked('pr-1', shared), { stdoutRaw: Buffer.from('main') })
  t.equal(await asked('pr-1', none), 5)
  t.same(await asked('main', none), 5, 'a trusted caller is in no scope')
  t.same(await counted(), {
    page: [{ own: 0, shared: 1, parent: 0, none: 1 }],
    metric: ['own 0', 'shared 1', 'parent 0', 'none 1'],
  })
  await given('pr-1', own)
  t.match(await asked('pr-1', own), { stdoutRaw: Buffer.from('pr-1') })
  t.match(await counted(), { page: [{ own: 1, shared: 1, none: 1 }] })
  const { text } = await get('/scopes', { authorization: 'Bearer boss' })
  const row = rowsIn(text).find(([name]) => name === 'pr-1') ?? []
  t.same(row.slice(4, 6), ['2 of 3', '1, 1, 0'])

  const requests = [none.action, none.command, none.root].map(({ digest, bytes }) => ({
    digest: wire(digest),
    data: bytes,
  }))
  await unary('pr-1', `${CAS}/BatchUpdateBlobs`, { instanceName: 'main', requests })
  const worker = await new FakeWorker(client, clock, bearer('w')).hello({ confined: true, knowsScopes: true })
  const running = client.serverStream(`${EXECUTION}/Execute`, about(none), { metadata: bearer('pr-1') })
  running.resume()
  worker.report(await worker.start(), {
    confined: true,
    executeResponse: { result: { stdoutRaw: Buffer.from('ran') } },
  })
  await worker.next('resultAck')
  t.match(await counted(), { page: [{ own: 1, shared: 1, none: 1 }] }, 'the lookup of Execute does not count')
})
