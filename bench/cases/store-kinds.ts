import type { Builds, EventCase, Observation } from '../case.js'
import { type RemoteBackend, redis, remoteBackends } from './remote-backends.js'
import {
  type ConfigOf,
  compare,
  memory,
  missSide,
  rawSide,
  type Side,
  storeSide,
  type Work,
  worksOf,
} from './store-sides.js'

/** A store kind and its reference: the backend, or a comparable kind. */
interface KindCase {
  readonly name: string
  readonly kind: ConfigOf
  readonly besideName: string
  /** Uploads go to each store in turn, reads to the first: the minimal work of a kind with two copies. */
  readonly beside: readonly ConfigOf[]
  readonly areResults?: boolean
}

const filesystem = (dataPath: string): object => ({
  filesystem: {
    content_path: `${dataPath}/content`,
    temp_path: `${dataPath}/temp`,
    eviction_policy: { max_bytes: '4GB' },
  },
})

interface Wrapper {
  readonly name: string
  readonly wrap: (backend: object) => object
  readonly areResults?: boolean
  /** Kinds with two copies are compared with their two stores, each alone. */
  readonly tiers?: (backend: object) => Side
}

const WRAPPERS: readonly Wrapper[] = [
  { name: 'verify', wrap: (backend) => ({ verify: { verify_size: true, verify_hash: true, backend } }) },
  { name: 'existence_cache', wrap: (backend) => ({ existence_cache: { backend } }) },
  { name: 'cache_metrics', wrap: (backend) => ({ cache_metrics: { cache_type: 'cas', backend } }) },
  {
    name: 'size_partitioning',
    wrap: (backend) => ({ size_partitioning: { size: '1KiB', lower_store: memory(), upper_store: backend } }),
  },
  // The other store takes part without traffic, because two logs on one disk cost more than one.
  { name: 'shard', wrap: (backend) => ({ shard: { stores: [{ store: backend }, { store: memory(), weight: 0 }] } }) },
  { name: 'fast_slow before noop', wrap: (backend) => ({ fast_slow: { fast: backend, slow: { noop: {} } } }) },
  {
    name: 'completeness_checking',
    wrap: (backend) => ({ completeness_checking: { backend, cas_store: { ref_store: { name: 'CAS' } } } }),
    areResults: true,
  },
  {
    name: 'compression lz4',
    wrap: (backend) => ({ compression: { compression_algorithm: { lz4: {} }, backend } }),
  },
  {
    name: 'compression zstd',
    wrap: (backend) => ({ compression: { compression_algorithm: { zstd: {} }, backend } }),
  },
  // An action cache as the README has it.
  {
    name: 'compression lz4 of results',
    wrap: (backend) => ({ compression: { compression_algorithm: { lz4: {} }, backend } }),
    areResults: true,
  },
  {
    name: 'compression zstd of results',
    wrap: (backend) => ({ compression: { compression_algorithm: { zstd: {} }, backend } }),
    areResults: true,
  },
  { name: 'dedup', wrap: (backend) => ({ dedup: { index_store: memory(), content_store: backend } }) },
]

const KINDS: readonly KindCase[] = [
  { name: 'memory', kind: memory, besideName: 'filesystem', beside: [filesystem] },
  ...WRAPPERS.map(({ wrap, ...wrapper }) => ({
    ...wrapper,
    kind: (dataPath: string) => wrap(filesystem(dataPath)),
    besideName: 'filesystem alone',
    beside: [filesystem],
  })),
  {
    name: 'fast_slow behind memory',
    kind: (dataPath) => ({ fast_slow: { fast: memory(), slow: filesystem(dataPath) } }),
    besideName: 'memory and filesystem, each alone',
    beside: [memory, filesystem],
  },
]

/**
 * Over a remote backend also as the slow tier: each upload goes to memory too, and each read is a miss that fills
 * memory.
 */
const TIERS: readonly Wrapper[] = [
  {
    name: 'fast_slow behind memory',
    wrap: (slow) => ({ fast_slow: { fast: memory(), slow } }),
    tiers: (slow) => storeSide(memory, () => slow),
  },
  {
    name: 'fast_slow that misses in memory',
    wrap: (slow) => ({ fast_slow: { fast: memory(), fast_direction: 'get', slow } }),
    tiers: (slow) => missSide(memory, () => slow),
  },
]

const HERE = worksOf(10_000, 3)
const worksOn = ({ smallCount }: RemoteBackend): readonly Work[] => worksOf(smallCount, 1)

const observeKind = ({ name, kind, besideName, beside }: KindCase, work: Work) =>
  async function* ({ rounds }: Builds): AsyncGenerator<Observation> {
    yield* compare({ name, besideName, side: storeSide(kind), beside: storeSide(...beside) }, work, rounds)
  }

/** A remote backend, run as a process on this machine, beside its plain client; a wrapper beside that backend. */
const observeBackend = (backend: RemoteBackend, work: Work, wrapper?: Wrapper) =>
  async function* ({ rounds }: Builds): AsyncGenerator<Observation> {
    const stops: (() => unknown)[] = []
    try {
      const { store, raw, rawName, empty } = await backend.start({ teardown: (stop) => stops.push(stop) })
      const bare = {
        name: backend.name,
        side: storeSide(() => store),
        besideName: rawName,
        beside: rawSide(raw),
        empty,
      }
      const wrapped = wrapper && {
        name: overName(wrapper, backend),
        side: storeSide(() => wrapper.wrap(store)),
        besideName: wrapper.tiers === undefined ? `${backend.name} alone` : `memory and ${backend.name}, each alone`,
        beside: wrapper.tiers?.(store) ?? bare.side,
      }
      yield* compare(wrapped ?? bare, work, rounds)
    } finally {
      for (const stop of stops.reverse()) await stop()
    }
  }

const overName = (wrapper: Wrapper, backend: RemoteBackend): string => `${wrapper.name} over ${backend.name}`

/** Results are small. */
const worksFor = (
  works: readonly Work[],
  { areResults = false }: { readonly areResults?: boolean },
): readonly Work[] =>
  areResults ? works.filter(({ lanes }) => lanes > 1).map((work) => ({ ...work, areResults })) : works

/** Stores without a server: the cost of a kind beside its backend, or beside the backend's client. */
export const storeKindCases = (): readonly EventCase[] => [
  ...KINDS.flatMap((kind) => worksFor(HERE, kind).map((work) => caseOf(kind.name, work, observeKind(kind, work)))),
  ...remoteBackends
    .filter(({ skip }) => skip === false)
    .flatMap((backend) => worksOn(backend).map((work) => caseOf(backend.name, work, observeBackend(backend, work)))),
  ...(redis.skip === false ? [...WRAPPERS, ...TIERS] : []).flatMap((wrapper) =>
    worksFor(worksOn(redis), wrapper).map((work) =>
      caseOf(overName(wrapper, redis), work, observeBackend(redis, work, wrapper)),
    ),
  ),
]

const caseOf = (name: string, work: Work, observe: EventCase['observe']): EventCase => ({
  kind: 'event',
  name: `store kind ${name}: ${work.name}`,
  isSlow: true,
  observe,
})
