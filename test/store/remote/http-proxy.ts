/** A proxy for a backend with HTTP, which can answer in its place. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { portOf, type Scope } from './backend.js'

export interface HttpRefusal {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Undefined: the backend answers. */
export type Refuse = (request: IncomingMessage) => HttpRefusal | undefined

export class HttpProxy {
  readonly port: number
  refuse: Refuse = () => undefined

  static async start(t: Scope, port: number): Promise<HttpProxy> {
    const server = createServer((incoming, outgoing) => {
      const refusal = proxy.refuse(incoming)
      if (refusal === undefined) pass(port, incoming, outgoing)
      else refuseWith(refusal, incoming, outgoing)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new HttpProxy(portOf(server.address()))
    t.teardown(() => {
      server.closeAllConnections()
      server.close()
    })
    return proxy
  }

  private constructor(port: number) {
    this.port = port
  }
}

/** Unchanged, including the host, because requests are signed. */
const pass = (port: number, incoming: IncomingMessage, outgoing: ServerResponse): void => {
  const { method, url, headers } = incoming
  const onward = request({ host: '127.0.0.1', port, method, path: url, headers }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
    answer.pipe(outgoing)
  })
  onward.on('error', () => outgoing.destroy())
  incoming.pipe(onward)
}

const refuseWith = (
  { status, headers = { 'content-type': 'application/xml' }, body = '' }: HttpRefusal,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): void => {
  incoming.resume().once('end', () => {
    outgoing.writeHead(status, headers)
    outgoing.end(incoming.method === 'HEAD' ? undefined : body)
  })
}
