import { once } from 'node:events'
import { connect, createServer, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { SocketChannel } from '../../src/server/transport/channel.js'
import { until } from '../until.js'

/** A socket as accepted by a listener, with nothing read from it, and its other end. */
const accepted = async (t: Test): Promise<{ socket: Socket; client: Socket }> => {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const client = connect(port, '127.0.0.1')
  const [socket] = (await once(server, 'connection')) as [Socket]
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  return { socket, client }
}

/** A channel that records the bytes that it read and the memory they were in. */
const opened = async (t: Test, prepare: (socket: Socket) => void = () => {}) => {
  const { socket, client } = await accepted(t)
  prepare(socket)
  const memory = new Set<ArrayBufferLike>()
  let text = ''
  let isClosed = false
  const channel = new SocketChannel(
    socket,
    {
      read: (chunk) => {
        memory.add(chunk.buffer)
        text += chunk.toString('latin1')
      },
      closed: () => {
        isClosed = true
      },
    },
    () => {},
  )
  t.teardown(() => channel.destroy())
  const says = async (more: string): Promise<void> => {
    const whole = text + more
    client.write(more)
    await until(() => text === whole)
  }
  return { channel, client, memory, says, ended: () => until(() => isClosed) }
}

t.test(
  'sockets read into one buffer (fails if this version of Node no longer supports that for accepted sockets)',
  async (t) => {
    const [first, second] = [await opened(t), await opened(t)]
    for (const more of ['one', 'two', 'x'.repeat(200_000)]) {
      await first.says(more)
      await second.says(more)
    }
    t.equal(new Set([...first.memory, ...second.memory]).size, 1)
  },
)

/** A socket whose handle is not accessible, like that of TLS. */
const withoutHandle = (socket: Socket): void => {
  Object.defineProperty(socket, 'constructor', { value: class extends Socket {} })
}

for (const [name, prepare] of [
  ['into one buffer', () => {}],
  ['in buffers of their own, where that cannot be had', withoutHandle],
] as const) {
  t.test(`${name}: what has come at once is read in several turns, so that others are served between`, async (t) => {
    const { socket, client } = await accepted(t)
    prepare(socket)
    const whole = 8_000_000
    let [inTurn, most, all] = [0, 0, 0]
    const read = (chunk: Buffer): void => {
      inTurn += chunk.length
      all += chunk.length
    }
    const channel = new SocketChannel(socket, { read, closed: () => {} }, () => {})
    t.teardown(() => channel.destroy())
    channel.pause()
    client.write(Buffer.alloc(whole))
    channel.resume()
    await until(() => {
      most = Math.max(most, inTurn)
      inTurn = 0
      return all >= whole
    })
    t.ok(most <= 1_200_000, `${most} bytes in a turn`)
  })

  t.test(`${name}: bytes arrive in order in both directions, and pausing stops them`, async (t) => {
    const { channel, client, memory, says, ended } = await opened(t, prepare)
    await says('one')
    channel.pause()
    const held = says('two'.repeat(100_000))
    channel.resume()
    await held
    if (prepare === withoutHandle) t.ok(memory.size > 1, 'each chunk has its own memory')
    const answer = once(client, 'data')
    await new Promise((resolve) => channel.write([Buffer.from('three '), Buffer.from('four')], resolve))
    t.match(String((await answer)[0]), /^three/)
    client.end()
    client.destroy()
    await ended()
    t.pass('the end is reported')
  })
}
