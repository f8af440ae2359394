import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import type { HealthStatus } from '../../../../src/base/health.js'
import { type CodeName, isStatus, StatusError } from '../../../../src/base/status-error.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import { putBytes } from '../../../../src/blobs/store.js'
import type { Digest } from '../../../../src/reapi/digest.js'
import type { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import { type Call, cancellation } from '../../../../src/rpc/call.js'
import { UploadOrder } from '../../../../src/store/contract/upload-order.js'
import type { Blob } from '../../../../src/stream/blob/blob.js'
import type { Range } from '../../../../src/stream/path.js'
import { unlessAborted } from '../../../../src/work/deadline.js'
import { during, until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent } from '../../blobs.js'
import { memoryStore } from '../../build.js'
import { crashed } from '../filesystem/crashed.js'
import { type Behind, openBehind } from './behind.js'

// Random uploads, outages and kill -9 of a server that acknowledges at fast, against a model: whatever was acknowledged
// is served at all times, and in slow once it is back. No result is in slow without its blobs.

type Mode = 'works' | 'refuses' | 'hangs'

/** A slow store with outages. It notes results that arrive before their blobs. */
class Away extends ForwardingStore {
  mode: Mode = 'works'
  /** Uploads that fail before it works, one after the other. */
  failures: CodeName[] = []
  /** The blobs that a result names must be there. */
  checks: ((result: Buffer) => Promise<boolean>) | undefined
  dangling = 0

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    await this.#enter(call)
    return super.findMissing(digests, call)
  }

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    await this.#enter(call)
    return super.get(digest, range, call)
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    try {
      await this.#enter(call)
      const failure = this.failures.shift()
      if (failure !== undefined) throw new StatusError(failure, 'this upload fails')
    } catch (error) {
      blob.discard()
      throw error
    }
    await super.put(digest, blob, call)
    if (this.checks === undefined) return
    if (!(await this.checks(await get(this.backend, digest)))) this.dangling += 1
  }

  override async health(call: Call): Promise<HealthStatus> {
    try {
      await this.#enter(call)
    } catch {
      return { state: 'Failed', message: 'no connection', error: 'away' }
    }
    return { state: 'Ok', message: 'it works' }
  }

  async #enter({ signal }: Call): Promise<void> {
    await setImmediate()
    if (this.mode === 'hangs') await unlessAborted(new Promise<never>(() => {}), signal)
    if (signal.aborted) throw cancellation(signal)
    if (this.mode === 'refuses') throw new StatusError('UNAVAILABLE', 'nobody listens there')
  }
}

const RUNS = 30
const BLOBS = 12
const ACTIONS = 4

const blobAt = (number: number): Buffer => bytesOf(number % 3 === 0 ? 70_000 + number : 100 + number, `blob ${number}`)
const keyOf = (action: number): Digest => digestOf(Buffer.from(`action ${action}`)).asKey()

type Step =
  | { readonly kind: 'put' | 'read'; readonly blob: number }
  | { readonly kind: 'result'; readonly action: number; readonly blobs: readonly number[] }
  | { readonly kind: 'mode'; readonly cas: Mode; readonly ac: Mode }
  | { readonly kind: 'fails'; readonly codes: CodeName[] }
  | { readonly kind: 'pass'; readonly seconds: number }
  | { readonly kind: 'kill' }

const blob = fc.nat(BLOBS - 1)
const mode = fc.constantFrom<Mode>('works', 'refuses', 'hangs')
const code = fc.constantFrom<CodeName>('UNAVAILABLE', 'INTERNAL', 'RESOURCE_EXHAUSTED', 'PERMISSION_DENIED')
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('put' as const), blob }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('read' as const), blob }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('result' as const),
      action: fc.nat(ACTIONS - 1),
      blobs: fc.uniqueArray(blob, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('mode' as const), cas: mode, ac: mode }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fails' as const), codes: fc.array(code, { maxLength: 4 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pass' as const), seconds: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'kill' as const }) },
)

/** How often each situation occurred: a model test that never meets it shows nothing. */
const met = { kills: 0, killedWaiting: 0, waitedAtEnd: 0, overtaking: 0 }

class Server {
  readonly clock = new ManualClock(1e12)
  readonly acknowledged = new Set<number>()
  readonly results = new Map<number, string>()
  cas: Behind | undefined
  ac: Behind | undefined
  #kills = 0

  constructor(
    readonly folder: string,
    readonly slowCas: Away,
    readonly slowAc: Away,
  ) {}

  async open(): Promise<void> {
    const order = new UploadOrder()
    const parts = { order, clock: this.clock, action_result_max_age_s: 1 }
    // The action cache is opened first: its uploads must wait for blobs that it cannot know yet.
    this.ac = await openBehind({ folder: `${this.folder}-${this.#kills}-ac`, slow: this.slowAc, ...parts })
    this.cas = await openBehind({ folder: `${this.folder}-${this.#kills}-cas`, slow: this.slowCas, ...parts })
    order.begin()
  }

  async close(): Promise<void> {
    await this.ac?.close()
    await this.cas?.close()
  }

  get waiting(): number {
    return (this.cas?.usage().entryCount ?? 0) + (this.ac?.usage().entryCount ?? 0)
  }

  /** The disk as it is now, and a new process. */
  async kill(): Promise<void> {
    met.kills += 1
    if (this.waiting > 0) met.killedWaiting += 1
    for (const name of ['cas', 'ac']) {
      await crashed(`${this.folder}-${this.#kills}-${name}`, `${this.folder}-${this.#kills + 1}-${name}`)
    }
    await this.close()
    this.#kills += 1
    await this.open()
  }

  async pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second++) {
      this.clock.advance(1000)
      for (let turn = 0; turn < 10; turn++) await setImmediate()
    }
  }

  /** The answer, with time passing while it waits. */
  async while<T>(work: Promise<T>): Promise<T> {
    let turn = 0
    return during(work, () => {
      if (++turn % 20 === 0) this.clock.advance(1000)
    })
  }
}

const run = async (folder: string, steps: readonly Step[]): Promise<void> => {
  const [slowCas, slowAc] = [new Away(await memoryStore()), new Away(await memoryStore())]
  const has = async (number: number) => isPresent(await memoryOf(slowCas), digestOf(blobAt(number)))
  slowAc.checks = async (result) => {
    const present = await Promise.all(JSON.parse(String(result)).blobs.map(has))
    return present.every((is) => is)
  }
  const server = new Server(folder, slowCas, slowAc)
  await server.open()
  const cas = () => server.cas?.store as NonNullable<Behind['store']>
  const ac = () => server.ac?.store as NonNullable<Behind['store']>
  const put = async (number: number): Promise<void> => {
    await server.while(putBytes(cas(), digestOf(blobAt(number)), blobAt(number), call))
    server.acknowledged.add(number)
  }
  let version = 0
  for (const step of steps) {
    if (step.kind === 'put') await put(step.blob)
    else if (step.kind === 'result') {
      // As a client: uploads what is missing, then the result.
      for (const number of step.blobs)
        if (!(await server.while(isPresent(cas(), digestOf(blobAt(number)))))) await put(number)
      const text = JSON.stringify({ version: version++, blobs: step.blobs })
      await server.while(putBytes(ac(), keyOf(step.action), Buffer.from(text), call))
      server.results.set(step.action, text)
      if (slowAc.mode === 'works' && slowCas.mode !== 'works') met.overtaking += 1
    } else if (step.kind === 'read') {
      const read = await server.while(get(cas(), digestOf(blobAt(step.blob)))).catch((error: unknown) => {
        if (!isStatus(error, 'NOT_FOUND') || server.acknowledged.has(step.blob)) throw error
      })
      if (read !== undefined && !read.equals(blobAt(step.blob))) throw new Error(`blob ${step.blob} is wrong`)
    } else if (step.kind === 'mode') {
      slowCas.mode = step.cas
      slowAc.mode = step.ac
    } else if (step.kind === 'fails') slowCas.failures = [...step.codes]
    else if (step.kind === 'pass') await server.pass(step.seconds)
    else await server.kill()
    await served(server)
  }
  if (server.waiting > 0) met.waitedAtEnd += 1
  slowCas.mode = 'works'
  slowAc.mode = 'works'
  await until(async () => {
    if (server.waiting > 0) await server.pass(60)
    return server.waiting === 0
  }, 'an empty queue')
  const lost = (server.cas?.usage().lostCount ?? 0) + (server.ac?.usage().lostCount ?? 0)
  if (lost > 0) throw new Error(`${lost} are lost`)
  for (const number of server.acknowledged) if (!(await has(number))) throw new Error(`blob ${number} is not in slow`)
  for (const [action, text] of server.results) {
    const found = (await get(await memoryOf(slowAc), keyOf(action))).toString()
    if (found !== text) throw new Error(`action ${action} has ${found} in slow, expected ${text}`)
  }
  if (slowAc.dangling > 0) throw new Error(`${slowAc.dangling} results were in slow before their blobs`)
  await server.close()
}

/** What is acknowledged is present, and a result is the newest. */
const served = async (server: Server): Promise<void> => {
  const { cas, ac } = server
  if (cas === undefined || ac === undefined) throw new Error('no server')
  for (const number of server.acknowledged)
    if (!(await server.while(isPresent(cas.store, digestOf(blobAt(number))))))
      throw new Error(`blob ${number}, which was acknowledged, is missing`)
  for (const [action, text] of server.results) {
    const found = (await server.while(get(ac.store, keyOf(action)))).toString()
    if (found !== text) throw new Error(`action ${action} has ${found}, expected ${text}`)
  }
}

/** The blobs of a slow store, whatever its mode. */
const memoryOf = async (slow: Away) => (slow as unknown as { readonly backend: Away }).backend

t.test('random outages and kills lose nothing that was acknowledged, and no result overtakes its blobs', async (t) => {
  const folder = t.testdir()
  let runs = 0
  const holds = fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
    await run(`${folder}/${runs++}`, steps)
  })
  await t.resolves(fc.assert(holds, { numRuns: RUNS }))
  for (const [what, count] of Object.entries(met)) t.ok(count > 0, `${what}: ${count}`)
})
