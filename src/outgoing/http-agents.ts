import { type ClientRequestArgs, Agent as HttpAgent, type AgentOptions as HttpAgentOptions } from 'node:http'
import { type AgentOptions, Agent as HttpsAgent, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { type Destination, proxyOf } from '../base/proxies.js'
import { tunnel } from './tunnel.js'

type Created = (error: Error | null, stream: Duplex) => void

/** Opens connections for `http:` through the proxy of the environment where that asks for one, by CONNECT. */
export class OutgoingHttpAgent extends HttpAgent {
  override createConnection(options: ClientRequestArgs, created?: Created): Duplex | null | undefined {
    const way = throughProxy('http:', options)
    if (way === undefined) return super.createConnection(options, created)
    way.then((socket) => created?.(null, socket), failing(created))
    return undefined
  }
}

/** The same for `https:`: TLS is spoken with the server, not with the proxy. */
export class OutgoingHttpsAgent extends HttpsAgent {
  override createConnection(options: RequestOptions, created?: Created): Duplex | null | undefined {
    const way = throughProxy('https:', options)
    if (way === undefined) return super.createConnection(options, created)
    way
      .then((socket) => {
        const secured = super.createConnection({ ...options, socket } as RequestOptions)
        if (secured) created?.(null, secured)
      })
      .catch(failing(created))
    return undefined
  }
}

export interface Agents {
  readonly http: HttpAgent
  readonly https: HttpsAgent
}

/** `certificates` are those to trust in place of the usual ones. */
export const outgoingAgents = (options: HttpAgentOptions, secure: AgentOptions = {}): Agents => ({
  http: new OutgoingHttpAgent(options),
  https: new OutgoingHttpsAgent({ ...options, ...secure }),
})

const PORTS = { 'http:': 80, 'https:': 443 } as const

const throughProxy = (
  protocol: Destination['protocol'],
  { host, hostname, port }: Pick<ClientRequestArgs, 'host' | 'hostname' | 'port'>,
): Promise<Duplex> | undefined => {
  const name = host ?? hostname ?? 'localhost'
  const of = Number(port ?? PORTS[protocol])
  const proxy = proxyOf({ protocol, hostname: name, port: of })
  return proxy && tunnel(proxy, `${name.includes(':') ? `[${name}]` : name}:${of}`)
}

const failing =
  (created: Created | undefined) =>
  (error: Error): void =>
    // The type asks for a stream beside the error, which nobody uses.
    created?.(error, undefined as unknown as Duplex)
