import { extname } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import type { Clock } from '../base/clock.js'
import type { Config } from '../config/config.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log, LogLevel } from '../log/log.js'
import type { LoggedLine } from '../log/sendable.js'
import type { Metrics } from '../metrics/metrics.js'
import { addChanges } from '../metrics/relayed.js'
import { Digest } from '../reapi/digest.js'
import { functionsByValue } from '../reapi/digest-function.js'
import type { Invocations } from '../rpc/invocations.js'
import type { RequestRecords } from '../rpc/request-records.js'
import { type PostsTo, ServiceThreads } from '../server/carry/service-threads.js'
import type { Listener } from '../server/listener.js'
import type { ReadByThreads, ThreadReadStore } from '../store/contract/kind.js'
import {
  type DamagedMessage,
  type FromReadingThread,
  type ReportMessage,
  type ThreadReads,
  type ToReadingThread,
  threadReadsOf,
} from './thread-reads.js'

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

/** How many service threads a process has beside its main one, from `global.threads`. */
export const serviceThreadsOf = (threads: number): number => (threads === 1 ? 0 : threads)

export interface ThreadedParts {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly shownShare?: number
  readonly metrics?: Metrics | undefined
  readonly invocations?: Invocations
  readonly records?: RequestRecords
}

/** The service threads of a process, and what they read from its stores. */
export class Threaded {
  readonly threads: ServiceThreads
  /** For the builder of the stores. */
  readonly reads: ReadByThreads
  readonly #stores: Map<string, ThreadReadStore>

  private constructor(threads: ServiceThreads, count: number, stores: Map<string, ThreadReadStore>) {
    this.threads = threads
    this.#stores = stores
    this.reads = { threadCount: count, register: (store) => void stores.set(store.path, store) }
  }

  /** Undefined if the process has one thread for everything. */
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
    const stores = new Map<string, ThreadReadStore>()
    const heard = new Heard(stores, parts)
    const threads = await ServiceThreads.start({
      count,
      program: new URL(`./service-thread${extname(import.meta.url)}`, import.meta.url),
      data,
      onMessage: (message, thread) => heard.receive(message as FromReadingThread | LoggedLine, thread),
      onStop: stopLevels,
    })
    return new Threaded(threads, count, stores)
  }

  /** From now on the threads serve reads of the servers that allow it. */
  serve(config: Config, isTraced: boolean, listeners: ReadonlyMap<string, Listener>): void {
    const reads = threadReadsOf(config, isTraced)
    if (reads.servers.length === 0) return
    for (const store of this.#stores.values())
      store.onRetired = (number) => this.#tellAll({ kind: 'retired', path: store.path, number })
    this.threads.tell(() => this.#readsFor(reads, config, listeners))
  }

  stop(): Promise<void> {
    return this.threads.stop()
  }

  #readsFor(
    { stores, servers }: ThreadReads,
    { global }: Config,
    listeners: ReadonlyMap<string, Listener>,
  ): { readonly message: ToReadingThread; readonly ports: readonly MessagePort[] } {
    const wanted = new Set([...stores.values()].map((paths) => paths.at(-1)))
    const shared = [...this.#stores.values()]
      .filter(({ path }) => wanted.has(path))
      .map((store) => [store.path, store.share()] as const)
    const numbered = servers.flatMap((server) => {
      const number = listeners.get(server.name)?.threadsNumber
      return number === undefined ? [] : [{ number, server }]
    })
    const shares = new Map(shared.map(([path, { data }]) => [path, data]))
    return {
      message: { kind: 'reads', global, stores, servers: numbered, shares },
      ports: shared.flatMap(([, { ports }]) => ports),
    }
  }

  #tellAll(message: ToReadingThread): void {
    this.threads.tell(() => ({ message, ports: [] }))
  }
}

/** Takes what service threads tell. */
class Heard {
  readonly #stores: ReadonlyMap<string, ThreadReadStore>
  readonly #parts: ThreadedParts

  constructor(stores: ReadonlyMap<string, ThreadReadStore>, parts: ThreadedParts) {
    this.#stores = stores
    this.#parts = parts
  }

  receive(message: FromReadingThread | LoggedLine, thread: PostsTo): void {
    const { log, metrics, invocations } = this.#parts
    if (message.kind === 'log') log[message.level](message.message, message.fields)
    else if (message.kind === 'report') this.#report(message, thread)
    else if (message.kind === 'damaged') void this.#damaged(message, thread)
    else {
      if (message.changes !== undefined && metrics !== undefined) addChanges(metrics, message.changes)
      if (invocations !== undefined) invocations.extensionCount += message.extensionCount
    }
  }

  #report({ uses, claims, touched, records }: ReportMessage, thread: PostsTo): void {
    const { invocations, records: kept } = this.#parts
    for (const [path, slots] of uses) this.#stores.get(path)?.used(slots)
    const numbers = touched.flatMap((id) => {
      const number = invocations?.touch(id)?.number
      return number === undefined ? [] : [[id, number] as const]
    })
    if (numbers.length > 0) post(thread, { kind: 'numbers', numbers })
    for (const [path, id, keepForMs, slots] of claims) {
      const invocation = id === '' ? undefined : invocations?.touch(id)
      this.#stores.get(path)?.hold(slots, { invocation, keepForMs })
    }
    for (const [instance, header, outcome] of records)
      kept?.add(instance, header instanceof Uint8Array ? Buffer.from(header) : header, outcome)
  }

  async #damaged({ id, path, slot, location, ...about }: DamagedMessage, thread: PostsTo): Promise<void> {
    const digestFunction = functionsByValue.get(about.digestFunction)
    try {
      if (digestFunction === undefined) throw new Error('a digest of an unknown function')
      await this.#stores.get(path)?.damaged(Digest.parse(about, digestFunction), slot, location)
      post(thread, { kind: 'dropped', id, failure: undefined })
    } catch (error) {
      post(thread, { kind: 'dropped', id, failure: error instanceof Error ? error.message : String(error) })
    }
  }
}

const post = (thread: PostsTo, message: ToReadingThread): void => thread.post(message)
