import type { Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import type { Test } from 'tap'
import { Code, StatusError } from '../../src/base/status-error.js'
import { missingOf, outcomeOf, type Removal, type Store, type StoreProperties } from '../../src/blobs/store.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { silentLog } from '../../src/log/log.js'
import { Digest } from '../../src/reapi/digest.js'
import { type Call, callWith } from '../../src/rpc/call.js'
import { Blob } from '../../src/stream/blob/blob.js'
import { WHOLE } from '../../src/stream/path.js'
import { Resources } from '../../src/work/resources.js'
import { until } from '../until.js'
import { bytesOf, cut, digestOf, inTime, putAll, source } from './blobs.js'
import { memoryStore } from './build.js'
import { ContractDouble, type DoubleOptions, type Operation } from './double.js'
import { rejects } from './suite.js'
import type { Wrapper } from './wrappers.js'

/** More than a chunk of the double, and more than size_partitioning keeps in memory. */
const SIZE_BYTES = 100_003

/** The call of a client: it loses its identity when it is spread, like those of the listener. */
class ClientCall implements Call {
  readonly instanceName = 'tenant'
  readonly log = silentLog
  readonly #signal = new AbortController().signal
  readonly #metadata = new Map([['x-caller', 'a client']])
  readonly #held: Call['held']

  constructor() {
    const ledger = new Ledger()
    this.#held = { ledger, holder: ledger.instance('tenant') }
  }

  get signal(): AbortSignal {
    return this.#signal
  }

  get metadata(): Call['metadata'] {
    return this.#metadata
  }

  get held(): Call['held'] {
    return this.#held
  }

  get giveWay(): Call['giveWay'] {
    return giveWay
  }

  /** Not a field of its own, like that of the listener. */
  get invocation(): Call['invocation'] {
    return INVOCATION
  }

  get keepForMs(): number {
    return 42
  }
}

const INVOCATION = { id: 'build', number: 1 }

const giveWay = async (): Promise<boolean> => false

interface Kept {
  readonly bytes: Buffer
  readonly digest: Digest
}

interface SetUp {
  readonly double: ContractDouble
  /** A wrapper over the double that has seen nothing yet, except for what would be lost without the store beside. */
  fresh(): Promise<Store>
  readonly call: Call
  /** Uploads this many blobs, all of which reach the double. */
  reaching(count: number): Promise<readonly Kept[]>
}

const STREAMS: DoubleOptions = { serves: 'streams', takes: 'poured', knowsSizes: false }

/** What a wrapper passes to its backend, beside bytes: who calls, signals, errors, reasons, properties, health. */
export const forwards = (t: Test, name: string, wrapper: Wrapper): void => {
  const over = (what: string, options: DoubleOptions, work: (t: Test, setUp: SetUp) => Promise<void>): void => {
    void t.test(`${name} a store ${what}`, async (t) => {
      const call = new ClientCall()
      const double = new ContractDouble({ ...STREAMS, caller: call, background: ['remove'], ...options })
      const resources = new Resources(silentLog)
      const beside = wrapper.isCache === true ? undefined : await memoryStore()
      const fresh = async (): Promise<Store> => wrapper.wrap(double, { resources, ...(beside && { beside }) })
      const reaching = async (count: number): Promise<readonly Kept[]> => {
        const store = await fresh()
        const kept: Kept[] = []
        for (let seed = 0; kept.length < count; seed++) {
          if (seed > 20 * count) throw new Error('blobs do not reach the backend')
          const bytes = bytesOf(SIZE_BYTES, `${seed}`)
          const before = double.calls.put + double.calls.putAll
          await store.put(digestOf(bytes), Blob.ofPath([source(cut(bytes, [30_000]))]), call)
          if (double.calls.put + double.calls.putAll > before) kept.push({ bytes, digest: digestOf(bytes) })
        }
        return kept
      }
      await work(t, { double, fresh, call, reaching })
      await resources.close()
      t.same(await double.end(), [], 'without a fault')
    })
  }
  const asked = (operation: Operation): Operation | 'nothing' => wrapper.asks?.[operation] ?? operation

  over('passes on who calls', {}, async (t, { double, fresh, call, reaching }) => {
    const kept = await reaching(3)
    for (const [operation, operate] of OPERATIONS) {
      const inner = asked(operation)
      const before = inner === 'nothing' ? 0 : double.calls[inner]
      await operate(await fresh(), kept, call)
      if (inner !== 'nothing') t.ok(double.calls[inner] > before, `${operation} asks it for ${inner}`)
    }
  })

  for (const [operation, operate] of OPERATIONS) {
    const inner = asked(operation)
    if (inner === 'nothing') continue
    over(`cancels ${operation} with the call`, {}, async (t, { double, fresh, call, reaching }) => {
      const kept = await reaching(2)
      const leaving = new AbortController()
      const before = double.calls[inner]
      if (inner === 'put' || inner === 'putAll') double.forget()
      double.hangs = inner
      const store = await fresh()
      const work = operate(store, kept, callWith(call, { signal: leaving.signal }))
      work.catch(() => {})
      await until(async () => double.calls[inner] > before, `${inner} below ${operation}`)
      for (let turn = 0; turn < 3; turn++) await setImmediate()
      leaving.abort()
      await rejects(t, inTime(work, `the end of ${operation}`), 'CANCELLED')
      double.hangs = undefined
    })

    over(`passes on why ${operation} failed`, {}, async (t, { double, fresh, call, reaching }) => {
      const kept = await reaching(2)
      if (inner === 'put' || inner === 'putAll') double.forget()
      double.refuses = { [inner]: new StatusError('RESOURCE_EXHAUSTED', 'the double is full') }
      if (operation === 'health') double.refuses = { health: new StatusError('UNAVAILABLE', 'the double is gone') }
      await rejects(
        t,
        operate(await fresh(), kept, call),
        operation === 'health' ? 'UNAVAILABLE' : 'RESOURCE_EXHAUSTED',
      )
    })
  }

  // Where `put` becomes `putAll`, the backend sees chunks instead of blobs.
  const seesBlobs = asked('put') === 'put'
  if (seesBlobs)
    over('reports the outcome of each blob', {}, async (t, { double, fresh, call, reaching }) => {
      const kept = await reaching(5)
      const inner = asked('putAll')
      if (inner === 'nothing') throw new Error('every wrapper writes to its backend')
      if (inner === 'put' || inner === 'putAll') double.forget()
      double.refuses = { [inner]: new StatusError('RESOURCE_EXHAUSTED', 'no room for it') }
      const refused = [kept[1], kept[4]].map((one) => one?.digest.key)
      double.isRefused = ({ content }) => refused.includes(content.key)
      // Some of them go elsewhere, so that outcomes come from several stores.
      const all = kept.flatMap((one, at) => {
        const bytes = bytesOf(at % 2 === 0 ? 10 + at : SIZE_BYTES + at, `other ${at}`)
        return [one, { bytes, digest: digestOf(bytes) }]
      })
      const outcomes = await putAll(await fresh(), all, call)
      t.same(
        outcomes.map((outcome) => outcome?.code),
        all.map(({ digest }) => (refused.includes(digest.key) ? Code.RESOURCE_EXHAUSTED : undefined)),
      )
    })

  over('keeps what it announces', { properties: ANNOUNCED }, async (t, { double, fresh, call, reaching }) => {
    const kept = await reaching(1)
    const [{ digest, bytes }] = kept as [Kept]
    const { encodings, extendsLifetimes } = (await fresh()).properties
    for (const encoding of encodings) {
      const blob = await (await fresh()).get(digest, { ...WHOLE, wantedAs: encoding }, call)
      t.ok(blob.isIn(encoding), `${encoding} as it is stored`)
      const encoded = await blob.as(encoding).bytes(Number.POSITIVE_INFINITY, call)
      const plain = await Blob.ofBytes(encoded, { encoding }).as('IDENTITY').bytes(Number.POSITIVE_INFINITY, call)
      t.ok(plain.equals(bytes))
    }
    const store = await fresh()
    const before = double.found.length
    for (let time = 0; time < 3; time++) t.same(await missingOf(store, [digest], call), [])
    // Where it does not reach the backend, this is a store that extends lifetimes by itself.
    if (extendsLifetimes) t.ok(double.found.length >= before + 3, 'each question extends the life of the blob')
  })

  over('finds blobs by their hashes as that does', { properties: { findsByHash: true } }, async (t, setUp) => {
    for (const { digest } of await setUp.reaching(2))
      t.equal(await (await setUp.fresh()).sizeOf(named(digest), setUp.call), digest.sizeBytes)
  })

  void t.test(`${name} a store: its properties`, async (t) => {
    for (const properties of COMBINATIONS) {
      const double = new ContractDouble({ properties })
      const store = await wrapper.wrap(double)
      t.same(store.properties, wrapper.announces?.(double.properties) ?? double.properties, JSON.stringify(properties))
      t.equal(store.files, undefined, 'it has files only if its backend has')
    }
  })

  const isRemovedThere = asked('remove') !== 'nothing'
  if (isRemovedThere)
    over('says when a blob was evicted there', {}, async (t, { double, fresh, call, reaching }) => {
      const [{ digest }] = (await reaching(1)) as [Kept]
      for (const key of double.keys) double.evicted.set(key, 4000)
      t.equal(await (await fresh()).evictedMs(digest, call), 4000)
    })

  if (isRemovedThere)
    over('passes on why a blob is removed', {}, async (t, { double, fresh, call, reaching }) => {
      const reasons: readonly Removal[] = ['unwanted', 'wrong']
      for (const [at, { digest }] of (await reaching(2)).entries())
        await (await fresh()).remove(digest, reasons[at] as Removal, call)
      t.same(double.removals, reasons)
    })

  over('is never healthier than that', {}, async (t, { double, fresh, call }) => {
    for (const state of ['Initializing', 'Warning', 'Failed'] as const) {
      double.status = { state, message: 'as the test says', error: 'because it says so' }
      const told = await (await fresh()).health(call)
      t.not(told.state, 'Ok', state)
      t.match(told.message, /as the test says/)
    }
  })

  for (const serves of ['streams', 'file'] as const) {
    over(`that breaks off ${serves} fails its reader`, { serves }, async (t, { double, fresh, call, reaching }) => {
      const [{ digest }] = (await reaching(1)) as [Kept]
      // Chunks may be as short as this.
      double.breaks = { afterBytes: 1, error: new StatusError('UNAVAILABLE', 'the backend is gone') }
      await rejects(t, read(await fresh(), digest, call), 'UNAVAILABLE')
    })
  }
}

const ANNOUNCED: Partial<StoreProperties> = { encodings: ['ZSTD'], extendsLifetimes: true, retentionMs: 1000 }

const COMBINATIONS: readonly Partial<StoreProperties>[] = [
  {},
  { keepsNothing: true },
  { encodings: ['ZSTD'] },
  { checksCompleteness: true },
  { extendsLifetimes: true },
  { detectsDamage: true },
  { retentionMs: 1000 },
  { findsByHash: true },
  { ...ANNOUNCED, checksCompleteness: true },
]

/** With its hash only. */
const named = ({ hash, function: of }: Digest): Digest => Digest.parse({ hash, sizeBytes: 0 }, of)

const read = async (store: Store, digest: Digest, call: Call): Promise<Buffer> =>
  (await store.get(digest, WHOLE, call)).bytes(Number.POSITIVE_INFINITY, call)

type Operate = (store: Store, kept: readonly Kept[], call: Call) => Promise<unknown>

/** Each operation on blobs that the backend has. Rejects if one of them fails. */
const OPERATIONS: readonly (readonly [Operation, Operate])[] = [
  [
    'put',
    async (store, kept, call) => {
      const [{ digest, bytes }] = kept as [Kept]
      const stream: Readable = source(cut(bytes, [30_000]))
      const failure = await outcomeOf(store.put(digest, Blob.ofPath([stream]), call))
      if (!stream.destroyed) throw new Error('the upload was not released')
      if (failure !== undefined) throw failure
    },
  ],
  [
    'putAll',
    async (store, kept, call) => {
      const failure = (await putAll(store, kept, call)).find((outcome) => outcome !== undefined)
      if (failure !== undefined) throw failure
    },
  ],
  [
    'findMissing',
    async (store, kept, call) => {
      const missing = await missingOf(
        store,
        kept.map(({ digest }) => digest),
        call,
      )
      if (missing.length > 0) throw new Error(`${missing.length} of ${kept.length} are missing`)
    },
  ],
  [
    'get',
    async (store, kept, call) => {
      const [{ digest, bytes }] = kept as [Kept]
      if (!(await read(store, digest, call)).equals(bytes)) throw new Error('other bytes were read')
      const part = await store.get(digest, { offset: 70_000, limit: 1000 }, call)
      if (!(await part.bytes(1000, call)).equals(bytes.subarray(70_000, 71_000)))
        throw new Error('another part was read')
    },
  ],
  ['health', (store, _kept, call) => store.health(call)],
  ['remove', (store, kept, call) => store.remove((kept[0] as Kept).digest, 'unwanted', call)],
]
