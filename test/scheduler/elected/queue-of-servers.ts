/** Several servers with one queue, as processes of their own, behind one address, with a real Redis and a real worker. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { type Program, program, start } from '../../cli/program.js'
import { startRedis } from '../../store/kinds/redis_store/redis.js'
import { freePorts } from '../../store/remote/backend.js'
import { TcpProxy } from '../../store/remote/proxy.js'
import { until } from '../../until.js'

/** What the servers agree by, as their configuration names it. */
export interface NamedEngine {
  /** A store. */
  readonly locks: string
  readonly backend: string
}

const byRedis: NamedEngine = {
  locks: `{ redis_store: { addresses: ['redis://127.0.0.1:$REDIS'], key_prefix: 'q:', command_timeout_ms: 2000 } }`,
  backend: `{ redis: { redis_store: 'LOCKS' } }`,
}

const serverConfig = ({ locks, backend }: NamedEngine): string => `{
  global: { drain_s: 10 },
  stores: {
    LOCKS: ${locks},
    CAS: { redis_store: { addresses: ['redis://127.0.0.1:$REDIS'], key_prefix: 'cas:' } },
    AC: { redis_store: { addresses: ['redis://127.0.0.1:$REDIS'], key_prefix: 'ac:' } },
  },
  schedulers: { MAIN: { simple: {
    supported_platform_properties: { '*': 'ignore' }, max_job_retries: 10,
    experimental_backend: ${backend},
    peers: { endpoint: { address: 'grpc://127.0.0.1:$PEER' }, lease_s: '$LEASE', when_engine_away: '$AWAY' },
  } } },
  servers: [{ listener: { http: { socket_address: '127.0.0.1:$OWN' } }, services: {
    cas: [{ cas_store: 'CAS' }], bytestream: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }],
    execution: [{ cas_store: 'CAS', scheduler: 'MAIN' }], worker_api: { scheduler: 'MAIN' }, admin: {}, health: {},
  } }],
}`

const workerConfig = `{
  global: { drain_s: 2 },
  stores: { CAS: { fast_slow: {
    fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '1gb' } } },
    slow: { redis_store: { addresses: ['redis://127.0.0.1:$REDIS'], key_prefix: 'cas:' } },
  } } },
  workers: [{ worker: {
    scheduler_endpoint: 'grpc://127.0.0.1:$SCHEDULER', cas_fast_slow_store: 'CAS', work_directory: '$REMEXEC_DATA/w',
    max_inflight_tasks: 4,
  } }],
  servers: [],
}`

export interface QueueOptions {
  readonly lease?: string
  readonly away?: string
  readonly engine?: NamedEngine
  /** The other servers reach each through a relay that can be cut. */
  readonly isRelayed?: boolean
  /** The one address of clients and workers, before servers at these ports; without it, that of one server at a time. */
  readonly balancer?: (ports: readonly number[]) => Promise<number>
  readonly env?: NodeJS.ProcessEnv
}

export interface Server {
  readonly port: number
  /** Before the port that other servers know. */
  readonly relay: TcpProxy | undefined
  process: Program
}

export class QueueOfServers {
  readonly servers: Server[] = []
  readonly #t: Test
  readonly #folder: string
  readonly #env: NodeJS.ProcessEnv

  /** The address of clients and workers: that of one server at a time. */
  private constructor(
    t: Test,
    readonly redisPort: number,
    readonly proxy: TcpProxy,
    private readonly balancedPort: number | undefined,
    { lease = '3', away = 'continue', engine = byRedis, env = {} }: QueueOptions = {},
  ) {
    this.#t = t
    this.#folder = t.testdir({ data: {}, worker: {} })
    writeFileSync(`${this.#folder}/server.json5`, serverConfig(engine))
    writeFileSync(`${this.#folder}/worker.json5`, workerConfig)
    this.#env = { PATH: process.env['PATH'], REDIS: String(redisPort), LEASE: lease, AWAY: away, ...env }
  }

  static async start(t: Test, count: number, options: QueueOptions = {}): Promise<QueueOfServers> {
    const redis = await startRedis(t)
    const ports = await freePorts(count)
    const proxy = await TcpProxy.start(t, ports[0] ?? 0)
    const queue = new QueueOfServers(t, redis.port, proxy, await options.balancer?.(ports), options)
    for (const port of ports) {
      const relay = options.isRelayed === true ? await TcpProxy.start(t, port) : undefined
      queue.servers.push({ port, relay, process: queue.#serve(port, relay?.port) })
    }
    await Promise.all(queue.servers.map(({ process: { hears } }) => hears(/remexec serving/)))
    await until(() => queue.leader() !== undefined, 'a leader')
    return queue
  }

  get address(): string {
    return `127.0.0.1:${this.balancedPort ?? this.proxy.port}`
  }

  /** The server that said last that it leads. */
  leader(): Server | undefined {
    const terms = this.servers
      .filter(({ process: { child } }) => child.exitCode === null && child.signalCode === null)
      .map((server) => ({ server, term: this.term(server) }))
    return terms.filter(({ term }) => term > 0).sort((a, b) => b.term - a.term)[0]?.server
  }

  /** The last term in which the server led; 0 if it never did. */
  term({ process: { said } }: Server): number {
    return Math.max(
      0,
      ...[...said().matchAll(/this server leads the queue.*?term[=: ]+(\d+)/g)].map(([, term]) => Number(term)),
    )
  }

  follower(): Server {
    const leader = this.leader()
    const other = this.servers.find((server) => server !== leader && server.process.child.exitCode === null)
    if (other === undefined) throw new Error('no server follows')
    return other
  }

  /** From now on the address is that of this server. Connections that are open stay. */
  point(server: Server): void {
    this.proxy.backendPort = server.port
  }

  worker(name: string): Program {
    const data = `${this.#folder}/worker/${name}`
    mkdirSync(data, { recursive: true })
    const env = {
      ...this.#env,
      HOME: data,
      REMEXEC_DATA: data,
      SCHEDULER: String(this.balancedPort ?? this.proxy.port),
    }
    return start(this.#t, [process.execPath, program, `${this.#folder}/worker.json5`], { env })
  }

  restart(server: Server): void {
    server.process = this.#serve(server.port, server.relay?.port)
  }

  #serve(port: number, peerPort = port): Program {
    const data = `${this.#folder}/data/${port}`
    mkdirSync(data, { recursive: true })
    const env = { ...this.#env, HOME: data, REMEXEC_DATA: data, OWN: String(port), PEER: String(peerPort) }
    return start(this.#t, [process.execPath, program, `${this.#folder}/server.json5`], { env })
  }
}
