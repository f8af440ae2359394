import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Addresses } from '../../../src/download/addresses.js'
import { Guard } from '../../../src/worker/image/guard.js'
import { freePorts } from '../../store/remote/backend.js'
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

/** A guard, and what its client gets behind CONNECT to a port of this machine. */
const guarded = async (t: Test, onConnection: (socket: Socket) => void) => {
  const guard = await Guard.open(new Addresses(['127.0.0.0/8']))
  t.teardown(() => guard.close())
  const registry = createServer(onConnection).listen(0, '127.0.0.1')
  await once(registry, 'listening')
  t.teardown(() => registry.close())
  const ask = async (port: number) => {
    const asked = request({ socketPath: guard.path, method: 'CONNECT', path: `127.0.0.1:${port}` }).end()
    const [{ statusCode }, socket] = (await once(asked, 'connect')) as [IncomingMessage, Socket]
    return { statusCode, socket: socket.on('error', () => {}).resume() }
  }
  return { ask, port: (registry.address() as AddressInfo).port }
}

t.test('a registry that refuses connections or breaks one off ends that one only', async (t) => {
  const { ask, port } = await guarded(t, (socket) =>
    socket.on('error', () => {}).once('data', () => socket.resetAndDestroy()),
  )
  const [closed = 0] = await freePorts(1)
  t.equal((await ask(closed)).statusCode, 502)
  const { statusCode, socket } = await ask(port)
  t.equal(statusCode, 200)
  socket.write('hello')
  await until(() => socket.closed)
})

t.test(
  'a client of the guard that breaks off in the middle of an answer ends its connection to the registry',
  async (t) => {
    let isTold = false
    const { ask, port } = await guarded(t, (socket) => {
      socket
        .on('error', () => {})
        .once('end', () => {
          isTold = true
        })
      socket.resume().write(Buffer.alloc(4096 * KIB))
    })
    const { socket } = await ask(port)
    socket.pause()
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve))
    socket.destroy()
    await until(() => isTold)
  },
)
