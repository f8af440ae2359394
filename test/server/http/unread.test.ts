import t from 'tap'
import { treeRoute } from '../../../src/http/request.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { FrameType, PREFACE } from '../../../src/server/http2/frame/frame.js'
import { encodeFields } from '../../../src/server/http2/hpack/encoder.js'
import { listen } from '../../../src/server/listener.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { until } from '../../until.js'
import { frame, RawClient, SETTINGS_ACK, uint32 } from '../http2/raw-client.js'
import { RawHttp1, statusesIn } from './raw-http1.js'

const MIB = 1024 * 1024
const KIB = 1024
const SIZE = 8 * MIB
/** SETTINGS_INITIAL_WINDOW_SIZE. */
const windowOf = (sizeBytes: number): Buffer =>
  frame(FrameType.SETTINGS, 0, 0, Buffer.concat([Buffer.from([0, 4]), uint32(sizeBytes)]))

/** Answers with a file, of which it counts what is read. */
const serving = async (bounds: ConstructorParameters<typeof Ledger>[0] = {}) => {
  const counts = { readBytes: 0, open: 0, asked: 0 }
  const file = () => {
    counts.open += 1
    let isOpen = true
    return Blob.ofFile({
      ...{ sizeBytes: SIZE, bufferBytes: 64 * KIB },
      read: async (into, position) => {
        const length = Math.min(into.length, SIZE - position)
        into.fill(1, 0, length)
        counts.readBytes += length
        return length
      },
      close: async () => {
        if (isOpen) counts.open -= 1
        isOpen = false
      },
    })
  }
  const routes = [
    treeRoute(
      '/c',
      async () => {
        counts.asked += 1
        return { status: 200, body: file() }
      },
      'open',
    ),
  ]
  const ledger = new Ledger(bounds)
  const listener = await listen({ address: '127.0.0.1:0', services: [], routes, ledger })
  return { listener, ledger, counts, port: Number(listener.address.split(':').at(-1)) }
}

const GET = encodeFields([
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/c/file'],
  [':authority', 'localhost'],
])

t.test('answers over HTTP/2 that nobody reads hold nothing: files are read once the client takes bytes', async (t) => {
  const { listener, ledger, counts, port } = await serving()
  const clients: RawClient[] = []
  t.teardown(async () => {
    for (const { socket } of clients) socket.destroy()
    await listener.close(0)
  })
  for (let at = 0; at < 4; at++) {
    const client = await RawClient.open(port, PREFACE, windowOf(0), SETTINGS_ACK)
    clients.push(client)
    client.write(...Array.from({ length: 250 }, (_, request) => frame(FrameType.HEADERS, 5, 2 * request + 1, GET)))
  }
  await until(() => counts.open === 1000)
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(counts.readBytes, 0)
  t.ok(ledger.kinds.answers.heldBytes < MIB, `${ledger.kinds.answers.heldBytes} bytes of answers`)
  // One byte of each: what is read ahead is a small part of each, and counted.
  for (const client of clients) {
    client.write(frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(16 * MIB)), windowOf(1))
    await client.until(({ type }) => type === FrameType.DATA)
  }
  await until(() => counts.readBytes === 1000 * 64 * KIB)
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  t.equal(counts.readBytes, 1000 * 64 * KIB)
  const uncounted = counts.readBytes - ledger.kinds.answers.heldBytes
  t.ok(uncounted < 4 * 64 * KIB, `${uncounted} bytes that were read are not counted`)
  for (const { socket } of clients) socket.destroy()
  await until(() => counts.open === 0)
})

t.test('an answer over HTTP/2 that is read at last is whole', async (t) => {
  const { listener, port, counts } = await serving()
  const client = await RawClient.open(port, PREFACE, windowOf(0), SETTINGS_ACK, frame(FrameType.HEADERS, 5, 1, GET))
  t.teardown(async () => {
    client.socket.destroy()
    await listener.close(0)
  })
  await until(() => counts.open === 1)
  client.write(frame(FrameType.WINDOW_UPDATE, 0, 0, uint32(16 * MIB)), windowOf(16 * MIB))
  await client.until(({ type, flags }) => type === FrameType.DATA && flags === 1)
  const bytes = client.heard.filter(({ type }) => type === FrameType.DATA)
  t.equal(
    bytes.reduce((sum, { payload }) => sum + payload.length, 0),
    SIZE,
  )
  t.equal(counts.open, 0)
})

t.test(
  'answers over HTTP/1 that nobody reads wait for room in the ledger, and go on when others have left',
  async (t) => {
    // Half of it for one connection, three quarters for one address.
    const { listener, ledger, counts, port } = await serving({ answers: 2 * MIB })
    const clients: RawHttp1[] = []
    t.teardown(async () => {
      for (const { socket } of clients) socket.destroy()
      await listener.close(0)
    })
    for (let at = 0; at < 40; at++) {
      const client = await RawHttp1.open(port)
      client.socket.pause()
      client.write('GET /c/file HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
      clients.push(client)
    }
    await until(() => counts.asked === 40)
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    t.ok(ledger.kinds.answers.heldBytes <= 1.5 * MIB, `${ledger.kinds.answers.heldBytes} bytes of answers`)
    for (const client of clients) {
      client.socket.resume()
      const said = await client.closed()
      t.same(statusesIn(said), [200])
      t.ok(said.length > SIZE)
      client.said = ''
    }
    await until(() => ledger.kinds.answers.heldBytes === 0)
    t.equal(counts.open, 0)
  },
)
