import t, { type Test } from 'tap'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import { ExecutionStage } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../src/reapi/digest.js'
import { rootKeysOf } from '../../src/reapi/root-keys.js'
import type { Call } from '../../src/rpc/call.js'
import { HELLO_TIMEOUT_MS } from '../../src/service/hello.js'
import type { Blob } from '../../src/stream/blob/blob.js'
import type { Range } from '../../src/stream/path.js'
import { during, until } from '../until.js'
import { buildAction, serveExecution } from './execution-harness.js'
import { failure, memoryStore, wire } from './harness.js'
import { joined } from './joined-front.js'

/** A store whose reads wait until the test lets them go. */
const gated = async (t: Test) => {
  let open = (): void => {}
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  t.teardown(() => open())
  const memory = await memoryStore()
  const reads = { count: 0 }
  const store = new (class extends ForwardingStore {
    override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
      reads.count += 1
      await gate
      return super.get(digest, range, call)
    }
  })(memory)
  return { store, open: () => open(), reads }
}

t.test('a client that comes back while the result of its operation is looked up hears of its end', async (t) => {
  const ac = await gated(t)
  const server = await serveExecution(t, { takesFronts: true, instance: { ac: ac.store } })
  const built = await server.upload(buildAction())
  const { reader, send } = joined(server)
  send({ hello: { protocolVersion: 1 } })
  t.ok((await reader.next()).welcome)
  const asked = { id: 'a-1', actionDigest: wire(built.digest), digestFunction: built.digest.function.value }
  send({ handIn: { ...asked, isAttended: false } })
  await until(() => ac.reads.count > 0, 'the lookup')
  send({ attend: { id: 'a-1', instanceName: '' } })
  // Both are read before the lookup goes on.
  send({ attend: { id: 'never-was', instanceName: '' } })
  await reader.until(({ notKnown }) => notKnown?.id === 'never-was')
  ac.open()
  await reader.until(({ news }) => news?.stage === ExecutionStage.QUEUED)
  const worker = await server.worker()
  worker.succeed(await worker.start())
  const { end } = await reader.until((message) => message.end !== null)
  t.equal(end?.id, 'a-1')
})

t.test('a front that says nothing does not keep its stream', async (t) => {
  const server = await serveExecution(t, { takesFronts: true })
  const { reader } = joined(server)
  const late = await during(failure(reader.next()), () => server.clock.advance(HELLO_TIMEOUT_MS))
  t.match(late, { code: 'DEADLINE_EXCEEDED', message: /no Hello within 10 s/ })
})

t.test('a worker of an older release, which keeps no scopes apart, gets no action of a branch', async (t) => {
  const server = await serveExecution(t, { takesFronts: true })
  const built = await server.upload(buildAction())
  const old = await server.worker({ name: 'old' })
  const { reader, send } = joined(server)
  send({ hello: { protocolVersion: 1 } })
  t.ok((await reader.next()).welcome)
  const asked = { actionDigest: wire(built.digest), digestFunction: built.digest.function.value, isAttended: true }
  send({ handIn: { ...asked, id: 'of-a-branch', scope: 'refs/x', skipCacheLookup: true } })
  await reader.until(({ news }) => news?.stage === ExecutionStage.QUEUED)
  const fresh = await server.worker({ name: 'fresh', knowsScopes: true })
  t.equal((await fresh.start()).operationName, 'operations/main/of-a-branch')
  server.host.drain()
  for (let message = await old.messages.next(); message.drain === null; message = await old.messages.next())
    t.equal(message.start, null)
})

t.test('an action goes to the worker that says that it keeps its input root', async (t) => {
  const server = await serveExecution(t)
  const built = await server.upload(buildAction({ command: { arguments: ['cc'] } }))
  const [inputRoot, command] = [built.root.digest, built.command.digest]
  const keys = rootKeysOf({ instanceName: '', inputRoot, command, program: 'cc' })
  for (const key of keys) {
    const first = await server.worker({ name: 'first' })
    const keeper = await server.worker({ name: 'keeper', warmKeys: [key] })
    server.execute(built, { skipCacheLookup: true }).on('error', () => {})
    keeper.succeed(await keeper.start())
    first.stream.end()
    keeper.stream.end()
  }
})
