/** A proxy of a company: the only one that knows the names of hosts, which it leads to servers of a test. */
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import type { Test } from 'tap'

export interface ConnectProxy {
  /** `http://127.0.0.1:PORT`. */
  readonly address: string
  /** `host:port` of each connection that it was asked for. */
  readonly asked: string[]
  /** The header `proxy-authorization` of the last one. */
  readonly credentials: () => string | undefined
}

export const listening = async (t: Test, server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** `portOf` says where a `host:port` is; undefined: refused with 403. */
export const startProxy = async (t: Test, portOf: (authority: string) => number | undefined): Promise<ConnectProxy> => {
  const asked: string[] = []
  let credentials: string | undefined
  const sockets = new Set<Socket>()
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const proxy = createServer().on('connect', ({ url = '', headers }, client: Socket) => {
    asked.push(url)
    credentials = headers['proxy-authorization']
    client.on('error', () => {})
    const port = portOf(url)
    if (port === undefined) {
      client.end('HTTP/1.1 403 Forbidden\r\n\r\n')
      return
    }
    const server = connect(port, '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'))
    sockets.add(client).add(server)
    server.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.on('close', () => server.destroy())
    client.pipe(server).pipe(client)
  })
  return { address: `http://127.0.0.1:${await listening(t, proxy)}`, asked, credentials: () => credentials }
}
