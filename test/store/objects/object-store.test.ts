import { once } from 'node:events'
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { internalCall } from '../../../src/rpc/call.js'
import { WHOLE } from '../../../src/stream/path.js'
import { until } from '../../until.js'
import { bytesOf, digestOf } from '../blobs.js'
import { openObjectStore } from '../kinds/experimental_cloud_object_store/open.js'
import { portOf } from '../remote/backend.js'

/** Object stores at a server that sends the first 1000 bytes of an answer, or breaks it off, and counts its answers. */
const setUp = async (t: Test, bytes: Buffer) => {
  const counts = { answers: 0, breaks: false }
  const server = createServer((_, response) => {
    if (counts.breaks) return response.destroy()
    const headers = { 'content-length': bytes.length, etag: '"1"', 'last-modified': new Date().toUTCString() }
    response.writeHead(200, headers).write(bytes.subarray(0, 1000), () => {
      counts.answers += 1
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const endpoint = `http://127.0.0.1:${portOf(server.address())}`
  const keys = { access_key_id: 'one', secret_access_key: 'two' }
  const places = [
    { provider: 'oci', bucket: 'builds', namespace: 'builders', region: 'us-east-1', endpoint, ...keys },
    { provider: 'azure', container: 'builds', sas_url: `${endpoint}/builders?sig=x` },
    { provider: 'gcs', bucket: 'builds', endpoint },
  ] as const
  return { server, places, counts }
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve))
}

t.test('a reader that gives up an answer that never ends leaves no connection', async (t) => {
  const bytes = bytesOf(100_000)
  const { server, places, counts } = await setUp(t, bytes)
  const open = promisify(server.getConnections.bind(server))
  for (const [at, place] of places.entries()) {
    const { store, close } = await openObjectStore(place)
    t.teardown(close)
    const gone = new AbortController()
    const call = internalCall({ signal: gone.signal })
    const read = store.get(digestOf(bytes), WHOLE, call).then((blob) => blob.bytes(bytes.length, call))
    await until(() => counts.answers === at + 1, `${place.provider}: an answer`)
    await turns()
    gone.abort()
    await t.rejects(read, { code: 1 }, place.provider)
    await until(async () => (await open()) === 0, `${place.provider}: that the connection is closed`)
  }
})

t.test('an answer that breaks off before somebody reads it ends no process, and the read fails', async (t) => {
  const bytes = bytesOf(1_000_000)
  const { server, places, counts } = await setUp(t, bytes)
  for (const place of places) {
    const { store, close } = await openObjectStore(place)
    t.teardown(close)
    const call = internalCall()
    const blob = await store.get(digestOf(bytes), WHOLE, call)
    counts.breaks = true
    server.closeAllConnections()
    await turns()
    await t.rejects(blob.bytes(bytes.length, call), { code: 14 }, place.provider)
    counts.breaks = false
  }
})
