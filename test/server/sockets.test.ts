import { once } from 'node:events'
import t from 'tap'
import { ManualClock } from '../../src/base/clock.js'
import { textLog } from '../../src/log/log.js'
import { socketServer } from '../../src/server/sockets.js'

t.test('a connection that the kernel could not give is logged, and the listener goes on', async (t) => {
  const lines: string[] = []
  const log = textLog('info', (line) => lines.push(line))
  const bounds = { maxConnections: 10, maxConnectionsPerAddress: 10 }
  const { server } = socketServer(
    { tls: undefined, handshakeMs: 1000, bounds, isUnix: false, clock: new ManualClock(), log },
    (socket, closed) => socket.once('close', closed),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  server.emit('error', Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' }))
  t.match(lines, [/warn {2}a connection could not be accepted reason=/])
  t.ok(server.listening)
})
