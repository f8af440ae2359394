import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ForwardingStore } from '../../src/blobs/forwarding.js'
import { putBytes, type Store } from '../../src/blobs/store.js'
import { codec, type Input } from '../../src/proto/codec.js'
import { submessagesOf } from '../../src/proto/submessages.js'
import { Digest } from '../../src/reapi/digest.js'
import { type Call, internalCall } from '../../src/rpc/call.js'
import { asCas } from '../../src/store/view/cas.js'
import type { Blob as StoredBlob } from '../../src/stream/blob/blob.js'
import type { Range } from '../../src/stream/path.js'
import { collect, type TestClient } from '../server/client.js'
import { buildAction, EXECUTION, Reader, responseOf, serveExecution } from './execution-harness.js'
import { AC, type Blob, blobOf, CAS, failure, MIB, memoryStore, put, SHA256, serve, wire } from './harness.js'

// For changes in: src/content, src/service/cas, src/ledger

type DirectoryInput = Input<'build.bazel.remote.execution.v2.Directory'>

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

/** A store in memory that answers without a turn of the event loop. A test can observe and delay each read. */
class WatchedStore extends ForwardingStore {
  onRead: (digest: Digest, call: Call) => Promise<void> | void = () => {}

  override async get(digest: Digest, range: Range, call: Call): Promise<StoredBlob> {
    await this.onRead(digest, call)
    return super.get(digest, range, call)
  }
}

const watchedStore = async (): Promise<WatchedStore> => new WatchedStore(await memoryStore())

const directory = (message: DirectoryInput): Blob => blobOf(directoryCodec.encode(message))

const nodes = (children: readonly Blob[]) =>
  children.map(({ digest }, index) => ({ name: `d${index}`, digest: wire(digest) }))

/** A root with `width` directories of `width` directories each; the leaves differ by `salt`. */
const wideTree = async (cas: Store, width: number, salt = ''): Promise<Blob> => {
  const middles: Blob[] = []
  for (let middle = 0; middle < width; middle++) {
    const leaves = Array.from({ length: width }, (_, leaf) =>
      directory({ symlinks: [{ name: `${salt}${middle}-${leaf}`, target: 't' }] }),
    )
    middles.push(directory({ directories: nodes(leaves) }))
    await put(cas, ...leaves)
  }
  const root = directory({ directories: nodes(middles) })
  await put(cas, ...middles, root)
  return root
}

const chain = async (cas: Store, depth: number): Promise<Blob> => {
  const call = internalCall()
  let level = directory({})
  for (let at = 0; at < depth; at++) {
    await putBytes(cas, level.digest, level.bytes, call)
    level = directory({ directories: nodes([level]) })
  }
  await put(cas, level)
  return level
}

const getTree = (client: TestClient, { digest }: Blob) =>
  client.serverStream(`${CAS}/GetTree`, { rootDigest: wire(digest) })

/**
 * The most reads that may still run after a call has ended: a batch of directories, or the lanes of a batch of blobs.
 */
const MAY_GO_ON = 64
const READS_BEFORE_CANCEL = 200

t.test('a call that is cancelled stops reading blobs', async (t) => {
  const store = await watchedStore()
  const cas = asCas(store)
  const root = await wideTree(cas, 40)
  const small = Array.from({ length: 1_000 }, (_, index) => blobOf(`small ${index}`))
  await put(cas, ...small)
  const server = await serveExecution(t, { instance: { cas } })
  const missing = buildAction({ action: { inputRootDigest: wire(root.digest) } })
  await put(cas, missing.action)
  const result = { outputDirectories: [{ path: 'd', rootDirectoryDigest: wire(root.digest) }] }
  const inCache = blobOf('an action')
  const { client: cacheClient } = await serve(t, { instances: { '': { cas } } })
  await cacheClient.unary(`${AC}/UpdateActionResult`, { actionDigest: wire(inCache.digest), actionResult: result })
    .response

  const stream = (call: ReturnType<typeof getTree>): (() => void) => {
    call.on('error', () => {}).resume()
    return () => call.cancel()
  }
  const unary = ({ response, cancel }: ReturnType<TestClient['unary']>): (() => void) => {
    response.catch(() => {})
    return cancel
  }
  const calls: Record<string, () => () => void> = {
    GetTree: () => stream(getTree(cacheClient, root)),
    Execute: () => stream(server.client.serverStream(`${EXECUTION}/Execute`, { actionDigest: wire(missing.digest) })),
    GetActionResult: () => unary(cacheClient.unary(`${AC}/GetActionResult`, { actionDigest: wire(inCache.digest) })),
    BatchReadBlobs: () =>
      unary(cacheClient.unary(`${CAS}/BatchReadBlobs`, { digests: small.map(({ digest }) => wire(digest)) })),
  }
  for (const [title, begin] of Object.entries(calls)) {
    let reads = 0
    let cancel = (): void => {}
    const cancelled = new Promise<void>((resolve) => {
      let seen: Promise<unknown> | undefined
      store.onRead = async (_, call) => {
        reads += 1
        if (reads < READS_BEFORE_CANCEL) return
        if (seen === undefined) {
          cancel()
          seen = once(call.signal, 'abort')
        }
        await seen
        resolve()
      }
    })
    cancel = begin()
    await cancelled
    for (let turn = 0; turn < 100; turn++) await setImmediate()
    t.ok(reads <= READS_BEFORE_CANCEL + MAY_GO_ON, `${title}: ${reads} reads`)
  }
})

t.test('a deep chain of directories does not hold up other calls', async (t) => {
  const store = await watchedStore()
  const cas = asCas(store)
  const root = await chain(cas, 20_000)
  const server = await serveExecution(t, { instance: { cas } })
  const action = buildAction({ action: { inputRootDigest: wire(root.digest) } })
  await put(cas, action.action)
  const other = server.connect()
  const check = () => other.unary('grpc.health.v1.Health/Check', {}).response
  await check()
  const ended: string[] = []
  const between = new Promise<void>((resolve) => {
    let reads = 0
    store.onRead = () => {
      reads += 1
      if (reads === 1_000) resolve(check().then(() => void ended.push('a health check sent during the call')))
    }
  })
  const stream = new Reader(server.execute(action))
  const { status } = responseOf((await stream.rest()).at(-1) ?? fail())
  ended.push('Execute')
  await between
  t.match({ ...status }, { code: 9, message: /^the CAS lacks 1 blob that the action needs/ })
  t.same(ended, ['a health check sent during the call', 'Execute'])
})

const fail = (): never => {
  throw new Error('nothing came')
}

t.test(
  'few trees are read at a time; others wait in order of arrival, and the number of waiting calls is bounded',
  async (t) => {
    const store = await watchedStore()
    const cas = asCas(store)
    const roots = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((salt) => wideTree(cas, 3, salt)))
    const { client } = await serve(t, { instances: { '': { cas } }, trees: { permits: 2, maxWaiting: 6 } })
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const begun: string[] = []
    const keys = new Set(roots.map(({ digest }) => digest.key))
    store.onRead = (digest) => {
      if (keys.has(digest.key)) begun.push(digest.key)
      return gate
    }
    const calls = roots.map((root) => getTree(client, root))
    const outcomes = calls.map((call) => collect(call))
    const { status: refused } = await collect(getTree(client, roots[0] as Blob))
    t.match(refused, { code: 8, details: /^3 of this client wait for a turn to read a directory tree already/ })
    t.same(
      begun,
      roots.slice(0, 2).map(({ digest }) => digest.key),
    )
    calls[2]?.cancel()
    t.match((await outcomes[2])?.status, { code: 1 }, 'a waiting call can be cancelled')
    open()
    for (const [index, outcome] of outcomes.entries()) {
      if (index === 2) continue
      const { status, messages } = await outcome
      t.equal(status, undefined)
      t.equal(messages[0].directories.length, 13)
    }
    // The cancellation may reach the server after the gate has opened.
    const stayed = begun.filter((key) => key !== roots[2]?.digest.key)
    t.same(
      stayed,
      [0, 1, 3, 4].map((index) => roots[index]?.digest.key),
    )
  },
)

t.test('a tree with more directories than the limit is refused', async (t) => {
  const { client, cas } = await serve(t, { trees: { maxDirectories: 13 } })
  t.equal((await collect(getTree(client, await wideTree(cas, 3)))).status, undefined, '13')
  const { status } = await collect(getTree(client, await wideTree(cas, 4)))
  t.match(status, { code: 8, details: /more than 13 different directories/ }, '21')
})

t.test('clients that do not read their trees do not delay other GetTree calls', async (t) => {
  const { client, connect, cas, clock } = await serve(t, { trees: { permits: 1 } })
  const leaves = Array.from({ length: 40 }, (_, index) =>
    directory({ symlinks: [{ name: 'l', target: `${index}${'x'.repeat(1_000_000)}` }] }),
  )
  const root = directory({ directories: nodes(leaves) })
  await put(cas, root, ...leaves)
  const stalled = Array.from({ length: 8 }, () => getTree(client, root))
  for (const call of stalled) await once(call, 'readable')
  const { status, messages } = await collect(getTree(connect(), await wideTree(cas, 2)))
  t.equal(status, undefined, 'without an advance of the clock')
  t.equal(messages[0].directories.length, 7)
  const outcomes = stalled.slice(1).map((call) => collect(call))
  t.same(
    (await Promise.all(outcomes)).map(({ messages }) => messages.length),
    Array(7).fill(40),
    'clients that read again get the rest of their trees',
  )
  clock.advance(60_000)
  t.match((await collect(stalled[0] as (typeof stalled)[0])).status, {
    code: 10,
    details: /not read the last response for 60 s/,
  })
})

t.test('GetTree returns directories byte for byte, including fields of later protocol versions', async (t) => {
  const { client, cas } = await serve(t)
  const unknown = Buffer.concat([directoryCodec.encode({ files: [] }), Buffer.from([0xc2, 0x3e, 1, 7])])
  const leaf = blobOf(unknown)
  const root = directory({ directories: nodes([leaf]) })
  await put(cas, leaf, root)
  const request = codec('build.bazel.remote.execution.v2.GetTreeRequest').encode({ rootDigest: wire(root.digest) })
  const asItIs = (bytes: Buffer): Buffer => bytes
  const [message] = await once(
    client.client.makeServerStreamRequest(`/${CAS}/GetTree`, asItIs, asItIs, request),
    'data',
  )
  const found = [...submessagesOf(message, [1], 'GetTreeResponse')].map((bytes) => Digest.of(bytes, SHA256).key)
  t.same(found, [root.digest.key, leaf.digest.key])
})

t.test('if more inputs are missing than fit into an answer, the answer lists as many as fit', async (t) => {
  const server = await serveExecution(t)
  const files = Array.from({ length: 30_000 }, (_, index) => ({
    name: `f${index}`,
    digest: wire(blobOf(`file ${index}`).digest),
  }))
  const built = buildAction({ root: { files } })
  await put(server.cas, built.action, built.root)
  const [last] = (await new Reader(server.execute(built)).rest()).slice(-1)
  const { status } = responseOf(last ?? fail())
  t.match(status?.message, /lacks 20,000 blobs/)
  t.ok((last?.response?.value.length ?? 0) < 4 * MIB)
  t.match(await failure(new Reader(server.execute(built)).rest()), { code: 'OK' })
})
