import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import type { Duplex } from 'node:stream'
import { proxyOf } from '../../base/proxies.js'
import { StatusError } from '../../base/status-error.js'
import type { Addresses } from '../../download/addresses.js'
import { tunnel } from '../../outgoing/tunnel.js'

const AUTHORITY = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/
const CONNECT_TIMEOUT_MS = 30_000
/** skopeo fetches six layers at a time. */
const MAX_CONNECTIONS = 64

/**
 * A proxy on a socket of this machine, by which one run of skopeo reaches registries that nobody listed: it connects to permitted addresses
 * only. A registry, or a redirect of one, could otherwise lead skopeo to a service that trusts this machine.
 */
export class Guard {
  readonly #addresses: Addresses
  readonly #server: Server
  readonly #folder: string
  readonly #sockets = new Set<Duplex>()
  #refused: StatusError | undefined

  private constructor(addresses: Addresses, server: Server, folder: string) {
    this.#addresses = addresses
    this.#server = server
    this.#folder = folder
  }

  static async open(addresses: Addresses): Promise<Guard> {
    const folder = await mkdtemp(`${tmpdir()}/remexec-guard-`)
    const server = createServer()
    server.maxConnections = MAX_CONNECTIONS
    const guard = new Guard(addresses, server, folder)
    // Only CONNECT: registries that nobody listed have to use TLS.
    server.on('request', (_, response) => {
      guard.#refused ??= new StatusError('PERMISSION_DENIED', 'a registry without TLS has to be listed')
      response.writeHead(403).end()
    })
    server.on('connect', (request, socket: Duplex) => void guard.#connect(request.url ?? '', socket))
    await new Promise<void>((resolve, reject) => server.on('error', reject).listen(guard.path, resolve))
    return guard
  }

  /** The path of the socket. */
  get path(): string {
    return `${this.#folder}/proxy`
  }

  /** Why a connection was refused, if one was. */
  get refused(): StatusError | undefined {
    return this.#refused
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.closeAllConnections()
    this.#server.close()
    await rm(this.#folder, { recursive: true, force: true })
  }

  async #connect(authority: string, socket: Duplex): Promise<void> {
    this.#hold(socket)
    try {
      const upstream = await this.#upstream(authority)
      this.#hold(upstream)
      // What one side has said is still under way to the other when it closes.
      upstream.once('close', () => socket.end())
      socket.once('close', () => upstream.end())
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(upstream).pipe(socket)
    } catch (error) {
      const failure = StatusError.from(error)
      if (failure.code === FORBIDDEN) this.#refused ??= failure
      socket.end(`HTTP/1.1 ${failure.code === FORBIDDEN ? '403 Forbidden' : '502 Bad Gateway'}\r\n\r\n`)
    }
  }

  async #upstream(authority: string): Promise<Duplex> {
    const [, hostname, port] = AUTHORITY.exec(authority) ?? []
    if (hostname === undefined) throw new StatusError('PERMISSION_DENIED', 'a registry leads to no host')
    this.#addresses.checkLiteral(hostname)
    const proxy = proxyOf({ protocol: 'https:', hostname, port: Number(port) })
    if (proxy !== undefined) {
      await this.#addresses.checkName(hostname)
      return tunnel(proxy, authority)
    }
    return connected(
      connect({
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: Number(port),
        lookup: this.#addresses.lookup,
      }),
    )
  }

  #hold(socket: Duplex): void {
    this.#sockets.add(socket)
    socket.once('close', () => this.#sockets.delete(socket))
    // Either end tells skopeo by its close.
    socket.on('error', () => socket.destroy())
  }
}

const { code: FORBIDDEN } = new StatusError('PERMISSION_DENIED', '')

const connected = (socket: Socket): Promise<Socket> =>
  new Promise((resolve, reject) => {
    socket.setTimeout(CONNECT_TIMEOUT_MS, () =>
      socket.destroy(new StatusError('UNAVAILABLE', 'a registry gives no answer')),
    )
    // After the connection the promise is settled, and its holder listens too.
    socket.on('error', reject)
    socket.once('connect', () => {
      socket.setTimeout(0)
      resolve(socket)
    })
  })
