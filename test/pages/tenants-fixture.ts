/** Two tenants, an operator and all that belongs to one of them. */
import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import { codec } from '../../src/proto/codec.js'
import type { Digest } from '../../src/reapi/digest.js'
import { historicalResponse } from '../../src/reapi/kept-response.js'
import { bazel } from '../builds/harness.js'
import { bearer, withHeaders } from '../security/server.js'
import { EXECUTION, FakeWorker, Reader } from '../service/execution-harness.js'
import { Uploader } from './actions/fixture.js'
import { startPages } from './harness.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
export const authorized = (name: string) => ({ authorization: `Bearer token-of-${name}` })
const all = ['read_ac', 'read_cas', 'write_ac', 'write_cas', 'execute']

export const security = {
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
export const MARK = 'of-ann'

/** `own`: the addresses of all pages about something of ann's. */
export const startTenants = async (t: Test) => {
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
    ...['', '/targets', '/artifacts', '/tests', '/log', '/log.txt', '/timing', '/cache', '/misses', '/command'].map(
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
    `/a/${action.hash.slice(0, 12)}`,
    `/compare/${action.key}..${another.key}?instance=main`,
    `/compare/${directory.key}..${directory.key}?instance=main&kind=directory`,
    `/compare/${tree.key}..${tree.key}?instance=main&kind=tree`,
    `/compare/before-${MARK}..build-${MARK}?instance=main&kind=invocation`,
  ]
  return { ...server, own, worker, keys: { action, another, file, tree, directory } }
}
