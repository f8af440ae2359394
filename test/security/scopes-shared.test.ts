/** Two servers with scopes over one action cache: a third server, which knows nothing of scopes. */
import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { TestClient } from '../server/client.js'
import { AC, type BuiltAction, buildAction } from '../service/execution-harness.js'
import { wire } from '../service/harness.js'
import { Lines } from '../tls/lines.js'
import { bearer } from './server.js'

const token = (name: string) => ({ name, sha256: createHash('sha256').update(name).digest('hex') })
const memory = { memory: { eviction_policy: { max_bytes: '10mb' } } }

const started = async (t: Test, more: object) => {
  const text = JSON.stringify({
    servers: [
      {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], admin: {} },
      },
    ],
    ...more,
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const clock = new ManualClock(Date.now())
  const running = await assemble(config, { clock, log: new Lines().log })
  t.teardown(() => running.close())
  const address = running.addresses[0]?.address ?? ''
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const asks = (who: string) => {
    const metadata = bearer(who)
    const about = ({ digest }: BuiltAction) => ({ actionDigest: wire(digest) })
    return {
      give: (built: BuiltAction, said: string) =>
        client.unary(
          `${AC}/UpdateActionResult`,
          { ...about(built), actionResult: { stdoutRaw: Buffer.from(said) } },
          { metadata },
        ).response,
      read: (built: BuiltAction): Promise<string> =>
        client.unary(`${AC}/GetActionResult`, about(built), { metadata }).response.then(
          ({ stdoutRaw }: { stdoutRaw: Buffer }) => stdoutRaw.toString(),
          ({ code }: { code: number }) => `code ${code}`,
        ),
      rm: async (query: string) => {
        const headers = { authorization: `Bearer ${who}` }
        const answer = await fetch(`http://${address}/admin/result?${query}`, { method: 'DELETE', headers })
        return answer.status
      },
    }
  }
  return { address, clock, asks }
}

const world = async (t: Test) => {
  const behind = await started(t, { stores: { CAS: memory, AC: memory } })
  const remote = (store_type: string, more: object = {}) => ({
    grpc: { store_type, endpoints: [{ address: `grpc://${behind.address}` }], ...more },
  })
  const stores = { CAS: remote('cas'), AC: remote('ac', { record_secret: 'x'.repeat(32) }) }
  const security = {
    identity: { tokens: ['main', 'pr-1', 'pr-2', 'boss'].map(token) },
    access: [
      { names: ['main', 'pr-*'], may: ['read_cas', 'write_cas', 'read_ac', 'write_ac'] },
      { names: ['boss'], may: ['administer'] },
    ],
    scopes: { rules: [{ names: ['pr-*'], scope: '{name}' }] },
  }
  const [one, two] = [await started(t, { stores, security }), await started(t, { stores, security })]
  return { behind, one, two }
}

t.test('what a branch writes by one server it reads by the other, and nobody else does', async (t) => {
  const { behind, one, two } = await world(t)
  const built = buildAction()
  await one.asks('main').give(built, 'of main')
  await one.asks('pr-1').give(built, 'of the branch')
  t.equal(await two.asks('pr-1').read(built), 'of the branch')
  t.equal(await two.asks('pr-2').read(built), 'of main')
  t.equal(await two.asks('main').read(built), 'of main')
  t.equal(await behind.asks('anybody').read(built), 'of main', 'nor a client of the server behind')
})

t.test(
  'a scope that is dropped by one server is empty at the other, and a revoked caller is believed by neither',
  async (t) => {
    const { one, two } = await world(t)
    const [built, other] = [buildAction(), buildAction({ command: { arguments: ['other'] } })]
    await one.asks('pr-1').give(built, 'poison')
    await two.asks('pr-2').give(built, 'of two')
    t.equal(await two.asks('pr-1').read(built), 'poison')
    t.equal(await one.asks('pr-1').rm('scope=pr-1'), 403, 'not by the branch itself')
    t.equal(await one.asks('boss').rm('scope=pr-1'), 200)
    for (const { clock } of [one, two]) clock.advance(6_000)
    t.same([await one.asks('pr-1').read(built), await two.asks('pr-1').read(built)], ['code 5', 'code 5'])
    t.equal(await one.asks('pr-2').read(built), 'of two')

    await one.asks('main').give(other, 'leaked')
    t.equal(await two.asks('pr-1').read(other), 'leaked')
    t.equal(await two.asks('boss').rm(`caller=${encodeURIComponent('token main')}`), 200)
    t.equal(await two.asks('main').read(other), 'code 5')
    one.clock.advance(6_000)
    // The list is read in the background.
    await one.asks('main').read(built)
    t.equal(await one.asks('pr-1').read(other), 'code 5')
    t.equal(await two.asks('pr-2').read(built), 'of two', 'another caller')
  },
)
