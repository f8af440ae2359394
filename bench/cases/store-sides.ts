import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from '../../src/blobs/store.js'
import type { Digest } from '../../src/reapi/digest.js'
import type { Blob } from '../../src/stream/blob/blob.js'
import type { BlobForm } from '../../src/stream/blob/form.js'
import { built } from '../built.js'
import type { Observation } from '../case.js'
import { MIB } from '../content.js'
import type { RawClient } from './remote-backends.js'
import { freshBlob } from './sizes.js'

const { internalCall } = await built<typeof import('../../src/rpc/call.js')>('rpc/call.js')
const { systemClock } = await built<typeof import('../../src/base/clock.js')>('base/clock.js')
const { LARGE_BYTES } = await built<typeof import('../../src/base/lent-buffers.js')>('base/lent-buffers.js')
const { silentLog } = await built<typeof import('../../src/log/log.js')>('log/log.js')
const { Resources } = await built<typeof import('../../src/work/resources.js')>('work/resources.js')
const { parseConfig } = await built<typeof import('../../src/config/load.js')>('config/load.js')
const { codec } = await built<typeof import('../../src/proto/codec.js')>('proto/codec.js')
const digests = await built<typeof import('../../src/reapi/digest.js')>('reapi/digest.js')
const { digestFunctions } = await built<typeof import('../../src/reapi/digest-function.js')>('reapi/digest-function.js')
const { buildStores } = await built<typeof import('../../src/store/builder.js')>('store/builder.js')
const blobs = await built<typeof import('../../src/stream/blob/blob.js')>('stream/blob/blob.js')
const { pour } = await built<typeof import('../../src/stream/blob/pour.js')>('stream/blob/pour.js')
const { PushedFeed } = await built<typeof import('../../src/stream/blob/pushed-feed.js')>('stream/blob/pushed-feed.js')
const { prepareHeap } = await built<typeof import('../../src/process/v8-heap.js')>('process/v8-heap.js')
const { WHOLE } = await built<typeof import('../../src/stream/path.js')>('stream/path.js')

/** The configuration of a store; a memory store named `CAS` exists beside it. */
export type ConfigOf = (dataPath: string) => object

export const memory = (): object => ({ memory: { eviction_policy: { max_bytes: '1GB' } } })

const call = internalCall()
const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')

const digestOf = (bytes: Buffer): Digest => digests.Digest.of(bytes, digestFunctions.SHA256)

/** A configuration needs a server. None is started. */
const UNUSED = { listener: { http: { socket_address: '127.0.0.1:0' } }, services: { health: {} } }

interface Stores {
  readonly store: Store
  readonly cas: Store
}

/** The store as in a server, in an empty folder that is removed after `use`. */
const withStore = async <T>(configOf: ConfigOf, use: (stores: Stores) => Promise<T>): Promise<T> => {
  const dataPath = await mkdtemp(join(tmpdir(), 'remexec-bench-kind-'))
  const resources = new Resources(silentLog)
  try {
    const text = JSON.stringify({ stores: { KIND: configOf(dataPath), CAS: memory() }, servers: [UNUSED] })
    const { config, problems } = parseConfig(text, 'bench')
    if (config === undefined) throw new Error(problems.map(({ message }) => message).join('; '))
    const parts = { resources, clock: systemClock, log: silentLog, secrets: { learn: () => () => {} }, watch: () => {} }
    const stores = await buildStores(config.stores, parts)
    return await use({ store: stores.get('KIND') as Store, cas: stores.get('CAS') as Store })
  } finally {
    await resources.close()
    await rm(dataPath, { recursive: true, force: true })
  }
}

export interface Work {
  readonly name: string
  /** The blob size, and how many of them a run moves at a given concurrency. */
  readonly sizeBytes: number
  readonly count: number
  readonly lanes: number
  readonly isRead: boolean
  /** How often each is moved. */
  readonly passes: number
  /** Results of actions, under mere keys, with one output that is in the store `CAS`. */
  readonly areResults?: boolean
}

/** `smallCount` small blobs, read `smallPasses` times, take long enough to be measured. */
export const worksOf = (smallCount: number, smallPasses: number): readonly Work[] => {
  const large = { sizeBytes: 64 * MIB, count: 2, lanes: 1 }
  const small = { sizeBytes: 4096, count: smallCount, lanes: 16 }
  return [
    { name: 'put of 64 MiB', ...large, isRead: false, passes: 1 },
    { name: 'get of 64 MiB', ...large, isRead: true, passes: 1 },
    { name: 'put of 4 KiB', ...small, isRead: false, passes: 1 },
    { name: 'get of 4 KiB', ...small, isRead: true, passes: smallPasses },
  ]
}

interface Cost {
  readonly seconds: number
  readonly cpuSeconds: number
}

const PIECE_BYTES = 64 * 1024

/** Large blobs arrive as from a client: in pieces with borrowed buffers. */
const blobOf = (bytes: Buffer): Blob => {
  if (bytes.length <= PIECE_BYTES) return blobs.Blob.ofBytes(bytes)
  const feed = new PushedFeed()
  void pushInPieces(bytes, feed)
  return blobs.Blob.ofFeed(feed, { sizeBytes: bytes.length })
}

const pushInPieces = async (bytes: Buffer, feed: InstanceType<typeof PushedFeed>): Promise<void> => {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) await feed.push(bytes.subarray(at, at + PIECE_BYTES))
  feed.finish()
}

const BUFFER = Buffer.allocUnsafeSlow(LARGE_BYTES)

/** Reads as a sending server does: files through a reused buffer. */
const readOff = async (form: BlobForm): Promise<void> => {
  if (form.kind !== 'file') return pour(form, () => undefined, call.signal)
  const { file } = form
  for (let at = 0; at < file.sizeBytes; ) at += await file.read(BUFFER.subarray(0, file.sizeBytes - at), at)
  await file.close()
}

/** Does the work once, with fresh blobs, over a store that keeps them. */
export type Side = (work: Work) => Promise<Cost>

export const storeSide =
  (...configs: readonly ConfigOf[]): Side =>
  (work) =>
    withStores(configs, (stores) =>
      perform(work, {
        put: async (digest, bytes) => {
          for (const { store } of stores) {
            await store.put(
              digest,
              digest.describesContent ? blobOf(bytes).assumeVerified(digest) : blobOf(bytes),
              call,
            )
          }
        },
        get: async (digest) => readOff(await (await (stores[0] as Stores).store.get(digest, WHOLE, call)).take()),
        begin: async () => {
          for (const { cas } of stores) await cas.put(digestOf(OUTPUT), blobOf(OUTPUT), call)
        },
      }),
    )

/** Uploads to the slow store; a read copies the blob into the fast one and on to the reader. */
export const missSide =
  (fast: ConfigOf, slow: ConfigOf): Side =>
  (work) =>
    withStore(fast, ({ store: here }) =>
      withStore(slow, ({ store: there }) =>
        perform(work, {
          put: (digest, bytes) => there.put(digest, blobOf(bytes).assumeVerified(digest), call),
          get: async (digest) => {
            await here.put(digest, await there.get(digest, WHOLE, call), call)
            await readOff(await (await here.get(digest, WHOLE, call)).take())
          },
        }),
      ),
    )

const withStores = <T>(
  [first, ...others]: readonly ConfigOf[],
  use: (stores: readonly Stores[]) => Promise<T>,
): Promise<T> =>
  first === undefined ? use([]) : withStore(first, (own) => withStores(others, (rest) => use([own, ...rest])))

export const rawSide =
  (raw: RawClient): Side =>
  (work) =>
    perform(work, { put: ({ key }, bytes) => raw.put(`raw/${key}`, bytes), get: ({ key }) => raw.get(`raw/${key}`) })

/** The output that all results refer to. */
const OUTPUT = Buffer.from('output')

/** A result of about this size, and a unique action digest. */
const freshResult = (sizeBytes: number): Entry => {
  const stdoutRaw = freshBlob(sizeBytes, true)
  const bytes = resultCodec.encode({
    outputFiles: [{ path: 'out/a', digest: digestOf(OUTPUT).toMessage() }],
    stdoutRaw,
  })
  return { digest: digestOf(stdoutRaw).asKey(), bytes }
}

const freshEntry = (sizeBytes: number): Entry => {
  const bytes = freshBlob(sizeBytes, true)
  return { digest: digestOf(bytes), bytes }
}

interface Entry {
  readonly digest: Digest
  readonly bytes: Buffer
}

interface Keeper {
  begin?(): Promise<void>
  put(digest: Digest, bytes: Buffer): Promise<void>
  get(digest: Digest): Promise<void>
}

const perform = async (work: Work, { begin, put, get }: Keeper): Promise<Cost> => {
  const fresh = work.areResults === true ? freshResult : freshEntry
  const entries = Array.from({ length: work.count }, () => fresh(work.sizeBytes))
  await begin?.()
  const putAll = (): Promise<void> => inLanes(entries, work.lanes, ({ digest, bytes }) => put(digest, bytes))
  const getAll = (): Promise<void> => inLanes(entries, work.lanes, ({ digest }) => get(digest))
  if (work.isRead) await putAll()
  const sinceMs = performance.now()
  const since = process.cpuUsage()
  for (let pass = 0; pass < work.passes; pass++) await (work.isRead ? getAll() : putAll())
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

const figuresOf = ({ sizeBytes, count, passes }: Work, cost: Cost): { readonly rate: number; readonly cpu: number } => {
  const moved = count * passes
  const bytes = sizeBytes * moved
  const isLarge = sizeBytes > MIB
  return {
    rate: (isLarge ? bytes / 1e6 : moved) / cost.seconds,
    cpu: isLarge ? (cost.cpuSeconds * 1000 * 2 ** 30) / bytes : (cost.cpuSeconds * 1e6) / moved,
  }
}

export interface Pair {
  readonly name: string
  readonly side: Side
  readonly besideName: string
  readonly beside: Side
  /** Runs before each round: empties a backend whose calls become slower with its content. */
  readonly empty?: (() => Promise<unknown>) | undefined
}

export async function* compare(pair: Pair, work: Work, rounds: number): AsyncGenerator<Observation> {
  prepareHeap()
  const [ours, theirs]: [Cost[], Cost[]] = [[], []]
  // The first round warms up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    await pair.empty?.()
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
