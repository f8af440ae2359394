import { once } from 'node:events'
import { request } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t from 'tap'
import { Addresses } from '../../../src/download/addresses.js'
import { Guard } from '../../../src/worker/image/guard.js'
import { until } from '../../until.js'

const KIB = 1024

t.test('what a registry says before it closes the connection arrives whole at a slow reader', async (t) => {
  const guard = await Guard.open(new Addresses(['127.0.0.0/8']))
  t.teardown(() => guard.close())
  const said: number[] = []
  const registry = createServer((socket: Socket) => {
    socket.on('error', () => {}).end(Buffer.alloc(said.at(-1) ?? 0, 1))
  })
  registry.listen(0, '127.0.0.1')
  await once(registry, 'listening')
  t.teardown(() => registry.close())
  const { port } = registry.address() as AddressInfo

  // Somewhere in between all has left the registry, and the end of it waits in the guard.
  for (let sizeBytes = 64 * KIB; sizeBytes <= 1024 * KIB; sizeBytes += 32 * KIB) {
    said.push(sizeBytes)
    const asked = request({ socketPath: guard.path, method: 'CONNECT', path: `127.0.0.1:${port}` }).end()
    const [, socket, head] = (await once(asked, 'connect')) as [unknown, Socket, Buffer]
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    let found = head.length
    socket.on('data', (chunk: Buffer) => {
      found += chunk.length
    })
    await until(() => socket.closed)
    t.equal(found, sizeBytes)
  }
})
