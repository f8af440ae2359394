import type { MessagePort } from 'node:worker_threads'
import { programFile } from '../../base/package-root.js'
import { ownedServers } from '../../config/carried.js'
import type { Config } from '../../config/config.js'
import { parentsIn } from '../../config/parents.js'
import type { Log, LogLevel } from '../../log/log.js'
import type { Service } from '../../rpc/rpc.js'
import type { Security } from '../../security/security.js'
import { type GateShare, servedNamesOf } from '../../security/thread-gate.js'
import type { Listener } from '../../server/listener.js'
import type { ThreadChannel } from '../../server/threads/channel.js'
import { ServiceThreads } from '../../server/threads/service-threads.js'
import type { SharedStore, ThreadSharing } from '../../store/contract/kind.js'
import { sharedPathsOf } from '../../store/contract/thread-use.js'
import { threadUsesOf } from '../../store/thread-uses-of.js'
import { Hearing, type HearingParts } from './hearing.js'
import {
  type Served,
  type ServingToOwner,
  type ServingToThread,
  type ThreadCalls,
  threadCallsOf,
} from './thread-calls.js'

/** What the program of a service thread starts with. */
export interface ServiceThreadData {
  readonly ledgerBuffer: SharedArrayBuffer
  /** One number: the level of the log, see `levelIn`. */
  readonly logLevel: SharedArrayBuffer
  readonly shownShare: number
}

const LEVELS: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']
/** How soon the threads know of another level of the log. */
const LEVEL_MS = 1000

export const levelIn = (levels: Int32Array): LogLevel => LEVELS[Atomics.load(levels, 0)] ?? 'debug'

export interface PlannedThreads {
  /** How many service threads the process has beside its main one. */
  readonly count: number
  readonly calls: ThreadCalls
}

/** None if they would serve nothing. Logs which servers stay with the main thread, unless the configuration was told so. */
export const plannedThreads = async (config: Config, isTraced: boolean, log: Log): Promise<PlannedThreads> => {
  const { threads } = config.global
  if (threads === 1) return { count: 0, calls: { stores: new Map(), servers: [] } }
  const uses = await threadUsesOf(config.stores)
  const calls = threadCallsOf(config, uses, { isTraced })
  const traced = { why: 'traces are exported, and only the main thread has spans' }
  const owned = isTraced ? config.servers.map(({ name }) => ({ server: name, ...traced })) : ownedServers(config, uses)
  const isTold = !isTraced && config.warnings.some(({ path }) => path === 'global.threads')
  for (const { server, why } of isTold ? [] : owned)
    log.warn('global.threads: the main thread keeps the connections of this server', { server, why })
  return { count: calls.servers.length === 0 ? 0 : threads, calls }
}

/** A server of the configuration, as it is served by the owner. */
export interface ServedServer {
  readonly listener: Listener
  readonly services: readonly Service[]
}

export interface ThreadedParts extends HearingParts {
  readonly shownShare?: number
}

/** The service threads of a process, and the stores that they share. */
export class Threaded {
  readonly threads: ServiceThreads
  /** For the builder of the stores. */
  readonly sharing: ThreadSharing
  readonly #stores: Map<string, SharedStore>
  readonly #hearing: Hearing
  readonly #channels: readonly ThreadChannel<ServingToThread>[]

  private constructor(
    threads: ServiceThreads,
    channels: readonly ThreadChannel<ServingToThread>[],
    { stores, hearing }: { readonly stores: Map<string, SharedStore>; readonly hearing: Hearing },
  ) {
    this.threads = threads
    this.#channels = channels
    this.#stores = stores
    this.#hearing = hearing
    this.sharing = { threadCount: channels.length, register: (store) => void stores.set(store.path, store) }
  }

  /** Undefined if the process has one thread for everything. `serve` ends the start of the threads. */
  static async start(count: number, parts: ThreadedParts): Promise<Threaded | undefined> {
    const { buffer: ledgerBuffer } = parts.ledger
    if (ledgerBuffer === undefined) return undefined
    const { log, clock, shownShare = 0 } = parts
    const logLevel = new SharedArrayBuffer(4)
    const levels = new Int32Array(logLevel)
    const tellLevel = (): void => void Atomics.store(levels, 0, LEVELS.indexOf(log.level ?? 'debug'))
    tellLevel()
    const stopLevels = clock.every(LEVEL_MS, tellLevel)
    const data: ServiceThreadData = { ledgerBuffer, logLevel, shownShare }
    const stores = new Map<string, SharedStore>()
    const hearing = new Hearing(stores, parts)
    const channels: ThreadChannel<ServingToThread>[] = []
    const threads = await ServiceThreads.start<ServingToOwner, ServingToThread>({
      count,
      program: programFile('assembly/threads/service-thread.ts'),
      data,
      hear: (thread) => {
        channels.push(thread)
        return hearing.of(thread)
      },
      onStop: stopLevels,
    })
    return new Threaded(threads, channels, { stores, hearing })
  }

  /** Resolves once all threads run and serve these calls. Until then calls are carried. */
  async serve(
    calls: ThreadCalls,
    config: Config,
    served: ReadonlyMap<string, ServedServer>,
    security: Security | undefined,
  ): Promise<void> {
    const threads = this.#channels
    if (security !== undefined) {
      security.onRenewed = () => {
        for (const thread of threads) thread.send('gate', security.threadShare)
      }
      security.onVerified = (by, verified) => {
        for (const thread of threads) thread.send('verified', by, verified)
      }
    }
    for (const store of this.#stores.values())
      store.onRetired = (number) => {
        for (const thread of threads) thread.send('retired', store.path, number)
      }
    await this.threads.started(async (at) => {
      const { what, ports } = this.#servedFor(calls, config, served, security?.threadShare)
      const thread = threads[at] as ThreadChannel<ServingToThread>
      thread.give(...ports)
      await thread.ask('serve', what)
    })
  }

  /** Deletes what is kept of interrupted uploads. Call it before the stores close. */
  endUploads(): Promise<void> {
    return this.#hearing.close()
  }

  stop(): Promise<void> {
    return this.threads.stop()
  }

  #servedFor(
    { stores, servers }: ThreadCalls,
    { global, instances, servers: all }: Config,
    served: ReadonlyMap<string, ServedServer>,
    gate: GateShare | undefined,
  ): { readonly what: Served; readonly ports: readonly MessagePort[] } {
    const wanted = new Set([...stores.values()].flatMap(sharedPathsOf))
    const shared = [...this.#stores.values()]
      .filter(({ path }) => wanted.has(path))
      .map((store) => [store.path, store.share()] as const)
    const numbered = servers.flatMap((server) => {
      const { listener, services = [] } = served.get(server.name) ?? {}
      const number = listener?.threadsNumber
      return number === undefined ? [] : [{ number, server, served: servedNamesOf(services) }]
    })
    const shares = new Map(shared.map(([path, { data }]) => [path, data]))
    const parentsOf = parentsIn(all, instances)
    const parents = new Map([...instances.keys()].map((name) => [name, parentsOf(name)]))
    return {
      what: { global, instances, parents, stores, servers: numbered, shares, gate },
      ports: shared.flatMap(([, { ports }]) => ports),
    }
  }
}
