/** Redis for tests: single servers, a cluster, a server with replica and sentinels, all in temporary folders. */
import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { systemClock } from '../../../../src/base/clock.js'
import type { HealthProbe } from '../../../../src/base/health.js'
import type { Store } from '../../../../src/blobs/store.js'
import type { RedisStoreOptions } from '../../../../src/config/config.js'
import { silentLog } from '../../../../src/log/log.js'
import { redisStore } from '../../../../src/store/kinds/redis_store/kind.js'
import { Resources } from '../../../../src/work/resources.js'
import { untilSo } from '../../../until.js'
import { buildStore } from '../../build.js'
import { type Backend, folderOf, freePorts, type Scope, startBackend } from '../../remote/backend.js'

const program = process.env['REMEXEC_TEST_REDIS'] ?? 'redis-server'

/** Why tests that need Redis cannot run here; false where they can. */
export const withoutRedis: string | false =
  spawnSync(program, ['--version']).status === 0
    ? false
    : `needs ${program}: apt-get install redis-server, or name one in REMEXEC_TEST_REDIS`

export interface RedisServer extends Backend {
  readonly port: number
  readonly address: string
  /** Another process at the same port, with nothing of what this one had in memory. */
  restart(): Promise<RedisServer>
}

const BARE = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--loglevel', 'notice']
const READY = /Ready to accept connections/

export const startRedis = async (t: Scope, args: readonly string[] = [], at?: number): Promise<RedisServer> => {
  const cwd = await folderOf(t)
  const [port = 0] = at === undefined ? await freePorts(1) : [at]
  const backend = await startBackend(t, program, ['--port', String(port), ...BARE, ...args], READY, { cwd })
  return { ...backend, port, address: `redis://127.0.0.1:${port}`, restart: () => startRedis(t, args, port) }
}

/** Runs one command and answers what Redis says. */
export const ask = (port: number, ...args: string[]): Promise<unknown> => askAs(undefined, port, ...args)

/** The library generates a class for every new set of options, for 20 ms of CPU. A duplicate has the class of its original. */
const original = createClient()

const askAs = async (password: string | undefined, port: number, ...args: string[]): Promise<unknown> => {
  const identity = password === undefined ? {} : { password }
  const client = original.duplicate({ ...identity, socket: { host: '127.0.0.1', port } }).on('error', () => {})
  await client.connect()
  try {
    return await client.sendCommand(args)
  } finally {
    client.destroy()
  }
}

/** This many nodes that share the slots; each has a bus port beside its port. */
export const startCluster = async (t: Scope, masters: number, replicas = 0): Promise<readonly RedisServer[]> => {
  const cwd = await folderOf(t)
  const nodes: RedisServer[] = []
  for (let i = 0; i < masters + replicas; i++) {
    const [bus = 0] = await freePorts(1)
    const own = [
      '--cluster-enabled',
      'yes',
      '--cluster-config-file',
      join(cwd, `${i}.conf`),
      '--cluster-node-timeout',
      // With a replica, how soon it takes over. Without one a slow machine must not lose a node.
      replicas > 0 ? '800' : '10000',
    ]
    nodes.push(await startRedis(t, [...own, '--cluster-port', String(bus), '--cluster-replica-validity-factor', '0']))
  }
  const busOf = async (port: number): Promise<string> =>
    /@(\d+)/.exec(String(await ask(port, 'CLUSTER', 'NODES')))?.[1] ?? ''
  const [first] = nodes
  for (const [i, { port }] of nodes.entries()) {
    if (i < masters) {
      const from = Math.floor((16384 * i) / masters)
      const to = Math.floor((16384 * (i + 1)) / masters) - 1
      await ask(port, 'CLUSTER', 'ADDSLOTSRANGE', String(from), String(to))
    }
    if (first !== undefined && i > 0) {
      await ask(port, 'CLUSTER', 'MEET', '127.0.0.1', String(first.port), await busOf(first.port))
    }
  }
  const isUp = async (): Promise<boolean> => {
    for (const { port } of nodes) {
      const known = String(await ask(port, 'CLUSTER', 'NODES'))
        .trim()
        .split('\n')
      if (known.length < nodes.length || known.some((line) => /handshake|fail/.test(line))) return false
    }
    return true
  }
  await untilSo(isUp)
  for (const [i, { port }] of nodes.slice(masters).entries()) {
    const master = String(await ask((nodes[i % masters] as RedisServer).port, 'CLUSTER', 'MYID'))
    await ask(port, 'CLUSTER', 'REPLICATE', master)
  }
  await untilSo(async () => {
    for (const { port } of nodes) {
      if (!/cluster_state:ok/.test(String(await ask(port, 'CLUSTER', 'INFO')))) return false
    }
    for (const { port } of nodes.slice(masters)) {
      if (!/master_link_status:up/.test(String(await ask(port, 'INFO', 'replication')))) return false
    }
    return true
  })
  return nodes
}

export interface SentinelSet {
  readonly master: RedisServer
  readonly replica: RedisServer
  readonly address: string
}

interface Passwords {
  readonly servers: string
  readonly sentinels: string
}

/**
 * A server, its replica, and three sentinels of which two have to agree that it is lost; with passwords if there are
 * any.
 */
export const startSentinels = async (t: Scope, passwords?: Passwords): Promise<SentinelSet> => {
  const folder = await folderOf(t)
  const own = passwords === undefined ? [] : ['--requirepass', passwords.servers, '--masterauth', passwords.servers]
  const master = await startRedis(t, own)
  const replica = await startRedis(t, ['--replicaof', '127.0.0.1', String(master.port), ...own])
  const ports = await freePorts(3)
  for (const port of ports) {
    const cwd = join(folder, `sentinel-${port}`)
    await mkdir(cwd, { recursive: true })
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `sentinel monitor builds 127.0.0.1 ${master.port} 2`,
      'sentinel down-after-milliseconds builds 600',
      'sentinel failover-timeout builds 2000',
      ...(passwords === undefined
        ? []
        : [
            `requirepass ${passwords.sentinels}`,
            `sentinel auth-pass builds ${passwords.servers}`,
            `sentinel sentinel-pass ${passwords.sentinels}`,
          ]),
    ]
    await writeFile(join(cwd, 'sentinel.conf'), `${lines.join('\n')}\n`)
    await startBackend(t, program, [join(cwd, 'sentinel.conf'), '--sentinel'], /\+monitor master/, { cwd })
  }
  const [first = 0] = ports
  await untilSo(async () => {
    const state = await askAs(passwords?.sentinels, first, 'SENTINEL', 'MASTER', 'builds')
    const text = JSON.stringify(state)
    return /"num-other-sentinels":"2"/.test(text) && /"num-slaves":"1"/.test(text)
  })
  await untilSo(async () =>
    /master_link_status:up/.test(String(await askAs(passwords?.servers, replica.port, 'INFO', 'replication'))),
  )
  const server = passwords === undefined ? '' : `:${passwords.servers}@`
  const sentinel = passwords === undefined ? '' : `&sentinelPassword=${passwords.sentinels}`
  const address = `redis+sentinel://${server}127.0.0.1:${first}/?sentinelServiceName=builds${sentinel}`
  return { master, replica, address }
}

export interface OpenRedisStore {
  readonly store: Store
  readonly probes: readonly HealthProbe[]
  close(): Promise<void>
}

/** A store on `addresses` with the default configuration. */
export const openRedisStore = async (
  t: Scope,
  addresses: readonly string[],
  options: Partial<RedisStoreOptions> = {},
): Promise<OpenRedisStore> => {
  const resources = new Resources(silentLog)
  const probes: HealthProbe[] = []
  t.teardown(() => resources.close())
  const all: RedisStoreOptions = {
    addresses,
    mode: 'standard',
    key_prefix: '',
    command_timeout_ms: 10_000,
    connection_timeout_ms: 3000,
    health_check_timeout_ms: 4000,
    read_chunk_size: 65_536,
    connection_pool_size: 3,
    key_ttl_s: 0,
    max_chunk_uploads_per_update: 10,
    max_client_permits: 500,
    retry: { max_retries: 1, delay: 0.1, jitter: 0, budget_s: 60 },
    ...options,
  }
  const watch = (probe: HealthProbe): number => probes.push(probe)
  const store = await buildStore(redisStore, all, { resources, watch, clock: systemClock })
  return { store, probes, close: () => resources.close() }
}

/** All keys of a server, which a test may list. */
export const keysAt = async (port: number): Promise<string[]> => ((await ask(port, 'KEYS', '*')) as string[]).sort()
