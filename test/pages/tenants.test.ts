/** Two tenants and an operator at every address of the pages: nobody sees, or can find out about, what is not his. */
import { createHash } from 'node:crypto'
import t, { type Test } from 'tap'
import { codec } from '../../src/proto/codec.js'
import type { Digest } from '../../src/reapi/digest.js'
import { historicalResponse } from '../../src/reapi/kept-response.js'
import { bazel } from '../builds/harness.js'
import { bearer, withHeaders } from '../security/server.js'
import { EXECUTION, FakeWorker, Reader } from '../service/execution-harness.js'
import { Uploader } from './actions/fixture.js'
import { startPages, textIn } from './harness.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const authorized = (name: string) => ({ authorization: `Bearer token-of-${name}` })
const all = ['read_ac', 'read_cas', 'write_ac', 'write_cas', 'execute']

const security = {
  identity: { tokens: ['ann', 'bob', 'olga', 'runner'].map((name) => ({ name, sha256: sha256(`token-of-${name}`) })) },
  access: [
    { names: ['ann'], may: all, instances: ['main'] },
    { names: ['bob'], may: all, instances: ['other'] },
    { names: ['olga'], may: ['administer'] },
    { names: ['runner'], may: ['work'] },
  ],
  callers_in_results: 'readers',
}

/** In everything that belongs to ann. */
const MARK = 'of-ann'

const start = async (t: Test) => {
  const invocations = [
    {
      id: `build-${MARK}`,
      instance: 'main',
      events: [
        bazel({ id: { pattern: { pattern: [`//${MARK}`] } }, started: { command: 'build' } }),
        bazel({ finished: { exitCode: { code: 0 } } }),
      ],
    },
  ]
  const server = await startPages(t, { security, invocations, services: { admin: {} } })
  const { client, clock } = server
  const ann = new Uploader(client, 'main', authorized('ann'))
  const file = await ann.blob(MARK)
  const tree = await ann.blob(
    codec('build.bazel.remote.execution.v2.Tree').encode({
      root: { files: [{ name: MARK, digest: file.toMessage() }] },
    }),
  )
  const action = await ann.action({ arguments: [MARK], outputPaths: [`${MARK}.o`] }, { src: { [MARK]: MARK } })
  const another = await ann.action({ arguments: [MARK, '-O'], outputPaths: [`${MARK}.o`] }, { src: { [MARK]: MARK } })
  const command = await ann.blob(codec('build.bazel.remote.execution.v2.Command').encode({ arguments: [MARK] }))
  const directory = await ann.tree({ [MARK]: MARK })
  const response = await ann.blob(
    historicalResponse.encode({
      actionDigest: action.toMessage(),
      executeResponse: { result: { exitCode: 1, stderrRaw: Buffer.from(MARK) } },
    }),
  )
  const asked = { toolInvocationId: `build-${MARK}`, targetId: `//${MARK}`, actionMnemonic: MARK }
  for (const one of [action, another]) {
    await ann.ask(one, { ...asked, toolInvocationId: one === action ? `before-${MARK}` : `build-${MARK}` })
    await ann.write(one, { outputFiles: [{ path: MARK, digest: file.toMessage() }] }, asked)
  }

  // One that runs and one that waits.
  const worker = await new FakeWorker(client, clock, bearer('token-of-runner')).hello({ maxInflightAttempts: 1 })
  const execute = (actionDigest: Digest) => {
    const metadata = withHeaders(authorized('ann'))
    const facts = codec('build.bazel.remote.execution.v2.RequestMetadata').encode(asked)
    metadata.set('build.bazel.remote.execution.v2.requestmetadata-bin', facts)
    const request = { instanceName: 'main', actionDigest: actionDigest.toMessage(), skipCacheLookup: true }
    return new Reader(client.serverStream(`${EXECUTION}/Execute`, request, { metadata }))
  }
  await execute(action).next()
  await worker.start()
  await execute(another).next()

  const at = (kind: string, { hash, sizeBytes }: Digest, rest = ''): string =>
    `/main/blobs/sha256/${kind}/${hash}-${sizeBytes}/${rest}`
  const own = [
    ...['', '/targets', '/tests', '/log', '/log.txt', '/timing', '/cache', '/misses', '/command'].map(
      (tab) => `/invocation/build-${MARK}${tab}`,
    ),
    `/invocation/build-${MARK}/misses?instance=main`,
    `/invocation/before-${MARK}`,
    at('action', action),
    `/browser${at('action', action)}`,
    at('command', command),
    at('command', command, '?format=sh'),
    at('command', command, '?values=shown'),
    at('directory', directory),
    at('directory', directory, '?format=tar'),
    at('tree', tree),
    at('file', file, 'name'),
    at('file', file, 'name?show=text'),
    at('historical_execute_response', response),
    `/miss?instance=main&action=${action.key}`,
    `/compare/${action.key}..${another.key}?instance=main`,
    `/compare/${directory.key}..${directory.key}?instance=main&kind=directory`,
    `/compare/${tree.key}..${tree.key}?instance=main&kind=tree`,
    `/compare/before-${MARK}..build-${MARK}?instance=main&kind=invocation`,
  ]
  return { ...server, own }
}

t.test('what one tenant has, another one finds at no address, and strangers have to log in', async (t) => {
  const { get, own } = await start(t)
  for (const address of own) {
    t.equal((await get(address, authorized('ann'))).answer.status, 200, `ann: ${address}`)
    for (const name of ['bob', 'olga']) {
      const { answer, text } = await get(address, authorized(name))
      t.equal(answer.status, 404, `${name}: ${address}`)
      // The address itself is repeated in no other words than for what does not exist.
      t.notMatch(textIn(text).replaceAll(/(invocation|before|build)[ -]\S*/g, ''), MARK, `${name}: ${address}`)
    }
    t.equal((await get(address)).answer.status, 401, `a stranger: ${address}`)
  }
})

t.test('lists have what the reader may see, and no more', async (t) => {
  const { get } = await start(t)
  for (const address of ['/', '/?q=of-ann', '/queue', '/queue?show=waiting', '/queue?show=failed']) {
    for (const headers of [authorized('bob'), {}]) {
      const { answer, text } = await get(address, headers)
      t.equal(answer.status, 200, address)
      t.notMatch(text.replaceAll(/value="of-ann"|q(=|%3D)of-ann/g, ''), MARK, address)
    }
  }
  t.match((await get('/', authorized('ann'))).text, MARK)
  t.match(textIn((await get('/queue', authorized('ann'))).text), /\/\/of-ann .* token ann/)
  t.match((await get('/queue?show=waiting', authorized('ann'))).text, MARK)
  // An operator sees what runs, to find out why others wait; its content and its builds are not for him.
  t.match((await get('/queue', authorized('olga'))).text, MARK)
  t.notMatch((await get('/', authorized('olga'))).text, MARK)
})

t.test('pages about the process are for operators', async (t) => {
  const { get, origin } = await start(t)
  for (const address of ['/workers', '/stores', '/server']) {
    t.equal((await get(address, authorized('olga'))).answer.status, 200, address)
    const refused = await get(address, authorized('ann'))
    t.equal(refused.answer.status, 403, address)
    t.notMatch(refused.text, `href="${address}"`, 'no menu leads there')
    t.equal((await get(address)).answer.status, 401, address)
  }
  const drain = await fetch(`${origin}/admin/form/drain?scheduler=S&worker=w`, {
    method: 'POST',
    headers: authorized('ann'),
  })
  t.equal(drain.status, 403)
})

t.test('lifecycle events of one tenant do not remove the finished build of another', async (t) => {
  const services = { build_events: { path: t.testdir(), max_invocations: 50 } }
  const { client, get } = await startPages(t, { security, services })
  const lifecycle = (name: string, projectId: string, invocationId: string, event: object) =>
    client.unary(
      'google.devtools.build.v1.PublishBuildEvent/PublishLifecycleEvent',
      { projectId, buildEvent: { streamId: { buildId: 'b', invocationId }, sequenceNumber: 1, event } },
      { metadata: bearer(`token-of-${name}`) },
    ).response
  await lifecycle('ann', 'main', MARK, { invocationAttemptStarted: { attemptNumber: 1 } })
  t.equal((await get(`/invocation/${MARK}`, authorized('ann'))).answer.status, 200, 'before')
  for (let at = 0; at < 3000; at += 100)
    await Promise.all(
      Array.from({ length: 100 }, (_, one) =>
        lifecycle('bob', 'other', `flood-${at + one}`, { invocationAttemptStarted: {} }),
      ),
    )
  t.equal((await get(`/invocation/${MARK}`, authorized('ann'))).answer.status, 200)
  t.equal((await get('/invocation/flood-0', authorized('bob'))).answer.status, 404, 'the flood removed its own')
})
