import { readFile, writeFile } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { StatusError } from '../../../../src/base/status-error.js'
import { ForwardingStore } from '../../../../src/blobs/forwarding.js'
import { missingOf, putBytes } from '../../../../src/blobs/store.js'
import { textLog } from '../../../../src/log/log.js'
import { Digest } from '../../../../src/reapi/digest.js'
import type { DigestBatch } from '../../../../src/reapi/digest-batch.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import type { Call } from '../../../../src/rpc/call.js'
import { UploadOrder } from '../../../../src/store/contract/upload-order.js'
import { isolatedView } from '../../../../src/store/view/isolated.js'
import { asKeyed } from '../../../../src/store/view/keyed.js'
import { Blob } from '../../../../src/stream/blob/blob.js'
import type { Range } from '../../../../src/stream/path.js'
import { unlessAborted } from '../../../../src/work/deadline.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { memoryStore } from '../../build.js'
import { ContractDouble } from '../../double.js'
import { type OpenStore, rejects, storeSuite } from '../../suite.js'
import { crashed } from '../filesystem/crashed.js'
import { type Behind, openBehind, openIn } from './behind.js'

const refused = () => new StatusError('UNAVAILABLE', 'S3: nobody listens there (ECONNREFUSED)')

const slowStore = () => new ContractDouble({ properties: { extendsLifetimes: true } })

const leave = (slow: ContractDouble, error = refused()): void => {
  slow.refuses = { findMissing: error, get: error, put: error, putAll: error, remove: error }
  slow.status = { state: 'Failed', message: 'no connection', error: error.message }
}

const comeBack = (slow: ContractDouble): void => {
  slow.refuses = {}
  slow.status = { state: 'Ok', message: 'it works' }
}

const pass = async (clock: ManualClock, seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1000)
    for (let turn = 0; turn < 20; turn++) await setImmediate()
  }
}

const drained = (behind: Behind): Promise<void> => until(async () => behind.usage().entryCount === 0, 'an empty queue')

/** Lets time pass until the queue is empty, however long the disk takes for each try. */
const drainedBy = (behind: Behind, clock: ManualClock): Promise<void> =>
  until(async () => {
    if (behind.usage().entryCount > 0) await pass(clock, 1)
    return behind.usage().entryCount === 0
  }, 'an empty queue')

storeSuite(t, {
  name: 'fast_slow that acknowledges at fast',
  open: async (t) => {
    const { store, close } = await openBehind({ folder: t.testdir(), slow: await memoryStore() })
    return { store, close }
  },
  isPersistent: false,
  isBrief: true,
})

storeSuite(t, {
  name: 'fast_slow that acknowledges at fast and is opened again while slow is away',
  open: async (t) => {
    const folder = t.testdir()
    const slow = slowStore()
    leave(slow)
    // What slow alone has cannot be removed while it is away.
    delete slow.refuses.remove
    const open = async (): Promise<OpenStore> => {
      const { store, close } = await openBehind({ folder, slow })
      const reopen = async (): Promise<OpenStore> => {
        await close()
        return open()
      }
      return { store, close, reopen }
    }
    return open()
  },
  isPersistent: true,
  isBrief: true,
})

t.test('S3 refused: uploads, FindMissing and reads work, and everything is in S3 afterwards', async (t) => {
  const clock = new ManualClock(1e12)
  const slow = slowStore()
  leave(slow)
  const behind = await openIn(t, { slow, clock })
  const blobs = [0, 1, 70_000, 400_000].map((size) => bytesOf(size, `blob of ${size}`))
  for (const bytes of blobs) await put(behind.store, digestOf(bytes), bytes)
  const result = digestOf(Buffer.from('an action')).asKey()
  await put(behind.store, result, Buffer.from('its result'))
  for (const bytes of blobs) {
    t.ok(await isPresent(behind.store, digestOf(bytes)))
    t.ok((await get(behind.store, digestOf(bytes))).equals(bytes))
  }
  t.equal((await get(behind.store, result)).toString(), 'its result')
  await pass(clock, 5)
  t.match(behind.usage(), { entryCount: 5, sizeBytes: 470_001, doneCount: 0 })
  t.match(await behind.health(), { state: 'Warning', message: /^5 blobs of 470 kB wait .*ECONNREFUSED/ })
  comeBack(slow)
  await drainedBy(behind, clock)
  for (const bytes of blobs) t.ok(slow.has(digestOf(bytes)))
  t.ok(slow.has(result))
  t.match(behind.usage(), { entryCount: 0, sizeBytes: 0, oldestAgeMs: 0, doneCount: 5, lostCount: 0 })
  t.match(await behind.health(), { state: 'Ok', message: 'nothing waits' })
})

t.test('slow works: a blob is present as soon as it is acknowledged, whatever slow says', async (t) => {
  const slow = slowStore()
  slow.hangs = 'put'
  const { store, close } = await openBehind({ folder: t.testdir(), slow })
  const bytes = bytesOf(1000)
  await put(store, digestOf(bytes), bytes)
  t.notOk(await isPresent(slow, digestOf(bytes)))
  t.ok(await isPresent(store, digestOf(bytes)))
  await close()
  t.pass('closing does not wait for slow')
})

/** Uploads into it end when the test says so, with the bytes that were read before. */
class Gated extends ForwardingStore {
  readonly waiting: (() => void)[] = []

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    const bytes = await blob.bytes(1e6, call)
    await unlessAborted(new Promise<void>((resolve) => this.waiting.push(resolve)), call.signal)
    await this.backend.put(digest, Blob.ofBytes(bytes), call)
  }
}

/** Answers what is missing when the test says so, by what was there when it was asked. */
class LateAnswers extends ForwardingStore {
  readonly waiting: (() => void)[] = []

  override async findMissing(digests: DigestBatch, call: Call): Promise<DigestBatch> {
    const missing = await super.findMissing(digests, call)
    await new Promise<void>((resolve) => this.waiting.push(resolve))
    return missing
  }
}

t.test('a blob that slow gets while it is asked for it is not missing', async (t) => {
  const gated = new Gated(await memoryStore())
  const slow = new LateAnswers(gated)
  const behind = await openIn(t, { slow })
  const [queued, never] = [bytesOf(1000), bytesOf(1001)].map(digestOf) as [Digest, Digest]
  await put(behind.store, queued, bytesOf(1000))
  const missing = missingOf(behind.store, [queued, never], call)
  await until(async () => slow.waiting.length === 1 && gated.waiting.length === 1)
  gated.waiting.shift()?.()
  await drained(behind)
  slow.waiting.shift()?.()
  t.same(await missing, [never])
  const after = isPresent(behind.store, queued)
  await until(async () => slow.waiting.length === 1)
  slow.waiting.shift()?.()
  t.ok(await after, 'slow has it')
})

t.test('a result that waits is served, although slow has none or an older one', async (t) => {
  const slow = slowStore()
  const result = digestOf(Buffer.from('an action')).asKey()
  await put(slow, result, Buffer.from('older'))
  slow.hangs = 'put'
  const { store, close } = await openBehind({ folder: t.testdir(), slow, action_result_max_age_s: 1 })
  for (const text of ['newer', 'newest']) {
    await put(store, result, Buffer.from(text))
    t.equal((await get(store, result)).toString(), text)
  }
  await close()
})

t.test('a result replaced while it is uploaded is uploaded again', async (t) => {
  const slow = new Gated(await memoryStore())
  const behind = await openIn(t, { slow })
  const result = digestOf(Buffer.from('an action')).asKey()
  for (const text of ['older', 'newer']) {
    await put(behind.store, result, Buffer.from(text))
    await until(async () => slow.waiting.length === 1)
  }
  slow.waiting.shift()?.()
  await until(async () => slow.waiting.length === 1)
  t.equal((await get(slow, result)).toString(), 'older')
  t.equal((await get(behind.store, result)).toString(), 'newer')
  slow.waiting.shift()?.()
  await drained(behind)
  t.equal((await get(slow, result)).toString(), 'newer')
})

/** Reads from it are answered when the test says so, by what was there when they began. */
class LateReads extends ForwardingStore {
  readonly waiting: (() => void)[] = []

  override async get(digest: Digest, range: Range, call: Call): Promise<Blob> {
    const found = await super.get(digest, range, call).then(
      (blob) => blob,
      (error: StatusError) => error,
    )
    await new Promise<void>((resolve) => this.waiting.push(resolve))
    if (found instanceof StatusError) throw found
    return found
  }
}

t.test('a result uploaded while slow is asked for it stays, whatever slow answers', async (t) => {
  for (const older of ['older', undefined]) {
    for (const isRemoved of [false, true]) {
      const slow = new LateReads(new Gated(await memoryStore()))
      const { store, fast, usage, close } = await openBehind({
        folder: t.testdir({}),
        slow,
        action_result_max_age_s: 1,
      })
      const result = digestOf(Buffer.from('an action')).asKey()
      const gated = (slow as unknown as { readonly backend: Gated }).backend
      if (older !== undefined) {
        const given = put(slow, result, Buffer.from(older))
        await until(async () => gated.waiting.length === 1)
        gated.waiting.shift()?.()
        await given
      }
      const read = get(store, result).catch(() => undefined)
      await until(async () => slow.waiting.length === 1)
      const removed = isRemoved ? store.remove(result, 'unwanted', call) : undefined
      const uploaded = put(store, result, Buffer.from('newer'))
      for (let turn = 0; turn < 50; turn++) await setImmediate()
      slow.waiting.shift()?.()
      await Promise.all([read, removed, uploaded])
      for (let turn = 0; turn < 50; turn++) await setImmediate()
      t.equal((await get(fast, result)).toString(), 'newer', `${older} in slow, removed: ${isRemoved}`)
      t.equal((await get(store, result)).toString(), 'newer')
      t.equal(usage().entryCount, 1)
      await close()
    }
  }
})

t.test('a new process uploads what the killed one left, under the same keys', async (t) => {
  const folder = t.testdir()
  const slow = slowStore()
  leave(slow)
  const first = await openBehind({ folder: `${folder}/first`, slow })
  const blake = (bytes: Buffer): Digest => Digest.of(bytes, digestFunctions.SHA512)
  const [plain, other, isolated] = ['plain', 'other', 'isolated'].map((seed) => bytesOf(100_000, seed)) as [
    Buffer,
    Buffer,
    Buffer,
  ]
  const tenant = isolatedView(first.store, 'tenant é\n')
  await put(first.store, digestOf(plain), plain)
  await put(first.store, blake(other), other)
  await put(tenant, digestOf(isolated), isolated)
  await put(asKeyed(tenant), digestOf(plain), Buffer.from('a result'))
  await crashed(`${folder}/first`, `${folder}/second`)
  await first.close()
  comeBack(slow)
  const second = await openBehind({ folder: `${folder}/second`, slow })
  t.teardown(() => second.close())
  await drained(second)
  t.ok((await get(slow, digestOf(plain))).equals(plain))
  t.ok((await get(slow, blake(other))).equals(other))
  const ofTenant = isolatedView(slow, 'tenant é\n')
  t.ok((await get(ofTenant, digestOf(isolated))).equals(isolated))
  t.equal((await get(asKeyed(ofTenant), digestOf(plain))).toString(), 'a result')
  t.equal(second.usage().lostCount, 0)
})

t.test('without the option, or with another, what waited is still uploaded', async (t) => {
  const folder = t.testdir()
  const slow = slowStore()
  leave(slow)
  const first = await openBehind({ folder, slow })
  const bytes = bytesOf(1000)
  await put(first.store, digestOf(bytes), bytes)
  await first.close()
  comeBack(slow)
  const second = await openBehind({ folder, slow, acknowledge: 'slow', when_slow_is_away: 'fail' })
  await drained(second)
  await second.close()
  t.ok(slow.has(digestOf(bytes)))
  const third = await openBehind({ folder, slow, acknowledge: 'slow', when_slow_is_away: 'fail' })
  t.throws(() => third.usage(), /no queue/)
  await third.close()
})

t.test('fast evicts nothing that waits, and evicts it afterwards', async (t) => {
  const clock = new ManualClock(1e12)
  const slow = slowStore()
  leave(slow)
  const behind = await openIn(t, {
    slow,
    clock,
    maxBytes: 1_000_000,
    upload_queue: { max_bytes: 500_000, max_count: 100, max_concurrent: 4 },
  })
  const waiting = Array.from({ length: 4 }, (_, number) => bytesOf(100_000, `waiting ${number}`))
  for (const bytes of waiting) await put(behind.store, digestOf(bytes), bytes)
  const fill = async (): Promise<void> => {
    for (let number = 0; number < 20; number++) {
      const bytes = bytesOf(100_000, `other ${number}`)
      await put(behind.fast, digestOf(bytes), bytes)
    }
  }
  await fill()
  for (const bytes of waiting) t.ok(await isPresent(behind.fast, digestOf(bytes)))
  comeBack(slow)
  await drainedBy(behind, clock)
  for (const bytes of waiting) t.ok(slow.has(digestOf(bytes)))
  await fill()
  await until(async () => behind.files.usage().sizeBytes <= 1_000_000)
  for (const bytes of waiting) t.notOk(await isPresent(behind.fast, digestOf(bytes)))
})

t.test('at its bound an upload waits for slow, and is refused with words while slow is away', async (t) => {
  for (const upload_queue of [
    { max_bytes: 2500, max_count: 100, max_concurrent: 4 },
    { max_bytes: 1e9, max_count: 2, max_concurrent: 4 },
  ]) {
    const clock = new ManualClock(1e12)
    const slow = slowStore()
    leave(slow)
    const behind = await openBehind({ folder: t.testdir({}), slow, clock, upload_queue })
    const [one, two, three] = [1, 2, 3].map((seed) => bytesOf(1000, `blob ${seed}`)) as [Buffer, Buffer, Buffer]
    await Promise.all([one, two].map((bytes) => put(behind.store, digestOf(bytes), bytes)))
    const full = await put(behind.store, digestOf(three), three).catch((error: Error) => error)
    t.match(full, {
      message: /^2 blobs of 2 kB wait for the slow store, as many as upload_queue allows, and S3:/,
    })
    await rejects(t, put(behind.store, digestOf(three), three), 'RESOURCE_EXHAUSTED')
    t.notOk(await isPresent(behind.store, digestOf(three)), 'nothing is left')
    const result = digestOf(Buffer.from('an action')).asKey()
    await rejects(t, putBytes(behind.store, result, Buffer.alloc(2000), call), 'RESOURCE_EXHAUSTED')
    await put(behind.store, digestOf(one), one)
    t.pass('a blob that waits already needs no place')
    comeBack(slow)
    const error = refused()
    slow.refuses = { put: error }
    slow.isRefused = ({ key }) => key !== digestOf(three).key
    await put(behind.store, digestOf(three), three)
    t.ok(slow.has(digestOf(three)), 'slow has it before the answer')
    slow.refuses = {}
    await drainedBy(behind, clock)
    await behind.close()
  }
})

t.test(
  'a result reaches slow after all blobs that were uploaded before it, in two queues and after a crash',
  async (t) => {
    const folder = t.testdir({ cas: {}, ac: {} })
    const [slowCas, slowAc] = [slowStore(), slowStore()]
    const open = async (order: UploadOrder) => {
      const ac = await openBehind({ folder: `${folder}/ac`, slow: slowAc, order })
      const cas = await openBehind({ folder: `${folder}/cas`, slow: slowCas, order })
      order.begin()
      return { ac, cas, close: () => Promise.all([ac.close(), cas.close()]) }
    }
    const output = bytesOf(1000, 'output')
    const result = digestOf(Buffer.from('an action')).asKey()
    slowCas.refuses = { put: refused() }
    let opened = await open(new UploadOrder())
    for (let round = 0; round < 2; round++) {
      await put(opened.cas.store, digestOf(output), output)
      await put(opened.ac.store, result, Buffer.from(`result ${round}`))
      await until(async () => slowCas.calls.put > round)
      for (let turn = 0; turn < 50; turn++) await setImmediate()
      t.equal(slowAc.calls.put, 0, 'the result waits')
      await opened.close()
      opened = await open(new UploadOrder())
    }
    slowCas.refuses = {}
    await drained(opened.cas)
    await drained(opened.ac)
    t.equal((await get(slowAc, result)).toString(), 'result 1')
    await opened.close()
  },
)

t.test('a blob removed while it waits is not uploaded', async (t) => {
  const clock = new ManualClock(1e12)
  const slow = slowStore()
  slow.refuses = { put: refused() }
  const { store, usage } = await openIn(t, { slow, clock })
  const bytes = bytesOf(1000)
  await put(store, digestOf(bytes), bytes)
  await store.remove(digestOf(bytes), 'unwanted', call)
  t.equal(usage().entryCount, 0)
  slow.refuses = {}
  await pass(clock, 60)
  t.notOk(slow.has(digestOf(bytes)))
})

t.test('a blob that fast lost is told and given up, and one that slow refuses too', async (t) => {
  const clock = new ManualClock(1e12)
  const lines: string[] = []
  const log = textLog('info', (line) => lines.push(line))
  const slow = slowStore()
  leave(slow)
  const behind = await openIn(t, { slow, clock, log })
  const [lost, wrong] = [bytesOf(1000, 'lost'), bytesOf(1000, 'wrong')]
  await put(behind.store, digestOf(lost), lost)
  await put(behind.store, digestOf(wrong), wrong)
  await behind.fast.remove(digestOf(lost), 'unwanted', call)
  comeBack(slow)
  slow.refuses = { put: new StatusError('INVALID_ARGUMENT', 'too odd') }
  await drainedBy(behind, clock)
  t.match(behind.usage(), { doneCount: 0, lostCount: 2, entryCount: 0 })
  t.match(lines.join(''), /is lost: the fast store no longer has it/)
  t.match(lines.join(''), /is given up: the slow store refuses it/)
  t.match(await behind.health(), { state: 'Warning', message: /uploads lost since the start: 2/ })
})

t.test('a damaged line is told, a torn one is not, and the others are uploaded', async (t) => {
  const folder = t.testdir()
  const slow = slowStore()
  leave(slow)
  const first = await openBehind({ folder, slow })
  const blobs = Array.from({ length: 4 }, (_, number) => bytesOf(1000, `blob ${number}`))
  for (const bytes of blobs) await put(first.store, digestOf(bytes), bytes)
  await first.close()
  const path = `${folder}/content/uploads/queue`
  const text = await readFile(path, 'latin1')
  const lines = text.split('\n')
  t.equal(lines.length, 5)
  await writeFile(path, `${[lines[0], lines[1]?.replace('1000', '9999'), lines[2], lines[3]?.slice(0, 30)].join('\n')}`)
  comeBack(slow)
  const logged: string[] = []
  const second = await openBehind({ folder, slow, log: textLog('info', (line) => logged.push(line)) })
  await drained(second)
  await second.close()
  t.same(
    blobs.map((bytes) => slow.has(digestOf(bytes))),
    [true, false, true, false],
  )
  t.match(logged.join(''), /lines of the upload queue are damaged store=TEST lines=1/)
  t.match(logged.join(''), /uploads of an earlier process wait for the slow store store=TEST count=2 bytes=2000/)
})

t.test('the journal does not grow with the uploads that ended', async (t) => {
  const folder = t.testdir()
  const slow = await memoryStore()
  const behind = await openBehind({ folder, slow })
  const result = (number: number) => digestOf(Buffer.from(`action ${number}`)).asKey()
  for (let from = 0; from < 12_000; from += 200) {
    const numbers = Array.from({ length: 200 }, (_, index) => from + index)
    await Promise.all(numbers.map((number) => put(behind.store, result(number), Buffer.from('x'))))
    await drained(behind)
  }
  await behind.close()
  const { length } = await readFile(`${folder}/content/uploads/queue`)
  t.ok(length < 1_000_000, `${length} bytes, 1.7 million if each line stays`)
})
