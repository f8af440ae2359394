import { systemClock } from '../base/clock.js'
import { StatusError } from '../base/status-error.js'
import { DirectoryTrees } from '../content/directory-trees.js'
import type { Ledger } from '../ledger/ledger.js'
import type { Log } from '../log/log.js'
import { RelayedMetrics } from '../metrics/relayed.js'
import type { Digest } from '../reapi/digest.js'
import { type Invocation, Invocations } from '../rpc/invocations.js'
import type { ActionOutcome } from '../rpc/request-records.js'
import type { Service } from '../rpc/rpc.js'
import { Uploads } from '../service/bytestream/uploads.js'
import { StoreNode } from '../store/contract/node.js'
import type { Store } from '../store/contract/store.js'
import type { Claimant } from '../store/index/promises.js'
import type { FileShareData } from '../store/kinds/filesystem/thread-share.js'
import type { ThreadFileStore } from '../store/kinds/filesystem/thread-store.js'
import { asCas } from '../store/view/cas.js'
import { asKeyed } from '../store/view/keyed.js'
import type { DamagedMessage, FromReadingThread, ReadsMessage, ReportMessage, ToReadingThread } from './thread-reads.js'

const METRICS_MS = 1000
/** How often the owner hears of a build that goes on. */
const TOUCH_MS = 1000
const NUMBERS_MAX = 10_000

/** The methods that a service thread serves itself, if its stores allow it. */
const READS: ReadonlyMap<string, readonly string[]> = new Map([
  ['build.bazel.remote.execution.v2.ContentAddressableStorage', ['FindMissingBlobs', 'BatchReadBlobs']],
  ['build.bazel.remote.execution.v2.ActionCache', ['GetActionResult']],
  ['google.bytestream.ByteStream', ['Read']],
])

/** What a service thread serves itself: reads of stores of the owner. */
export class ReadingThread {
  readonly metrics = new RelayedMetrics()
  readonly invocations: Invocations
  readonly records = { add: (...record: RecordOf) => this.#record(record) }
  readonly #post: (message: FromReadingThread) => void
  readonly #stores = new Map<string, ThreadFileStore>()
  readonly #numbers = new Map<string, number>()
  readonly #dropping = new Map<number, { resolve(): void; reject(error: StatusError): void }>()
  readonly #uses = new Set<string>()
  readonly #claims = new Map<
    string,
    { readonly about: readonly [string, string, number]; readonly slots: Set<number> }
  >()
  readonly #touched = new Set<string>()
  #records: RecordOf[] = []
  #isScheduled = false
  #lastId = 0

  constructor(post: (message: FromReadingThread) => void) {
    this.#post = post
    this.invocations = new ThreadInvocations((id) => {
      this.#touched.add(id)
      this.#schedule()
    })
    systemClock.every(METRICS_MS, () => this.tellMetrics())
  }

  tellMetrics(): void {
    const { extensionCount } = this.invocations
    this.invocations.extensionCount = 0
    const changes = this.metrics.take()
    if (changes !== undefined || extensionCount > 0) this.#post({ kind: 'metrics', changes, extensionCount })
  }

  async receive(message: ToReadingThread, parts: { readonly ledger: Ledger; readonly log: Log }): Promise<ServedHere> {
    if (message.kind === 'reads') return this.#serve(message, parts)
    if (message.kind === 'retired') this.#stores.get(message.path)?.retired(message.number)
    else if (message.kind === 'dropped') {
      const waiting = this.#dropping.get(message.id)
      this.#dropping.delete(message.id)
      if (message.failure === undefined) waiting?.resolve()
      else waiting?.reject(new StatusError('INTERNAL', message.failure))
    } else {
      if (this.#numbers.size > NUMBERS_MAX) this.#numbers.clear()
      for (const [id, number] of message.numbers) this.#numbers.set(id, number)
    }
    return []
  }

  /** The services of each listener, by its number. */
  async #serve(
    { global, stores, servers, shares }: ReadsMessage,
    { ledger, log }: { readonly ledger: Ledger; readonly log: Log },
  ): Promise<ServedHere> {
    const clock = systemClock
    // A thread that carries everything does not load them.
    const { servicesOf } = await import('./services.js')
    const { ThreadFileStore } = await import('../store/kinds/filesystem/thread-store.js')
    for (const [path, data] of shares) {
      const owner = {
        usesWait: () => {
          this.#uses.add(path)
          this.#schedule()
        },
        numberOf: (invocation: string) => this.#numbers.get(invocation),
        claim: (slot: number, claimant: Claimant) => this.#claim(path, slot, claimant),
        damaged: (digest: Digest, slot: number, location: number) => this.#damaged(path, digest, slot, location),
      }
      this.#stores.set(path, new ThreadFileStore(data as FileShareData, { owner, clock, log }))
    }
    const isMetered = !global.disable_metrics
    const nodes = new Map<string, Store>()
    const nodeOf = (paths: readonly string[]): Store => {
      const [path = '', ...below] = paths
      const known = nodes.get(path)
      if (known !== undefined) return known
      const store = below.length === 0 ? (this.#stores.get(path) as Store) : nodeOf(below)
      const meter = this.metrics.stores.of({ cacheType: path, usage: () => undefined, uploadQueue: () => undefined })
      const node = new StoreNode(store, { path, ...(isMetered && { meter }) })
      nodes.set(path, node)
      return node
    }
    const named = (as: (store: Store) => Store) => {
      const views = new Map([...stores].map(([name, paths]) => [name, as(nodeOf(paths))]))
      return (name: string): Store => views.get(name) as Store
    }
    const shared = {
      global,
      isIsolated: () => false,
      viewOf: (_: string, store: Store) => store,
      maxBlobBytes: () => undefined,
      hasHashClients: () => false,
      ac: named(asKeyed),
      cas: named(asCas),
      scheduler: notHere,
      workersOf: notHere,
      lentStores: () => undefined,
      trees: { ofGetTree: new DirectoryTrees(), ofActions: new DirectoryTrees() },
      uploads: new Uploads(clock, ledger),
      invocations: this.invocations,
      records: undefined as never,
      linkOf: undefined,
      builds: undefined,
      ...{ ledger, clock, log },
      atClose: () => {},
    }
    return servers.map(({ number, server }) => {
      const { execution, fetch, push, worker_api, build_events, ...services } = server.services
      const none = { execution: new Map(), fetch: new Map(), push: new Map() }
      return [number, servicesOf({ ...server, services: { ...services, ...none } }, shared).flatMap(readsOf)] as const
    })
  }

  #record(record: RecordOf): void {
    this.#records.push(record)
    this.#schedule()
  }

  #claim(path: string, slot: number, { invocation, keepForMs = 0 }: Claimant): void {
    const id = invocation?.id ?? ''
    const key = `${path} ${keepForMs} ${id}`
    const known = this.#claims.get(key) ?? { about: [path, id, keepForMs] as const, slots: new Set<number>() }
    known.slots.add(slot)
    this.#claims.set(key, known)
    this.#schedule()
  }

  #damaged(path: string, digest: Digest, slot: number, location: number): Promise<void> {
    const id = ++this.#lastId
    const { hash, sizeBytes, instanceName } = digest
    const about = { hash, sizeBytes, digestFunction: digest.function.value, instanceName, slot, location }
    const message: DamagedMessage = { kind: 'damaged', id, path, ...about }
    return new Promise((resolve, reject) => {
      this.#dropping.set(id, { resolve, reject })
      this.#post(message)
    })
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#report())
  }

  #report(): void {
    this.#isScheduled = false
    const report: ReportMessage = {
      kind: 'report',
      uses: [...this.#uses].flatMap((path) => {
        const slots = this.#stores.get(path)?.reader.takeUsed()
        return slots === undefined ? [] : [[path, slots] as const]
      }),
      claims: [...this.#claims.values()].map(({ about, slots }) => [...about, Int32Array.from(slots)] as const),
      touched: [...this.#touched],
      records: this.#records,
    }
    this.#uses.clear()
    this.#claims.clear()
    this.#touched.clear()
    this.#records = []
    this.#post(report)
  }
}

type RecordOf = [instance: string, header: string | Buffer | undefined, outcome: ActionOutcome]
export type ServedHere = readonly (readonly [listener: number, services: readonly Service[]])[]

const notHere = (): never => {
  throw new Error('service threads have no schedulers')
}

/** The methods of a service that only read. */
const readsOf = (service: Service): Service[] => {
  const wanted = READS.get(service.name)
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
    },
  ]
}

/** The owner decides which builds are alive, so it hears of every build that has calls here. */
class ThreadInvocations extends Invocations {
  readonly #tell: (id: string) => void
  readonly #toldMs = new Map<string, number>()

  constructor(tell: (id: string) => void) {
    super(systemClock)
    this.#tell = tell
  }

  override touch(id: string): Invocation | undefined {
    const nowMs = systemClock.now()
    if (nowMs - (this.#toldMs.get(id) ?? 0) >= TOUCH_MS) {
      if (this.#toldMs.size > NUMBERS_MAX) this.#toldMs.clear()
      this.#toldMs.set(id, nowMs)
      this.#tell(id)
    }
    return super.touch(id)
  }

  override opened(id: string): () => void {
    const close = super.opened(id)
    const stop = systemClock.every(60_000, () => this.#tell(id))
    return () => {
      stop()
      close()
    }
  }
}
