import { MessageChannel } from 'node:worker_threads'
import t from 'tap'
import { ServingThread } from '../../src/assembly/threads/serving-thread.js'
import type { ServingToOwner } from '../../src/assembly/threads/thread-calls.js'
import { parseConfig } from '../../src/config/load.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { silentLog } from '../../src/log/log.js'
import type { ServerCapabilitiesInput } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Caller } from '../../src/rpc/gate.js'
import { hashOf } from '../../src/security/identity/credential.js'
import type { Verified } from '../../src/security/identity/verified-credentials.js'
import type { GateShare } from '../../src/security/thread-gate.js'
import { ThreadChannel } from '../../src/server/threads/channel.js'
import type { SharedStore } from '../../src/store/contract/kind.js'
import { openFilesystem } from '../store/kinds/filesystem/open.js'

const { config } = parseConfig(
  `{ stores: {}, servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services: {} }] }`,
  'serving.json5',
  { env: {} },
)

const shareOf = (token: string): GateShare => ({
  ...{ header: undefined, certificates: undefined, access: undefined, limits: [], audit: undefined },
  ...{
    scopes: { rules: [] },
    callersInResults: 'administrators',
    verified: { jwt: [], passwords: [] },
    tokens: [new Map([[hashOf(token), { kind: 'token', name: token, groups: [] }]])],
  },
})

const callerWith = (token: string): Caller => ({
  ...{ metadata: new Map([['authorization', `Bearer ${token}`]]), repeats: () => false },
  ...{ peer: '127.0.0.1:1', clientCertificate: undefined },
})

/** A channel whose other side is not heard. */
const toNobody = (): ThreadChannel<ServingToOwner> => {
  const { port1 } = new MessageChannel()
  port1.unref()
  return new ThreadChannel(port1)
}

t.test('tokens that come while a thread loads its services are those that it knows', async (t) => {
  if (config === undefined) throw new Error('the configuration has errors')
  const { global, instances, servers } = config
  const [server] = servers
  if (server === undefined) throw new Error('there is a server')
  const thread = new ServingThread(toNobody())
  const parts = { ledger: new Ledger({}), log: silentLog }
  const none = { stores: new Map(), shares: new Map() }
  const loading = thread.serve(
    {
      parents: new Map(),
      global,
      instances,
      ...none,
      servers: [{ number: 1, server, served: new Map() }],
      gate: shareOf('old'),
    },
    parts,
  )
  t.same(thread.renewGate(shareOf('new')), [])
  const [served] = await loading
  t.equal(served?.listener, 1)
  t.same(
    ['old', 'new'].map((token) => served?.gate?.knows(callerWith(token))),
    [false, true],
  )
  const [later] = thread.renewGate(shareOf('last'))
  t.equal(later?.gate?.knows(callerWith('last')), true)
})

t.test('a thread announces execution for the instances for which the owner executes', async (t) => {
  const cas = `{ a: { cas_store: 'S' }, b: { cas_store: 'S' } }`
  const services = `{ cas: ${cas}, execution: { a: { cas_store: 'S', scheduler: 'M' } } }`
  const { config: executing, problems } = parseConfig(
    `{
      stores: { S: { filesystem: { content_path: '/c', temp_path: '/t' } } },
      schedulers: { M: { simple: {} } },
      servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services: ${services} }],
    }`,
    'serving.json5',
    { env: {} },
  )
  const [server] = executing?.servers ?? []
  if (executing === undefined || server === undefined) throw new Error(JSON.stringify(problems))
  const { global, instances } = executing
  const shares: SharedStore[] = []
  const threads = { threadCount: 1, register: (store: SharedStore) => void shares.push(store) }
  const { close } = await openFilesystem(t.testdir(), { threads })
  t.teardown(close)
  const [served] = await new ServingThread(toNobody()).serve(
    {
      ...{ parents: new Map(), global, instances, gate: undefined },
      stores: new Map([...executing.stores.keys()].map((store) => [store, { path: 'S', form: 'shared' as const }])),
      shares: new Map(shares.map((share) => ['S', share.share().data])),
      servers: [{ number: 1, server, served: new Map() }],
    },
    { ledger: new Ledger({}), log: silentLog },
  )
  const name = 'build.bazel.remote.execution.v2.Capabilities'
  const { GetCapabilities: ask } = served?.services.find((service) => service.name === name)?.unary ?? {}
  const executes = async (instanceName: string): Promise<boolean> => {
    const answer = (await ask?.({ instanceName }, {} as never)) as ServerCapabilitiesInput
    return answer.executionCapabilities !== undefined
  }
  t.same([await executes('a'), await executes('b')], [true, false])
})

t.test(
  'a JWT that the owner has checked is known, also if the thread hears of it while it loads its services',
  async (t) => {
    if (config === undefined) throw new Error('the configuration has errors')
    const { global, instances, servers } = config
    const [server] = servers
    if (server === undefined) throw new Error('there is a server')
    const thread = new ServingThread(toNobody())
    const parts = { ledger: new Ledger({}), log: silentLog }
    const loading = thread.serve(
      {
        ...{ parents: new Map(), global, instances, stores: new Map(), shares: new Map() },
        ...{ servers: [{ number: 1, server, served: new Map() }], gate: shareOf('token') },
      },
      parts,
    )
    const verified = (token: string): Verified => ({
      ...{ hash: hashOf(token), identity: { kind: 'jwt', name: token, groups: [] }, untilMs: Date.now() + 60_000 },
    })
    thread.heard.verified('jwt', verified('early'))
    const [served] = await loading
    thread.heard.verified('jwt', verified('late'))
    thread.heard.verified('jwt', { ...verified('expired'), untilMs: Date.now() })
    const known = ['early', 'late', 'expired', 'other'].map((token) => served?.gate?.knows(callerWith(token)))
    t.same(known, [true, true, false, false])
  },
)
