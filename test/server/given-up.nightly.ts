import { readdirSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { codec, type Input, type TypeName } from '../../src/proto/codec.js'
import { compressors } from '../../src/reapi/compressor.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { ErrorCode, FrameType } from '../../src/server/http2/frame/frame.js'
import { type Program, serve } from '../cli/program.js'
import { drawnBytes } from '../drawn.js'
import { BYTE_STREAM, CAS, wire } from '../service/harness.js'
import { until } from '../until.js'
import { collect, TestClient } from './client.js'
import { frame, message, RawClient, requestBlock, uint32 } from './http2/raw-client.js'

// For changes in: src/server, src/security, src/service/bytestream

// Clients that cancel a call in the packet that starts it. Runs against the built server, whose descriptors are counted
// from outside.

t.setTimeout(240_000)
/** Longer than a component may take to stop: a leaked call leads to a log line that reports it. */
const DRAIN_S = 3600

const REAPI = 'build.bazel.remote.execution.v2'

const READS = 1000
const CONNECTIONS = 4

const callOf = (path: string, request: Buffer, streamId: number): Buffer[] => [
  frame(FrameType.HEADERS, 4, streamId, requestBlock(path)),
  frame(FrameType.DATA, 1, streamId, message(request)),
]

interface GivenUp {
  /** Not for grpc-js: after a protocol error Node reads nothing more from the connection, not even its end. */
  readonly endsConnection?: boolean
  /** Number of calls per connection. */
  readonly calls: number
  readonly connections: number
  /** Bytes after the call in the same packet. */
  readonly behind: (streamId: number) => Buffer
  /** Bytes after all calls, which end the connection. */
  readonly last?: Buffer
}

const many = { calls: READS, connections: CONNECTIONS }

const waysToGiveUp: Readonly<Record<string, GivenUp>> = {
  'RST_STREAM in the same packet': {
    ...many,
    behind: (id) => frame(FrameType.RST_STREAM, 0, id, uint32(ErrorCode.CANCEL)),
  },
  'WINDOW_UPDATE of 0': { ...many, behind: (id) => frame(FrameType.WINDOW_UPDATE, 0, id, uint32(0)) },
  'a second HEADERS': { ...many, behind: (id) => frame(FrameType.HEADERS, 5, id, requestBlock('/')) },
  'DATA behind the end': { ...many, endsConnection: true, behind: (id) => frame(FrameType.DATA, 1, id, message()) },
  'a connection error': {
    // One read of the server must contain all calls: a call in a later packet would already see the error.
    calls: 100,
    connections: 40,
    endsConnection: true,
    behind: () => Buffer.alloc(0),
    last: frame(FrameType.DATA, 0, 0, Buffer.from('x')),
  },
}

const giveUp = async (
  port: number,
  { calls, behind, last }: GivenUp,
  call: (id: number) => Buffer[],
): Promise<void> => {
  const client = await RawClient.greeted(port)
  const packets: Buffer[] = []
  for (let count = 0; count < calls; count++) packets.push(...call(2 * count + 1), behind(2 * count + 1))
  const ping = frame(FrameType.PING, 0, 0, Buffer.from('all seen'))
  client.write(...packets, last ?? ping)
  if (last === undefined) await client.until(({ type, flags }) => type === FrameType.PING && flags === 1)
  else await client.closed()
  client.destroy()
}

const descriptors = ({ child }: Program): number => readdirSync(`/proc/${child.pid}/fd`).length

/** Resolves once at most this number of descriptors is open. Otherwise the test times out and reports the number. */
const noneLeft = async (t: Test, server: Program, before: number): Promise<void> => {
  await until(
    () => descriptors(server) <= before,
    () => `${before} descriptors, ${descriptors(server)} are open`,
  )
  t.pass('no descriptor is left')
}

const filesystem = (path: string) => ({
  filesystem: { content_path: `${path}/content`, temp_path: `${path}/temp`, eviction_policy: { max_bytes: '1gb' } },
})

const rights = ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute']

const started = async (t: Test, transport: string, isGuarded: boolean) => {
  const data = t.testdir()
  const config = {
    global: { drain_s: DRAIN_S },
    stores: { CAS: filesystem(`${data}/cas`), AC: filesystem(`${data}/ac`) },
    schedulers: { MAIN: { simple: {} } },
    servers: {
      public: {
        listener: { http: { socket_address: '127.0.0.1:0', transport } },
        services: {
          cas: { '': { cas_store: 'CAS' } },
          ac: { '': { ac_store: 'AC' } },
          execution: { '': { cas_store: 'CAS', scheduler: 'MAIN' } },
          health: {},
        },
      },
    },
    ...(isGuarded && { security: { access: [{ anonymous: true, may: rights }] } }),
  }
  writeFileSync(`${data}/config.json`, JSON.stringify(config))
  const server = serve(t, `${data}/config.json`, data)
  const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+)/)
  const client = new TestClient(address)
  t.teardown(() => client.close())
  const bytes = drawnBytes(300 * 1024)
  const digest = Digest.of(bytes, digestFunctions.SHA256)
  await client.unary(`${CAS}/BatchUpdateBlobs`, { requests: [{ digest: wire(digest), data: bytes }] }).response
  const readAll = async (): Promise<void> => {
    const { messages } = await collect(
      client.serverStream(`${BYTE_STREAM}/Read`, { resourceName: formatReadName('', digest) }),
    )
    t.equal(
      messages.reduce((sum, { data }) => sum + (data as Buffer).length, 0),
      bytes.length,
      'others are served',
    )
  }
  return { server, port: Number(address.split(':').at(-1)), digest, readAll, client }
}

/** Every method whose calls may wait, with a valid request. */
const methodsOf = (digest: Digest): readonly (readonly [path: string, request: Buffer])[] => {
  const blobDigests = [wire(digest)]
  const root = Digest.of(Buffer.alloc(0), digestFunctions.SHA256)
  const resourceName = formatReadName('', digest)
  const zstd = formatReadName(
    '',
    digest,
    compressors.find(({ segment }) => segment === 'zstd'),
  )
  const encoded = <Name extends TypeName>(name: Name, message: Input<Name>): Buffer =>
    Buffer.from(codec(name).encode(message))
  return [
    ['grpc.health.v1.Health/Check', Buffer.alloc(0)],
    ['grpc.health.v1.Health/Watch', Buffer.alloc(0)],
    ['grpc.reflection.v1.ServerReflection/ServerReflectionInfo', Buffer.alloc(0)],
    [`${REAPI}.Capabilities/GetCapabilities`, Buffer.alloc(0)],
    [`${CAS}/FindMissingBlobs`, encoded(`${REAPI}.FindMissingBlobsRequest`, { blobDigests })],
    [`${CAS}/BatchReadBlobs`, encoded(`${REAPI}.BatchReadBlobsRequest`, { digests: blobDigests })],
    [`${CAS}/BatchUpdateBlobs`, encoded(`${REAPI}.BatchUpdateBlobsRequest`, { requests: [{ digest: wire(root) }] })],
    [`${CAS}/GetTree`, encoded(`${REAPI}.GetTreeRequest`, { rootDigest: wire(root) })],
    [
      `${REAPI}.ActionCache/GetActionResult`,
      encoded(`${REAPI}.GetActionResultRequest`, { actionDigest: wire(digest) }),
    ],
    [`${REAPI}.Execution/Execute`, encoded(`${REAPI}.ExecuteRequest`, { actionDigest: wire(digest) })],
    [`${BYTE_STREAM}/Read`, encoded('google.bytestream.ReadRequest', { resourceName })],
    [`${BYTE_STREAM}/Read`, encoded('google.bytestream.ReadRequest', { resourceName: zstd })],
    [`${BYTE_STREAM}/Write`, encoded('google.bytestream.WriteRequest', { resourceName: 'uploads/u/blobs/x/1' })],
    [
      `${BYTE_STREAM}/QueryWriteStatus`,
      encoded('google.bytestream.QueryWriteStatusRequest', { resourceName: 'uploads' }),
    ],
  ]
}

const readRequest = codec('google.bytestream.ReadRequest')

for (const isGuarded of [false, true]) {
  for (const transport of ['remexec', 'grpc-js']) {
    const title = `reads given up at once leave no descriptor and no handler: ${transport}${isGuarded ? ', with a gate' : ''}`
    t.test(title, async (t) => {
      const { server, port, digest, readAll, client } = await started(t, transport, isGuarded)
      const request = Buffer.from(readRequest.encode({ resourceName: formatReadName('', digest) }))
      const call = (id: number) => callOf(`/${BYTE_STREAM}/Read`, request, id)
      await readAll()
      for (const [title, way] of Object.entries(waysToGiveUp)) {
        if (transport === 'grpc-js' && way.endsConnection === true) continue
        const before = descriptors(server)
        for (let count = 0; count < way.connections; count++) await giveUp(port, way, call)
        // Opens of files are queued, so after a whole read none is pending.
        await readAll()
        await t.test(title, (t) => noneLeft(t, server, before))
      }
      client.close()
      server.child.kill('SIGTERM')
      t.same(await server.ended, { code: 143, signal: null })
      t.notMatch(server.said(), /could not stop cleanly/, 'a stop does not wait for cancelled calls')
    })
  }
}

for (const isGuarded of [false, true]) {
  const title = `a call of any method given up at once leaves no handler: ${isGuarded ? 'with a gate' : 'for all'}`
  t.test(title, async (t) => {
    const { server, port, digest, readAll, client } = await started(t, 'remexec', isGuarded)
    const before = descriptors(server)
    for (const way of Object.values(waysToGiveUp)) {
      for (const [path, request] of methodsOf(digest)) {
        const call = (id: number) => callOf(`/${path}`, request, id)
        await giveUp(port, { ...way, calls: 20, connections: 2 }, call)
        // Some methods wait for the end of the request, which has not been sent.
        await giveUp(port, { ...way, calls: 20, connections: 2 }, (id) => call(id).slice(0, 1))
      }
    }
    await readAll()
    await noneLeft(t, server, before)
    client.close()
    server.child.kill('SIGTERM')
    t.same(await server.ended, { code: 143, signal: null })
    t.notMatch(server.said(), /could not stop cleanly/, 'a stop does not wait for cancelled calls')
  })
}
