import { entryFor } from '../../base/catch-all.js'
import { systemClock } from '../../base/clock.js'
import type { Store } from '../../blobs/store.js'
import type { ServerConfig } from '../../config/config.js'
import { DirectoryTrees } from '../../content/directory-trees.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import { RelayedMetrics } from '../../metrics/relayed.js'
import type { ThreadGate } from '../../rpc/gate.js'
import { type Invocation, Invocations } from '../../rpc/invocations.js'
import type { ActionOutcome, RequestRecords } from '../../rpc/request-records.js'
import type { Service } from '../../rpc/rpc.js'
import type { AuditEntry } from '../../security/audit-log.js'
import { type GateShare, KnownCallers, KnownCallersGate, type ServedNames } from '../../security/thread-gate.js'
import type { ThreadChannel } from '../../server/threads/channel.js'
import { ThreadUploads } from '../../service/bytestream/thread-uploads.js'
import type { Uploads } from '../../service/bytestream/uploads.js'
import type { FileShareData } from '../../store/kinds/filesystem/thread-share.js'
import type { ThreadFileStore } from '../../store/kinds/filesystem/thread-store.js'
import { asCas } from '../../store/view/cas.js'
import { asKeyed } from '../../store/view/keyed.js'
import type { Served, ServingToOwner, ServingToThread } from './thread-calls.js'
import { ToOwner } from './to-owner.js'

const METRICS_MS = 1000
/** How often the owner hears of a build that goes on. */
const TOUCH_MS = 1000
const TOUCHED_MAX = 10_000

/** The methods that a service thread serves itself, if its stores allow it. */
const SERVED: ReadonlyMap<string, readonly string[]> = new Map([
  ['build.bazel.remote.execution.v2.Capabilities', ['GetCapabilities']],
  [
    'build.bazel.remote.execution.v2.ContentAddressableStorage',
    ['FindMissingBlobs', 'BatchReadBlobs', 'BatchUpdateBlobs'],
  ],
  ['build.bazel.remote.execution.v2.ActionCache', ['GetActionResult', 'UpdateActionResult']],
  ['google.bytestream.ByteStream', ['Read', 'Write', 'QueryWriteStatus']],
])

/** What a service thread serves itself: blobs and results in stores of the owner. */
export class ServingThread {
  readonly metrics = new RelayedMetrics()
  readonly invocations: Invocations
  readonly records: Pick<RequestRecords, 'add'> = { add: (...record) => this.#owner.record(...record) }
  /** What it hears of the owner, beside what it serves, and by which gates. */
  readonly heard: Omit<ServingToThread, 'serve' | 'gate'> = {
    verified: (by, verified) => this.#callers?.learn(by, verified),
    retired: (path, number) => this.#stores.get(path)?.retired(number),
    numbered: (invocation, number) => this.#owner.numbered(invocation, number),
  }
  readonly #channel: ThreadChannel<ServingToOwner>
  readonly #owner: ToOwner
  readonly #stores = new Map<string, ThreadFileStore>()
  #uploads: Uploads | undefined
  /** By the last share; it may come while the thread loads its services. */
  #callers: KnownCallers | undefined
  #servers: readonly { readonly number: number; readonly served: ServedNames }[] = []

  constructor(channel: ThreadChannel<ServingToOwner>) {
    this.#channel = channel
    this.#owner = new ToOwner(channel, (path) => this.#stores.get(path)?.reader.takeUsed())
    this.invocations = new ThreadInvocations(this.#owner, channel)
    systemClock.every(METRICS_MS, () => this.tellMetrics())
  }

  tellMetrics(): void {
    const { extensionCount } = this.invocations
    this.invocations.extensionCount = 0
    const changes = this.metrics.take()
    if (changes !== undefined || extensionCount > 0) this.#channel.send('metrics', changes, extensionCount)
  }

  /** Other rules of access, or other tokens. */
  renewGate(share: GateShare): ServedHere {
    this.#callers = knownBy(share)
    return this.#gated()
  }

  /** Ends the uploads whose calls have ended. Resolves when nothing is left of them. */
  async endUploads(): Promise<void> {
    await this.#uploads?.close()
  }

  /** The gates of the servers, by other rules or tokens than before. */
  #gated(): ServedHere {
    const callers = this.#callers
    if (callers === undefined) return []
    const audit = { record: (entry: AuditEntry) => this.#channel.send('audited', entry) }
    return this.#servers.map(({ number, served }) => ({
      listener: number,
      services: [],
      gate: new KnownCallersGate({ callers, served, audit }),
    }))
  }

  /** The services of each listener. */
  async serve(
    { global, instances: ofInstances, parents, stores, servers, shares, gate }: Served,
    { ledger, log }: { readonly ledger: Ledger; readonly log: Log },
  ): Promise<ServedHere> {
    this.#callers = gate && knownBy(gate)
    const clock = systemClock
    // A thread that carries everything does not load them.
    const { servicesOf } = await import('../services.js')
    const { Instances } = await import('../instances.js')
    const { ScopesOfStores } = await import('../result-caches.js')
    const { ThreadFileStore } = await import('../../store/kinds/filesystem/thread-store.js')
    const { buildThreadStores } = await import('../../store/thread-stores.js')
    for (const [path, data] of shares) {
      const owner = this.#owner.ofStore(path)
      this.#stores.set(path, new ThreadFileStore(data as FileShareData, { owner, clock, log }))
    }
    this.#uploads = new ThreadUploads(clock, ledger, this.#owner.parts)
    const isMetered = !global.disable_metrics
    const built = await buildThreadStores(stores, {
      shared: (path) => this.#stores.get(path) as Store,
      ...(isMetered && { meter: (store) => this.metrics.stores.of(store) }),
    })
    const named = (as: (store: Store) => Store) => {
      const views = new Map([...built].map(([name, store]) => [name, as(store)]))
      return (name: string): Store => views.get(name) as Store
    }
    const instances = new Instances(ofInstances, clock)
    const shared = {
      global,
      isIsolated: (name: string) => instances.isIsolated(name),
      viewOf: (name: string, store: Store) => instances.viewOf(name, store),
      maxBlobBytes: (name: string) => instances.maxBlobBytes(name),
      hasHashClients: () => false,
      // HTTP caches are the owner's.
      keptBy: () => undefined,
      readsOlder: false,
      // Callers with a scope are the owner's.
      scopes: new ScopesOfStores(gate && { scopes: UNUSED }, { clock, log }),
      parentsOf: (instanceName: string) => parents.get(instanceName) ?? [],
      ac: named(asKeyed),
      cas: named(asCas),
      scheduler: notHere,
      workersOf: notHere,
      executionResults: notHere,
      lentStores: () => undefined,
      trees: { ofGetTree: new DirectoryTrees(), ofActions: new DirectoryTrees() },
      uploads: this.#uploads,
      invocations: this.invocations,
      records: undefined as never,
      linkOf: undefined,
      builds: undefined,
      ...{ ledger, clock, log },
      atClose: () => {},
    }
    this.#servers = servers.map(({ number, served }) => ({ number, served }))
    const gates = new Map(this.#gated().map((one) => [one.listener, one.gate]))
    return servers.map(({ number, server }) => {
      const { execution, fetch, push, worker_api, build_events, ...services } = server.services
      const none = { execution: new Map(), fetch: new Map(), push: new Map() }
      const capabilities = executedElsewhere(services.capabilities, execution)
      const cas = splitElsewhere(services.cas)
      const all = servicesOf({ ...server, services: { ...services, ...none, capabilities, cas } }, shared)
      return { listener: number, services: all.flatMap(servedOf), gate: gates.get(number) }
    })
  }
}

const knownBy = (share: GateShare): KnownCallers => new KnownCallers(share, systemClock)

/** Limits of scopes, whose callers are not served here. */
const UNUSED = { rules: [], max_bytes: 1, scope_days: 1 }

/** What listeners serve more than before, and by which gates. */
export type ServedHere = readonly {
  /** Its number. */
  readonly listener: number
  readonly services: readonly Service[]
  readonly gate: ThreadGate | undefined
}[]

/** The owner executes for the instances of these services. */
const executedElsewhere = (
  capabilities: ServerConfig['services']['capabilities'],
  execution: ServerConfig['services']['execution'],
): ServerConfig['services']['capabilities'] =>
  new Map(
    [...capabilities].map(([instance, options]) => {
      const { scheduler } = entryFor(execution, instance) ?? {}
      return [instance, scheduler === undefined ? options : { ...options, remote_execution: { scheduler } }]
    }),
  )

/** The owner has the lists of chunks, and serves SplitBlob and SpliceBlob; what is announced of chunks is the same. */
const splitElsewhere = (cas: ServerConfig['services']['cas']): ServerConfig['services']['cas'] =>
  new Map(
    [...cas].map(([instance, options]) => {
      if (options.experimental_chunking === undefined) return [instance, options]
      const { index_store: _, ...announced } = options.experimental_chunking
      return [instance, { ...options, experimental_chunking: announced }]
    }),
  )

const notHere = (): never => {
  throw new Error('service threads have no schedulers')
}

/** The methods of a service that are served here. */
const servedOf = (service: Service): Service[] => {
  const wanted = SERVED.get(service.name)
  if (wanted === undefined) return []
  const only = <Method>(methods: Readonly<Record<string, Method>> = {}): Record<string, Method> =>
    Object.fromEntries(Object.entries(methods).filter(([name]) => wanted.includes(name)))
  return [
    {
      name: service.name,
      ...(service.instances && { instances: service.instances }),
      unary: only(service.unary),
      unaryBytes: only(service.unaryBytes),
      serverStreaming: only(service.serverStreaming),
      clientStreaming: only(service.clientStreaming),
    },
  ]
}

/** The owner decides which builds are alive, so it hears of every build that has calls here. */
class ThreadInvocations extends Invocations {
  readonly #owner: ToOwner
  readonly #channel: ThreadChannel<ServingToOwner>
  readonly #toldMs = new Map<string, number>()

  constructor(owner: ToOwner, channel: ThreadChannel<ServingToOwner>) {
    super(systemClock)
    this.#owner = owner
    this.#channel = channel
  }

  override asked({ id }: Invocation, outcome: ActionOutcome['outcome']): void {
    this.#owner.counted(id, outcome)
  }

  override touch(id: string): Invocation | undefined {
    const nowMs = systemClock.now()
    if (nowMs - (this.#toldMs.get(id) ?? 0) >= TOUCH_MS) {
      if (this.#toldMs.size > TOUCHED_MAX) this.#toldMs.clear()
      this.#toldMs.set(id, nowMs)
      this.#channel.send('touched', id)
    }
    return super.touch(id)
  }

  override opened(id: string): () => void {
    const close = super.opened(id)
    const stop = systemClock.every(60_000, () => this.#channel.send('touched', id))
    return () => {
      stop()
      close()
    }
  }
}
