import { readdirSync, readlinkSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import { join } from 'node:path'
import t from 'tap'
import { serve } from '../cli/program.js'
import { until } from '../until.js'

// For changes in: src/admin, src/http, src/server/http

const folder = t.testdir({ tmp: {} })
const config = join(folder, 'config.json')
await writeFile(
  config,
  JSON.stringify({
    stores: { CAS: { memory: {} }, AC: { memory: {} } },
    servers: {
      operators: {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: { cas: { '': { cas_store: 'CAS' } }, ac: { '': { ac_store: 'AC' } }, admin: {} },
      },
    },
  }),
)
const server = serve(t, config, folder, { TMPDIR: join(folder, 'tmp') })
const [, address = ''] = await server.hears(/serving grpc:\/\/(\S+)/)
const put = (path: string, signal?: AbortSignal) =>
  fetch(`http://${address}/admin/${path}`, { method: 'PUT', ...(signal && { signal }) })

/** The snapshots that the server has open. */
const openSnapshots = (): number => {
  const descriptors = `/proc/${server.child.pid}/fd`
  return readdirSync(descriptors).filter((name) => {
    try {
      return readlinkSync(join(descriptors, name)).includes('heapsnapshot')
    } catch {
      // Closed since.
      return false
    }
  }).length
}

const untilClosed = async (): Promise<void> => {
  await until(() => openSnapshots() === 0)
}

t.test('a CPU profile of a second, one at a time', async (t) => {
  const taken = put('profile?seconds=1')
  let refused = await put('heap')
  // The first may arrive later.
  await until(async () => {
    if (refused.status !== 200) return true
    await refused.arrayBuffer()
    refused = await put('heap')
    return false
  }, 'a refused snapshot')
  t.equal(refused.status, 409)
  t.match(await refused.json(), { error: /a profile is being taken, expected one at a time/ })
  const answer = await taken
  t.equal(answer.status, 200)
  t.equal(answer.headers.get('content-disposition'), 'attachment; filename="remexec.cpuprofile"')
  const { nodes, startTime, endTime } = (await answer.json()) as { nodes: object[]; startTime: number; endTime: number }
  t.ok(nodes.length > 1)
  t.ok(endTime - startTime > 900_000, `${endTime - startTime} µs`)
  await server.hears(/info .*an operator took a CPU profile bytes=\d+ peer=127\.0\.0\.1/)
})

t.test('a profile ends when its operator goes, and the next one can begin', async (t) => {
  const gone = new AbortController()
  const taken = put('profile?seconds=30', gone.signal)
  await until(async () => (await put('profile?seconds=1')).status === 409)
  gone.abort()
  await t.rejects(taken)
  await until(async () => {
    const { status } = await put('profile?seconds=1')
    if (status !== 200) t.equal(status, 409)
    return status === 200
  }, 'another profile')
})

t.test('times out of bounds, and other methods, are refused', async (t) => {
  for (const seconds of ['0', '31', '1.5', 'x']) {
    const answer = await put(`profile?seconds=${seconds}`)
    t.equal(answer.status, 400)
    t.match(await answer.json(), { error: /expected a whole number from 1 to 30/ })
  }
  for (const path of ['profile', 'heap']) t.equal((await fetch(`http://${address}/admin/${path}`)).status, 405)
})

const isSnapshot = (text: string): boolean => {
  const { snapshot, nodes } = JSON.parse(text)
  return snapshot.node_count > 1000 && nodes.length > snapshot.node_count
}

t.test('a heap snapshot over HTTP/1.1, of which nothing stays behind', async (t) => {
  const answer = await put('heap')
  t.equal(answer.status, 200)
  t.ok(isSnapshot(await answer.text()))
  await server.hears(
    /warn .*an operator took a heap snapshot; it has the secrets of this process bytes=\d+ pausedMs=\d+/,
  )
  await untilClosed()
  t.same(await readdir(join(folder, 'tmp')), [])
})

t.test('a heap snapshot over HTTP/2 is sent as fast as the operator reads', async (t) => {
  const client = connect(`http://${address}`)
  t.teardown(() => client.close())
  const slow = client.request({ ':method': 'PUT', ':path': '/admin/heap' })
  await new Promise((resolve) => slow.once('response', resolve))
  t.equal(openSnapshots(), 1, 'not read: the file stays open')
  let text = ''
  for await (const chunk of slow.setEncoding('utf8')) text += chunk
  t.ok(isSnapshot(text))
  await untilClosed()

  const left = client.request({ ':method': 'PUT', ':path': '/admin/heap' })
  await new Promise((resolve) => left.once('response', resolve))
  left.close()
  await untilClosed()
  t.equal((await fetch(`http://${address}/admin`)).status, 200, 'the server goes on')
})
