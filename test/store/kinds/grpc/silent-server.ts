import { once } from 'node:events'
import { createServer, type ServerHttp2Stream } from 'node:http2'
import { setImmediate } from 'node:timers/promises'
import { portOf, type Scope } from '../../remote/backend.js'

/** A server that reports each call, answers none before `answer`, and then returns NOT_FOUND. */
export const startSilent = async (t: Scope) => {
  const asked: string[] = []
  const held = new Set<ServerHttp2Stream>()
  let pings = 0
  let connections = 0
  const server = createServer()
    .on('session', (session) => {
      connections++
      session.on('ping', () => {
        pings++
      })
    })
    .on('stream', (stream, headers) => {
      stream.on('error', () => {}).resume()
      const path = String(headers[':path'])
      held.add(stream)
      if (path.endsWith('/GetCapabilities')) answer()
      else asked.push(path.split('/').at(-1) ?? '')
    })
  const answer = (): void => {
    for (const stream of held) {
      held.delete(stream)
      stream.respond({ ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' }, { endStream: true })
    }
  }
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return { port: portOf(server.address()), asked, answer, pings: () => pings, connections: () => connections }
}

/** Waits until the requests of one turn have been sent. */
export const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 50; turn++) await setImmediate()
}
