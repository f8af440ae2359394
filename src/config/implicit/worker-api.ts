import type { AttachedWorker, ListenerConfig, ListenerOptions, ServerConfig, WorkerConfig } from '../config.js'
import type { Findings } from '../findings.js'
import type { Path } from '../read/path.js'
import type { Origins } from '../schema/origins.js'
import { defaultNumber, defaultsOf, schemaFile } from '../schema/schema.js'
import { type Address, type Endpoint, isLocalHost, parseEndpoint, reaches } from '../value/address.js'

/**
 * Finds the server of this process that each worker connects to. A local address without a listener gets one,
 * and a server without a worker API gets one; both serve the only scheduler that executes. A file without a
 * scheduler describes a process with workers only, which connect to another process.
 */
export const placeWorkers = (
  workers: ReadonlyMap<string, WorkerConfig>,
  servers: readonly ServerConfig[],
  schedulers: ReadonlySet<string>,
  origins: Origins,
  findings: Findings,
): { readonly workers: readonly AttachedWorker[]; readonly servers: readonly ServerConfig[] } => {
  const placement = new Placement(servers, schedulers, findings)
  const attached = [...workers].map(([key, { kind, options }]) => {
    const endpoint = options.worker_api_endpoint
    const server = placement.serverFor(endpoint.uri, origins.of(endpoint))
    const named = { ...options, name: options.name || (/^\d+$/.test(key) ? `worker_${key}` : key) }
    return { kind, options: origins.record(named, origins.of(options)), ...(server !== undefined && { server }) }
  })
  return { workers: attached, servers: placement.servers }
}

class Placement {
  servers: readonly ServerConfig[]
  readonly #schedulers: ReadonlySet<string>
  readonly #findings: Findings
  readonly #opened = new Set<string>()

  constructor(servers: readonly ServerConfig[], schedulers: ReadonlySet<string>, findings: Findings) {
    this.servers = servers
    this.#schedulers = schedulers
    this.#findings = findings
  }

  /** Name of the server; undefined if the address is on another machine or invalid. */
  serverFor(uri: string, path: Path): string | undefined {
    const endpoint = this.#endpointOf(uri, path)
    if (endpoint === undefined) return undefined
    const { isSecure, ...address } = endpoint
    const listening = this.servers.filter((server) => this.#isReached(server, address))
    const serving = listening.find(({ services }) => services.worker_api)
    const [server] = listening
    this.#checkTls(serving ?? server, uri, path, isSecure)
    if (serving) return serving.name
    // Without a scheduler in the file the worker API must be in another process.
    const isElsewhere = this.#schedulers.size === 0 || !isLocalHost(address.host)
    if (server === undefined && isElsewhere) return undefined
    const scheduler = this.#onlyScheduler(uri, path)
    if (scheduler === undefined) return undefined
    if (server === undefined && isSecure) {
      this.#findings.error(path, `no server serves worker_api with TLS at ${uri}`, {
        found: JSON.stringify(uri),
        expected: `a server there with listener.http.tls and services.worker_api: {scheduler: ${JSON.stringify(scheduler)}}`,
      })
      return undefined
    }
    if (server === undefined) return this.#open(address, scheduler)
    this.#findings.warning(
      path,
      `server "${server.name}" listens on ${uri} without worker_api: workers are accepted there`,
      {
        expected: `services.worker_api: {scheduler: ${JSON.stringify(scheduler)}} in that server`,
      },
    )
    const services = { ...server.services, worker_api: { scheduler } }
    this.servers = this.servers.map((other) => (other === server ? { ...server, services } : other))
    return server.name
  }

  /** Port 0 is a different port for each listener, so it matches only a listener that was added for workers. */
  #isReached({ name, listener }: ServerConfig, address: Address): boolean {
    return reaches(address, listener) && (address.port !== 0 || this.#opened.has(name))
  }

  #endpointOf(uri: string, path: Path): Endpoint | undefined {
    try {
      return parseEndpoint(uri)
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      this.#findings.error([...path, 'uri'], error.message, {
        found: JSON.stringify(uri),
        expected: 'grpc://host:port or grpcs://host:port',
      })
    }
    return undefined
  }

  #checkTls(server: ServerConfig | undefined, uri: string, path: Path, isSecure: boolean): void {
    if (server === undefined || isSecure === (server.listener.tls !== undefined)) return
    const speaks = isSecure ? 'without TLS' : 'with TLS'
    this.#findings.error([...path, 'uri'], `server "${server.name}" listens there ${speaks}`, {
      found: JSON.stringify(uri),
      expected: isSecure ? 'grpc://host:port' : 'grpcs://host:port, and tls_config beside it',
    })
  }

  #open(address: Address, scheduler: string): string {
    const names = new Set(this.servers.map(({ name }) => name))
    let name = 'worker_api'
    while (names.has(name)) name += '_'
    this.#opened.add(name)
    const host = address.host === 'localhost' ? '127.0.0.1' : address.host
    const text = host.includes(':') ? `[${host}]:${address.port}` : `${host}:${address.port}`
    const listener: ListenerConfig = {
      ...(defaultsOf(schemaFile('listener.json')) as Omit<ListenerOptions, 'socket_address'>),
      socket_address: text,
      compression: { send_compression_algorithm: 'none', accepted_compression_algorithms: [] },
      max_decoding_message_size: MESSAGE_BYTES,
      host,
      port: address.port,
    }
    const none = new Map<string, never>()
    const services = {
      cas: none,
      ac: none,
      bytestream: none,
      execution: none,
      capabilities: none,
      fetch: none,
      push: none,
      http_cache: none,
      worker_api: { scheduler },
    }
    this.servers = [...this.servers, { name, listener, services }]
    return name
  }

  /** The scheduler of an implicit listener. Several are an error, because a worker belongs to one scheduler. */
  #onlyScheduler(uri: string, path: Path): string | undefined {
    const executing = new Set(
      this.servers.flatMap(({ services }) => [...services.execution.values()].map(({ scheduler }) => scheduler)),
    )
    const known = [...executing].filter((name) => this.#schedulers.has(name))
    const candidates = known.length > 0 ? known : [...this.#schedulers.keys()]
    if (candidates.length === 1) return candidates[0]
    this.#findings.error(
      path,
      `no server serves worker_api at ${uri}, and ${candidates.length === 0 ? 'there is no scheduler' : 'there is more than one scheduler'} to serve it for`,
      {
        found: JSON.stringify(uri),
        expected: `a server there with services.worker_api: {scheduler: ${candidates.length === 0 ? 'NAME' : `one of ${candidates.join(', ')}`}}`,
      },
    )
    return undefined
  }
}

const MESSAGE_BYTES = defaultNumber('listener.json', 'max_decoding_message_size')
