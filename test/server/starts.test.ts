import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { textLog } from '../../src/log/log.js'
import type { Service } from '../../src/rpc/rpc.js'
import { Flag, FrameType } from '../../src/server/http2/frame/frame.js'
import { listen } from '../../src/server/listener.js'
import { frame, message, RawClient, requestBlock, uint32 } from './http2/raw-client.js'

const NAME = 'google.bytestream.ByteStream'
const COUNT = 300
const MAX_TURNS = 1_000_000

/** Serves Reads and records the turn of the event loop in which each began. */
const serve = async (t: Test) => {
  const turns: number[] = []
  let turn = 0
  let isOver = false
  const count = async (): Promise<void> => {
    // biome-ignore lint/plugin: counts until the test is over
    for (; !isOver && turn < MAX_TURNS; turn++) await setImmediate()
  }
  void count()
  const service: Service = {
    name: NAME,
    serverStreaming: { Read: async () => void turns.push(turn) },
  }
  const listener = await listen({ address: '127.0.0.1:0', services: [service], log: textLog('error', () => {}) })
  t.teardown(async () => {
    isOver = true
    await listener.close(0)
  })
  const client = await RawClient.greeted(Number(listener.address.split(':').at(-1)))
  t.teardown(() => client.destroy())
  return { turns, listener, client }
}

const request = (id: number): Buffer[] => [
  frame(FrameType.HEADERS, Flag.END_HEADERS, id, requestBlock(`/${NAME}/Read`)),
  frame(FrameType.DATA, Flag.END_STREAM, id, message()),
]

const ids = Array.from({ length: COUNT }, (_, at) => 2 * at + 1)

t.test('hundreds of Reads in one read of the socket do not begin in one turn of the event loop', async (t) => {
  const { turns, client } = await serve(t)
  client.write(...ids.flatMap(request))
  const ended = new Set<number>()
  await client.until(({ type, flags, streamId }) => {
    if (type === FrameType.HEADERS && (flags & Flag.END_STREAM) !== 0) ended.add(streamId)
    return ended.size === COUNT
  })
  t.equal(turns.length, COUNT, 'all were served')
  const most = Math.max(...turns.map((turn) => turns.filter((other) => other === turn).length))
  t.ok(most <= 64, `${most} in a turn: the bound, and that of the next round in the same turn of this test`)
})

t.test(
  'a Read that is cancelled while it waits for its turn never begins, and nothing counts it as open',
  async (t) => {
    const { turns, client, listener } = await serve(t)
    const last = ids.at(-1) ?? 0
    const cancelled = ids.slice(-51, -1)
    client.write(...ids.flatMap(request), ...cancelled.map((id) => frame(FrameType.RST_STREAM, 0, id, uint32(8))))
    await client.until(({ type, streamId }) => type === FrameType.HEADERS && streamId === last)
    t.ok(turns.length < COUNT, `${turns.length} began`)
    await listener.close(60_000)
    t.pass('the listener closes at once, because no call is open')
  },
)
