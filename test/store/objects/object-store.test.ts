import { once } from 'node:events'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import t from 'tap'
import { internalCall } from '../../../src/rpc/call.js'
import { WHOLE } from '../../../src/stream/path.js'
import { until } from '../../until.js'
import { bytesOf, digestOf } from '../blobs.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { portOf } from '../remote/backend.js'

t.test('a reader that gives up an answer that never ends leaves no connection', async (t) => {
  const bytes = bytesOf(100_000)
  let wasAsked = false
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 1000), () => {
      wasAsked = true
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const open = promisify(server.getConnections.bind(server))
  const endpoint = `http://127.0.0.1:${portOf(server.address())}`
  const { store, close } = await openObjectStore({ provider: 'gcs', bucket: 'builds', endpoint })
  t.teardown(close)
  const gone = new AbortController()
  const call = internalCall({ signal: gone.signal })
  const read = store.get(digestOf(bytes), WHOLE, call).then((blob) => blob.bytes(bytes.length, call))
  await until(() => wasAsked)
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve))
  gone.abort()
  await t.rejects(read, { code: 1 })
  await until(async () => (await open()) === 0)
})
