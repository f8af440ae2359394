import t from 'tap'
import { textAnswer } from '../../../src/http/answer.js'
import type { HttpHandler } from '../../../src/http/request.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { Blob } from '../../../src/stream/blob/blob.js'
import { heldBytes } from '../../held-memory.js'
import { until } from '../../until.js'
import { listening, RawHttp1, statusesIn } from './raw-http1.js'

const MIB = 1024 * 1024
const GET = 'GET /c/fast HTTP/1.1\r\nhost: x\r\n\r\n'

/** Answers `/c/slow` when it is told to, and counts the requests that were begun. */
const gated = () => {
  const open: (() => void)[] = []
  const counts = { begun: 0 }
  const handler: HttpHandler = async ({ rest }) => {
    counts.begun += 1
    if (rest === 'slow') await new Promise<void>((resolve) => open.push(resolve))
    return textAnswer(200, rest)
  }
  const begun = async (count: number): Promise<void> => {
    await until(() => counts.begun >= count)
  }
  const release = (): void => {
    for (const go of open.splice(0)) go()
  }
  return { handler, counts, begun, open: release }
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test(
  'millions of requests sent ahead stay in the socket: memory does not grow, and others are answered',
  async (t) => {
    const { handler, begun, open } = gated()
    const ledger = new Ledger()
    const { port } = await listening(t, handler, { ledger })
    const before = heldBytes()
    const clients: RawHttp1[] = []
    t.teardown(() => {
      for (const { socket } of clients) socket.destroy()
    })
    // 4 million requests, if the server took them.
    const part = Buffer.from(GET.repeat(10_000))
    for (let at = 0; at < 20; at++) {
      const client = await RawHttp1.open(port, 'GET /c/slow HTTP/1.1\r\nhost: x\r\n\r\n')
      clients.push(client)
      await begun(at + 1)
      for (let sent = 0; sent < 20; sent++) client.socket.write(part)
    }
    const bystander = await RawHttp1.open(port)
    clients.push(bystander)
    for (let asked = 1; asked <= 50; asked++) {
      bystander.write(GET)
      await bystander.answered(asked)
    }
    t.equal(statusesIn(bystander.said).length, 50)
    const taken = clients.reduce((sum, { socket }) => sum + socket.bytesWritten - socket.writableLength, 0)
    t.ok(taken < 20 * 16 * MIB, `${Math.round(taken / MIB)} MiB were taken`)
    const grown = (heldBytes() - before) / MIB
    // Both ends are in this process, which holds what it has not sent in one buffer for all: 0.3 MB, listed 400 times.
    t.ok(grown < 160, `${Math.round(grown)} MiB more`)
    t.ok(ledger.kinds.requests.heldBytes > 0, 'what was read ahead is counted')
    for (const { socket } of clients) socket.destroy()
    open()
    await until(() => ledger.kinds.requests.heldBytes === 0)
  },
)

t.test('requests sent ahead of a slow one are all answered, in order, with their bodies', async (t) => {
  const { handler, open, begun } = gated()
  const { port } = await listening(t, async (request) => {
    if (request.method !== 'PUT') return handler(request)
    const form = await request.body.take()
    let bytes = form.kind === 'bytes' ? form.bytes.length : 0
    if (form.kind === 'feed')
      await form.feed.into((chunk) => {
        bytes += chunk.length
        return undefined
      })
    return textAnswer(200, `put ${bytes}`)
  })
  const client = await RawHttp1.open(port, 'GET /c/slow HTTP/1.1\r\nhost: x\r\n\r\n')
  t.teardown(() => client.socket.destroy())
  await begun(1)
  // Bodies that look like heads, longer than what one read brings, and chunked ones.
  const body = '\r\n\r\nGET /c/none HTTP/1.1\r\n\r\n'.repeat(6000)
  const expected = ['slow']
  for (let round = 0; round < 5; round++) {
    for (let at = 0; at < 700; at++) client.write(`GET /c/${round}-${at} HTTP/1.1\r\nhost: x\r\n\r\n`)
    client.write(`PUT /c HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    client.write(
      `PUT /c HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    )
    expected.push(
      ...Array.from({ length: 700 }, (_, at) => `${round}-${at}`),
      `put ${body.length}`,
      `put ${body.length}`,
    )
  }
  client.write('GET /c/last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  expected.push('last')
  await turns(50)
  open()
  const said = await client.closed()
  const bodies = said.split(/HTTP\/1\.1 200 OK\r\n[\s\S]*?\r\n\r\n/).slice(1)
  t.same(bodies, expected)
})

t.test('once a client has sent ahead, its requests are parsed one by one, not all that a read brings', async (t) => {
  const { handler, open, begun } = gated()
  const ledger = new Ledger()
  const { port } = await listening(t, handler, { ledger })
  const slow = 'GET /c/slow HTTP/1.1\r\nhost: x\r\n\r\n'
  const client = await RawHttp1.open(port, slow)
  t.teardown(() => client.socket.destroy())
  await begun(1)
  client.write(GET.repeat(2000))
  await until(() => ledger.kinds.requests.heldBytes > 0)
  client.write(slow.repeat(5000))
  open()
  await begun(2002)
  await turns(50)
  // A request that is parsed counts as 4 KiB, and a read brings some 1,700.
  t.ok(ledger.kinds.requests.heldBytes < MIB, `${ledger.kinds.requests.heldBytes} bytes are held`)
})

t.test('large answers to requests sent ahead arrive whole, also at a client that reads late', async (t) => {
  const bytes = Buffer.alloc(3 * MIB, 'x')
  const { port } = await listening(t, async () => ({
    status: 200,
    body: Blob.ofBytes(bytes),
  }))
  const client = await RawHttp1.open(port)
  t.teardown(() => client.socket.destroy())
  client.socket.pause()
  client.write(GET.repeat(9))
  client.write('GET /c/last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  await turns(50)
  client.socket.resume()
  const said = await client.closed()
  t.equal(statusesIn(said).length, 10)
  t.equal(said.match(/x{100}/g)?.length, Math.floor((3 * MIB) / 100) * 10)
})

t.test('handlers of requests that wait do not run once their client has gone', async (t) => {
  const { handler, counts, open, begun } = gated()
  const { port } = await listening(t, handler)
  const client = await RawHttp1.open(port, `GET /c/slow HTTP/1.1\r\nhost: x\r\n\r\n${GET.repeat(100)}`)
  await begun(1)
  client.socket.resetAndDestroy()
  const bystander = await RawHttp1.open(port)
  t.teardown(() => bystander.socket.destroy())
  // The server hears of the end before a connection that begins later is answered a few times.
  for (let asked = 1; asked <= 5; asked++) {
    bystander.write(GET)
    await bystander.answered(asked)
  }
  open()
  await turns(50)
  // One more may begin with the first answer that the system refuses to take.
  t.ok(counts.begun <= 7, `${counts.begun} were begun`)
})

t.test('a connection that sends more ahead than the ledger has room for is ended', async (t) => {
  const { handler, begun } = gated()
  const ledger = new Ledger({ requests: MIB })
  const { port } = await listening(t, handler, { ledger })
  const client = await RawHttp1.open(port, 'GET /c/slow HTTP/1.1\r\nhost: x\r\n\r\n')
  await begun(1)
  await client.sent(Buffer.from(GET.repeat(1500)))
  t.notOk(statusesIn(await client.closed()).includes(500))
  await until(() => ledger.kinds.requests.heldBytes === 0)
  t.equal(ledger.kinds.requests.limitedCount, 1)
})

t.test('CONNECT behind a request: the request is answered first, then CONNECT is refused', async (t) => {
  const { handler, open, begun } = gated()
  const { port } = await listening(t, handler)
  const connect = 'CONNECT a:80 HTTP/1.1\r\nhost: x\r\n\r\n'
  const client = await RawHttp1.open(port, `GET /c/slow HTTP/1.1\r\nhost: x\r\n\r\n${GET}${connect}${GET}`)
  await begun(1)
  await turns(20)
  t.equal(client.said, '')
  open()
  t.same(statusesIn(await client.closed()), [200, 200, 405])
})
