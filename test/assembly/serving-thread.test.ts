import t from 'tap'
import { ServingThread } from '../../src/assembly/serving-thread.js'
import { parseConfig } from '../../src/config/load.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { silentLog } from '../../src/log/log.js'
import type { Caller } from '../../src/rpc/gate.js'
import { hashOf } from '../../src/security/identity/credential.js'
import type { Verified } from '../../src/security/identity/verified-credentials.js'
import type { GateShare } from '../../src/security/thread-gate.js'

const { config } = parseConfig(
  `{ stores: {}, servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services: {} }] }`,
  'serving.json5',
  { env: {} },
)

const shareOf = (token: string): GateShare => ({
  ...{ header: undefined, certificates: undefined, access: undefined, limits: [], audit: undefined },
  ...{
    callersInResults: 'administrators',
    verified: { jwt: [], passwords: [] },
    tokens: [new Map([[hashOf(token), { kind: 'token', name: token, groups: [] }]])],
  },
})

const callerWith = (token: string): Caller => ({
  ...{ metadata: new Map([['authorization', `Bearer ${token}`]]), repeats: () => false },
  ...{ peer: '127.0.0.1:1', clientCertificate: undefined },
})

t.test('tokens that come while a thread loads its services are those that it knows', async (t) => {
  if (config === undefined) throw new Error('the configuration has errors')
  const { global, instances, servers } = config
  const [server] = servers
  if (server === undefined) throw new Error('there is a server')
  const thread = new ServingThread(() => {})
  const parts = { ledger: new Ledger({}), log: silentLog }
  const none = { stores: new Map(), shares: new Map() }
  const loading = thread.receive(
    {
      kind: 'serve',
      global,
      instances,
      ...none,
      servers: [{ number: 1, server, served: new Map() }],
      gate: shareOf('old'),
    },
    parts,
  )
  t.same(await thread.receive({ kind: 'gate', gate: shareOf('new') }, parts), [])
  const [served] = await loading
  t.equal(served?.listener, 1)
  t.same(
    ['old', 'new'].map((token) => served?.gate?.knows(callerWith(token))),
    [false, true],
  )
  const [later] = await thread.receive({ kind: 'gate', gate: shareOf('last') }, parts)
  t.equal(later?.gate?.knows(callerWith('last')), true)
})

t.test(
  'a JWT that the owner has checked is known, also if the thread hears of it while it loads its services',
  async (t) => {
    if (config === undefined) throw new Error('the configuration has errors')
    const { global, instances, servers } = config
    const [server] = servers
    if (server === undefined) throw new Error('there is a server')
    const thread = new ServingThread(() => {})
    const parts = { ledger: new Ledger({}), log: silentLog }
    const loading = thread.receive(
      {
        ...{ kind: 'serve', global, instances, stores: new Map(), shares: new Map() },
        ...{ servers: [{ number: 1, server, served: new Map() }], gate: shareOf('token') },
      },
      parts,
    )
    const verified = (token: string): Verified => ({
      ...{ hash: hashOf(token), identity: { kind: 'jwt', name: token, groups: [] }, untilMs: Date.now() + 60_000 },
    })
    await thread.receive({ kind: 'verified', by: 'jwt', verified: verified('early') }, parts)
    const [served] = await loading
    await thread.receive({ kind: 'verified', by: 'jwt', verified: verified('late') }, parts)
    await thread.receive(
      { kind: 'verified', by: 'jwt', verified: { ...verified('expired'), untilMs: Date.now() } },
      parts,
    )
    const known = ['early', 'late', 'expired', 'other'].map((token) => served?.gate?.knows(callerWith(token)))
    t.same(known, [true, true, false, false])
  },
)
