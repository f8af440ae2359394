import t, { type Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { silentLog } from '../../src/log/log.js'
import { codec, type Input } from '../../src/proto/codec.js'
import { FrameType, PREFACE } from '../../src/server/http2/frame/frame.js'
import { frame, message, RawClient, uint32 } from '../server/http2/raw-client.js'
import { blobOf, wire } from '../service/harness.js'
import { Caller, windowOf } from './calls.js'

// The limits of time in docs/operation.md, over the assembled server with its defaults. Only its clock is the test's.

const REAPI = 'build.bazel.remote.execution.v2'
const CAS = `${REAPI}.ContentAddressableStorage`
const WRITE = 'google.bytestream.ByteStream/Write'
const HOST = '127.0.0.1'

const memory = { memory: { eviction_policy: { max_bytes: '100mb' } } }
const configuration = {
  stores: { CAS: memory, AC: memory },
  servers: {
    public: {
      listener: { http: { socket_address: `${HOST}:0` } },
      services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }] },
    },
  },
}

const encode = <N extends Parameters<typeof codec>[0]>(name: N, value: Input<N>): Buffer =>
  codec(name).encode(value as never)

const assembled = async (t: Test) => {
  const { config, problems } = parseConfig(JSON.stringify(configuration), 'test.json', { env: {} })
  if (config === undefined) throw new Error(JSON.stringify(problems))
  const clock = new ManualClock()
  const running = await assemble(config, { clock, log: silentLog })
  const port = Number(running.addresses[0]?.address.split(':')[1])
  const callers: { close(): void }[] = []
  t.teardown(async () => {
    for (const caller of callers) caller.close()
    await running.close()
  })
  const connect = async (settings?: Buffer): Promise<Caller> => {
    const caller = await Caller.from(HOST, port, settings)
    callers.push(caller)
    return caller
  }
  const raw = async (bytes: Buffer): Promise<RawClient> => {
    const client = await RawClient.from(HOST, port, bytes)
    callers.push({ close: () => client.destroy() })
    return client
  }
  const bystander = await connect()
  const isServed = async (): Promise<boolean> => {
    const blobDigests = [wire(blobOf('absent').digest)]
    const { status } = await bystander.call(
      `${CAS}/FindMissingBlobs`,
      encode(`${REAPI}.FindMissingBlobsRequest`, { blobDigests }),
    )
    return status === '0'
  }
  /** Whole seconds until `isOver`; `after` resolves when the server has read everything that was sent. */
  const secondsUntil = async (isOver: () => boolean, after: () => Promise<void>): Promise<number> => {
    for (let seconds = 0; seconds < 300; seconds++) {
      await after()
      if (isOver()) return seconds
      clock.advance(1000)
    }
    throw new Error('not within 300 seconds')
  }
  /** Shows that the attacker is there, as by the answer to a PING: the server would end a silent connection. */
  const alive = (attacker: Caller) => async (): Promise<void> => {
    attacker.client.write(frame(FrameType.PING, 0, 0, Buffer.alloc(8)))
    await isServed()
  }
  return { clock, connect, raw, isServed, alive, secondsUntil }
}

const isWithin = (t: Test, seconds: number, expected: number): void => {
  t.ok(seconds >= expected && seconds <= expected + 3, `${seconds} s, expected ${expected} and a few checks`)
}

t.test('a connection that shows no protocol is closed after 10 s', async (t) => {
  const { raw, isServed, secondsUntil } = await assembled(t)
  const attackers = await Promise.all([raw(Buffer.alloc(0)), raw(PREFACE.subarray(0, 10)), raw(PREFACE)])
  const asked = async (): Promise<void> => void (await isServed())
  isWithin(t, await secondsUntil(() => attackers.every(({ isClosed }) => isClosed), asked), 10)
  t.ok(await isServed())
})

t.test('a GetTree page that nobody reads ends its call with ABORTED after 60 s', async (t) => {
  const { clock, connect, alive } = await assembled(t)
  const leaves = Array.from({ length: 12 }, (_, at) =>
    blobOf(encode(`${REAPI}.Directory`, { symlinks: [{ name: 'l', target: `${at}${'x'.repeat(200_000)}` }] })),
  )
  const directories = leaves.map(({ digest }, at) => ({
    name: `d${String(at).padStart(2, '0')}`,
    digest: wire(digest),
  }))
  const root = blobOf(encode(`${REAPI}.Directory`, { directories }))
  const owner = await connect()
  for (const { digest, bytes } of [...leaves, root]) {
    const requests = [{ digest: wire(digest), data: bytes }]
    const { status } = await owner.call(
      `${CAS}/BatchUpdateBlobs`,
      encode(`${REAPI}.BatchUpdateBlobsRequest`, { requests }),
    )
    t.equal(status, '0')
  }
  const request = encode(`${REAPI}.GetTreeRequest`, { rootDigest: wire(root.digest) })
  const readers = [await connect(windowOf(0)), await connect(windowOf(0))] as const
  const ids = readers.map((reader) => reader.begin(`${CAS}/GetTree`, message(request), true))
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      for (const reader of readers) await alive(reader)()
      clock.advance(1000)
    }
  }
  /** The status of the call once its client reads on. */
  const statusOf = async (reader: 0 | 1): Promise<string | undefined> => {
    const { client } = readers[reader]
    const id = ids[reader] as number
    client.write(frame(FrameType.WINDOW_UPDATE, 0, id, uint32(2 ** 30)))
    const heard = await client.until(({ streamId, fields }) => streamId === id && fields['grpc-status'] !== undefined)
    return heard?.fields['grpc-status']
  }
  await pass(57)
  t.equal(await statusOf(0), '0', 'after 57 s')
  await pass(6)
  t.equal(await statusOf(1), '10', 'after 63 s')
  t.equal((await owner.call(`${CAS}/GetTree`, request)).status, '0')
})

t.test('a message that stays incomplete ends its call with DEADLINE_EXCEEDED after 120 s', async (t) => {
  const { connect, alive, secondsUntil } = await assembled(t)
  const attacker = await connect()
  const part = message(Buffer.alloc(1000))
  part.writeUInt32BE(2000, 1)
  const id = attacker.begin(WRITE, part, false)
  let ended: string | undefined
  const over = attacker.client
    .until(({ streamId, fields }) => streamId === id && fields['grpc-status'] !== undefined)
    .then((heard) => {
      ended = heard?.fields['grpc-status']
    })
  isWithin(t, await secondsUntil(() => ended !== undefined, alive(attacker)), 120)
  await over
  t.equal(ended, '4')
})

t.test('a request that goes on behind its answer is reset after 10 s', async (t) => {
  const { connect, isServed, secondsUntil } = await assembled(t)
  const attacker = await connect()
  const id = attacker.begin('no.such.Service/Method', Buffer.alloc(0), false)
  await attacker.client.until(({ streamId, fields }) => streamId === id && fields['grpc-status'] === '12')
  const isReset = (): boolean =>
    attacker.client.heard.some(({ type, streamId }) => type === FrameType.RST_STREAM && streamId === id)
  isWithin(t, await secondsUntil(isReset, async () => void (await isServed())), 10)
  t.same(attacker.client.heard.find(({ type }) => type === FrameType.RST_STREAM)?.payload, uint32(0))
})
