import { once } from 'node:events'
import { connect, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import t, { type Test } from 'tap'
import { StreamTable, useStreamTable } from '../../src/server/stream-table.js'

const session = async (t: Test, onSession: (session: ServerHttp2Session) => void) => {
  const server = createServer().on('session', onSession)
  server.on('stream', (stream: ServerHttp2Stream) => {
    stream.respond({ ':status': 200 }, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ ended: 'well' }))
    stream.resume().on('end', () => stream.end('answer'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (typeof address !== 'object' || address === null) throw new Error('a TCP server has an address')
  const client = connect(`http://127.0.0.1:${address.port}`)
  t.teardown(() => {
    client.destroy()
    server.close()
  })
  return client
}

const ask = async (client: Awaited<ReturnType<typeof session>>): Promise<unknown> => {
  const stream = client.request({ ':path': '/', ':method': 'POST' })
  stream.end('question')
  const [trailers] = await once(stream.resume(), 'trailers')
  await once(stream, 'close')
  return trailers.ended
}

t.test('a session of this Node takes such a table and serves with it', async (t) => {
  let table: Map<number, ServerHttp2Stream> | undefined
  let heldWhileServing = 0
  const client = await session(t, (server) => {
    t.ok(useStreamTable(server))
    table = tableOf(server)
    server.on('stream', () => {
      heldWhileServing = table?.size ?? 0
    })
  })
  t.strictSame(await Promise.all([ask(client), ask(client), ask(client)]), ['well', 'well', 'well'])
  t.type(table, StreamTable)
  t.ok(heldWhileServing > 0)
  t.equal(await ask(client), 'well')
})

const tableOf = (session: ServerHttp2Session): Map<number, ServerHttp2Stream> => {
  const [state] = Object.getOwnPropertySymbols(session)
    .filter(({ description }) => description === 'state')
    .map((symbol) => Reflect.get(session, symbol))
  return state.streams
}

t.test('a client that goes away ends the streams in the table', async (t) => {
  const closed: Promise<unknown>[] = []
  const client = await session(t, (server) => {
    useStreamTable(server)
    server.on('stream', (stream: ServerHttp2Stream) => closed.push(once(stream, 'close')))
    server.on('error', () => {})
  })
  const stream = client.request({ ':path': '/', ':method': 'POST' })
  await once(stream, 'response')
  stream.on('error', () => {})
  client.destroy()
  await Promise.all(closed)
  t.equal(closed.length, 1)
})

t.test('leaves a session alone that keeps its streams otherwise', async (t) => {
  const session = (state: unknown) => ({ [Symbol('state')]: state })
  t.notOk(useStreamTable(session(undefined)))
  t.notOk(useStreamTable(session({ streams: {} })))
  t.notOk(useStreamTable(session({})))
  t.notOk(useStreamTable({}))
  const held = new Map([[1, {}]])
  const state = { streams: held }
  t.notOk(useStreamTable(session(state)))
  t.equal(state.streams, held)
})

t.test('does what a Map does', async (t) => {
  const [one, three, five] = ['one', 'three', 'five'].map((name) => ({ name }))
  if (one === undefined || three === undefined || five === undefined) throw new Error('three are made')
  const table = new StreamTable<object>()
  t.equal(table.set(1, one).set(3, three).set(5, five), table)
  t.ok(table.delete(3))
  t.notOk(table.delete(3))
  t.equal(table.size, 2)
  t.strictSame([table.has(1), table.has(3)], [true, false])
  t.strictSame([table.get(1), table.get(3)], [one, undefined])
  t.strictSame([...table.keys()], [1, 5])
  t.strictSame([...table.values()], [one, five])
  t.strictSame([...table], [...table.entries()])
  table.set(1, three)
  t.equal(table.get(1), three)
  const seen: unknown[] = []
  table.forEach(function (this: unknown, stream, id, map) {
    seen.push([stream, id, map === table, this])
    table.delete(id)
  }, 'self')
  t.strictSame(seen, [
    [three, 1, true, 'self'],
    [five, 5, true, 'self'],
  ])
  table.set(7, one).clear()
  t.equal(table.size, 0)
})
