import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { internalCall } from '../../src/base/call.js'
import { systemClock } from '../../src/base/clock.js'
import { LARGE_BYTES } from '../../src/base/lent-buffers.js'
import { silentLog } from '../../src/base/log.js'
import { Resources } from '../../src/base/resources.js'
import { parseConfig } from '../../src/config/load.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { buildStores } from '../../src/store/builder.js'
import type { Store } from '../../src/store/store.js'
import { Blob } from '../../src/stream/blob/blob.js'
import type { BlobForm } from '../../src/stream/blob/form.js'
import { pour } from '../../src/stream/blob/pour.js'
import { PushedFeed } from '../../src/stream/blob/pushed-feed.js'
import { WHOLE } from '../../src/stream/path.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { MIB } from '../content.js'
import { type RawClient, type RemoteBackend, remoteBackends } from './remote-backends.js'
import { freshBlob } from './sizes.js'

type ConfigOf = (dataPath: string) => object

/** A kind, and what does the same beside it: its backend, or the one it is compared with. Configurations of a store. */
interface KindCase {
  readonly name: string
  readonly kind: ConfigOf
  readonly besideName: string
  /** Uploads go to each of several, one after the other, and reads to the first: what a kind that keeps two copies cannot save. */
  readonly beside: readonly ConfigOf[]
}

const memory = (): object => ({ memory: { eviction_policy: { max_bytes: '1GB' } } })

const filesystem = (dataPath: string): object => ({
  filesystem: {
    content_path: `${dataPath}/content`,
    temp_path: `${dataPath}/temp`,
    eviction_policy: { max_bytes: '4GB' },
  },
})

/** A kind over files beside the files alone. */
const overFiles = (name: string, wrap: (backend: object, dataPath: string) => object): KindCase => ({
  name,
  kind: (dataPath) => wrap(filesystem(dataPath), dataPath),
  besideName: 'filesystem alone',
  beside: [filesystem],
})

const KINDS: readonly KindCase[] = [
  { name: 'memory', kind: memory, besideName: 'filesystem', beside: [filesystem] },
  overFiles('verify', (backend) => ({ verify: { verify_size: true, verify_hash: true, backend } })),
  overFiles('existence_cache', (backend) => ({ existence_cache: { backend } })),
  overFiles('cache_metrics', (backend) => ({ cache_metrics: { cache_type: 'cas', backend } })),
  overFiles('size_partitioning', (backend) => ({
    size_partitioning: { size: '1KiB', lower_store: memory(), upper_store: backend },
  })),
  // Another store takes part and gets nothing: two logs on one disk cost more than one whoever chooses between them.
  overFiles('shard', (backend, dataPath) => ({
    shard: { stores: [{ store: backend }, { store: filesystem(`${dataPath}/second`), weight: 0 }] },
  })),
  overFiles('fast_slow before noop', (backend) => ({ fast_slow: { fast: backend, slow: { noop: {} } } })),
  overFiles('completeness_checking', (backend) => ({ completeness_checking: { backend, cas_store: memory() } })),
  {
    name: 'fast_slow behind memory',
    kind: (dataPath) => ({ fast_slow: { fast: memory(), slow: filesystem(dataPath) } }),
    besideName: 'memory and filesystem, each alone',
    beside: [memory, filesystem],
  },
  overFiles('compression lz4', (backend) => ({ compression: { compression_algorithm: { lz4: {} }, backend } })),
  overFiles('compression zstd', (backend) => ({ compression: { compression_algorithm: { zstd: {} }, backend } })),
  overFiles('dedup', (backend) => ({ dedup: { index_store: memory(), content_store: backend } })),
]

const call = internalCall()

const digestOf = (bytes: Buffer): Digest => Digest.of(bytes, digestFunctions.SHA256)

/** The store as it would be in a server, over an empty folder that is removed when `use` is done. */
const withStore = async <T>(configOf: ConfigOf, use: (store: Store) => Promise<T>): Promise<T> => {
  const dataPath = await mkdtemp(join(tmpdir(), 'remexec-bench-kind-'))
  const resources = new Resources(silentLog)
  try {
    const text = JSON.stringify({ stores: { KIND: configOf(dataPath) }, servers: [] })
    const { config, problems } = parseConfig(text, 'bench')
    if (config === undefined) throw new Error(problems.map(({ message }) => message).join('; '))
    const parts = { resources, clock: systemClock, log: silentLog, watch: () => {} }
    const store = (await buildStores(config.stores, parts)).get('KIND')
    if (store === undefined) throw new Error('the bench made no store')
    return await use(store)
  } finally {
    await resources.close()
    await rm(dataPath, { recursive: true, force: true })
  }
}

interface Work {
  readonly name: string
  /** Bytes of a blob, and how many of them one run moves, so many at a time. */
  readonly sizeBytes: number
  readonly count: number
  readonly lanes: number
  readonly isRead: boolean
}

/** `smallCount` is how many take long enough to be measured. */
const worksOf = (smallCount: number): readonly Work[] => {
  const large = { sizeBytes: 64 * MIB, count: 2, lanes: 1 }
  const small = { sizeBytes: 4096, count: smallCount, lanes: 16 }
  return [
    { name: 'put of 64 MiB', ...large, isRead: false },
    { name: 'get of 64 MiB', ...large, isRead: true },
    { name: 'put of 4 KiB', ...small, isRead: false },
    { name: 'get of 4 KiB', ...small, isRead: true },
  ]
}

const HERE = worksOf(10_000)
const ELSEWHERE = worksOf(2000)

interface Cost {
  readonly seconds: number
  readonly cpuSeconds: number
}

const PIECE_BYTES = 64 * 1024

/** Large blobs come as from a client: in pieces, which are lent. */
const blobOf = (bytes: Buffer): Blob => {
  if (bytes.length <= PIECE_BYTES) return Blob.ofBytes(bytes)
  const feed = new PushedFeed()
  void pushInPieces(bytes, feed)
  return Blob.ofFeed(feed, { sizeBytes: bytes.length })
}

const pushInPieces = async (bytes: Buffer, feed: PushedFeed): Promise<void> => {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) await feed.push(bytes.subarray(at, at + PIECE_BYTES))
  feed.finish()
}

const BUFFER = Buffer.allocUnsafeSlow(LARGE_BYTES)

/** As a server does that sends it: files by way of a buffer that is used again. */
const readOff = async (form: BlobForm): Promise<void> => {
  if (form.kind !== 'file') return pour(form, () => undefined, call.signal)
  const { file } = form
  for (let at = 0; at < file.sizeBytes; ) at += await file.read(BUFFER.subarray(0, file.sizeBytes - at), at)
  await file.close()
}

/** Does the work once, with fresh blobs, over something that keeps them. */
type Side = (work: Work) => Promise<Cost>

const storeSide =
  (...configs: readonly ConfigOf[]): Side =>
  (work) =>
    withStores(configs, (stores) =>
      perform(work, {
        put: async (digest, bytes) => {
          for (const store of stores) await store.put(digest, blobOf(bytes).knownAs(digest), call)
        },
        get: async (digest) => readOff(await (await (stores[0] as Store).get(digest, WHOLE, call)).take()),
      }),
    )

const withStores = <T>(
  [first, ...others]: readonly ConfigOf[],
  use: (stores: readonly Store[]) => Promise<T>,
): Promise<T> =>
  first === undefined ? use([]) : withStore(first, (store) => withStores(others, (rest) => use([store, ...rest])))

const rawSide =
  (raw: RawClient): Side =>
  (work) =>
    perform(work, { put: ({ key }, bytes) => raw.put(`raw/${key}`, bytes), get: ({ key }) => raw.get(`raw/${key}`) })

interface Keeper {
  put(digest: Digest, bytes: Buffer): Promise<void>
  get(digest: Digest): Promise<void>
}

const perform = async (work: Work, { put, get }: Keeper): Promise<Cost> => {
  const blobs = Array.from({ length: work.count }, () => freshBlob(work.sizeBytes, true))
  const entries = blobs.map((bytes) => ({ digest: digestOf(bytes), bytes }))
  const putAll = (): Promise<void> => inLanes(entries, work.lanes, ({ digest, bytes }) => put(digest, bytes))
  const getAll = (): Promise<void> => inLanes(entries, work.lanes, ({ digest }) => get(digest))
  if (work.isRead) await putAll()
  const sinceMs = performance.now()
  const since = process.cpuUsage()
  await (work.isRead ? getAll() : putAll())
  const { user, system } = process.cpuUsage(since)
  return { seconds: (performance.now() - sinceMs) / 1000, cpuSeconds: (user + system) / 1e6 }
}

const inLanes = async <T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<void> => {
  const rest = items.values()
  const lane = async (): Promise<void> => {
    for (const item of rest) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}

const figuresOf = ({ sizeBytes, count }: Work, cost: Cost): { readonly rate: number; readonly cpu: number } => {
  const bytes = sizeBytes * count
  const isLarge = sizeBytes > MIB
  return {
    rate: (isLarge ? bytes / 1e6 : count) / cost.seconds,
    cpu: isLarge ? (cost.cpuSeconds * 1000 * 2 ** 30) / bytes : (cost.cpuSeconds * 1e6) / count,
  }
}

interface Pair {
  readonly name: string
  readonly side: Side
  readonly besideName: string
  readonly beside: Side
}

async function* compare(pair: Pair, work: Work, rounds: number): AsyncGenerator<Observation> {
  const [ours, theirs]: [Cost[], Cost[]] = [[], []]
  // The first round warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    // Who comes second finds more garbage: each does as often.
    const isFirst = round % 2 === 0
    const early = await (isFirst ? pair.side : pair.beside)(work)
    const late = await (isFirst ? pair.beside : pair.side)(work)
    const [mine, other] = isFirst ? [early, late] : [late, early]
    if (round === 0) continue
    ours.push(mine)
    theirs.push(other)
  }
  const isLarge = work.sizeBytes > MIB
  for (const figure of ['rate', 'cpu'] as const) {
    const valuesOf = (costs: readonly Cost[]) => costs.map((cost) => figuresOf(work, cost)[figure])
    yield {
      name: `${pair.name}: ${work.name}${figure === 'cpu' ? `, CPU of a ${isLarge ? 'GiB' : 'blob'}` : ''}`,
      unit: figure === 'rate' ? (isLarge ? 'MB/s' : 'op/s') : isLarge ? 'ms' : 'µs',
      values: valuesOf(ours),
      beside: { name: pair.besideName, values: valuesOf(theirs) },
    }
  }
}

const observeKind = (kind: KindCase) =>
  async function* ({ rounds }: Builds): AsyncGenerator<Observation> {
    const { name, besideName } = kind
    const pair = { name, besideName, side: storeSide(kind.kind), beside: storeSide(...kind.beside) }
    for (const work of HERE) yield* compare(pair, work, rounds)
  }

/** A backend on another machine, here a process of its own on this one, beside its plain client. */
const observeBackend = (backend: RemoteBackend) =>
  async function* ({ rounds }: Builds): AsyncGenerator<Observation> {
    const stops: (() => unknown)[] = []
    try {
      const { store, raw, rawName } = await backend.start({ teardown: (stop) => stops.push(stop) })
      const pair = { name: backend.name, side: storeSide(() => store), besideName: rawName, beside: rawSide(raw) }
      for (const work of ELSEWHERE) yield* compare(pair, work, rounds)
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  }

/** Stores without a server in front of them: what a kind costs beside the backend it stands on, or the client of that. */
export const storeKindCases = (): readonly EventCase[] => [
  ...KINDS.map((kind) => caseOf(kind.name, observeKind(kind))),
  ...remoteBackends
    .filter(({ skip }) => skip === false)
    .map((backend) => caseOf(backend.name, observeBackend(backend))),
]

const caseOf = (name: string, observe: EventCase['observe']): EventCase => ({
  kind: 'event',
  name: `store kind ${name}`,
  isSlow: true,
  observe,
})
