import { once } from 'node:events'
import { createServer } from 'node:http'
import t from 'tap'
import { internalCall } from '../../../../src/rpc/call.js'
import { GcsRequests } from '../../../../src/store/kinds/experimental_cloud_object_store/gcs-request.js'
import { portOf } from '../../remote/backend.js'

t.test('an answer of Google that breaks off is an error of its reader only', async (t) => {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 1000 })
    response.write('the first bytes', () => response.socket?.resetAndDestroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const requests = new GcsRequests({ maxConnections: 1, connectTimeoutMs: 60_000 })
  t.teardown(() => requests.close())
  const url = `http://127.0.0.1:${portOf(server.address())}`
  const { body } = await requests.send(url, { method: 'GET', signal: internalCall().signal })
  const read = async (): Promise<void> => {
    for await (const bytes of body) t.match(`${bytes}`, 'the first bytes')
  }
  await t.rejects(read(), { code: 'ECONNRESET' })
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
})

/** Timers that keep this process alive. */
const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length

t.test('the time for a connection to Google ends with the connection, not with the answer', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const requests = new GcsRequests({ maxConnections: 1, connectTimeoutMs: 60_000 })
  t.teardown(() => requests.close())
  const asked = once(server, 'request')
  const before = timers()
  const answer = requests.send(`http://127.0.0.1:${portOf(server.address())}`, {
    method: 'GET',
    signal: internalCall().signal,
  })
  // The request gets its socket in a later tick of this turn.
  for (let tick = 0; tick < 10; tick++) await new Promise<void>((resolve) => process.nextTick(resolve))
  t.equal(timers(), before + 1, 'while it connects')
  const [, response] = await asked
  t.equal(timers(), before)
  response.end()
  const { body } = await answer
  body.resume()
  await once(body, 'end')
})
