import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import t from 'tap'
import { Code, StatusError } from '../../../src/base/status-error.js'
import type { Part } from '../../../src/store/remote/remote-source.js'
import { Requests, type RequestsOptions } from '../../../src/store/remote/requests.js'
import { collect } from '../../../src/stream/collect.js'
import { bytesOf, call } from '../blobs.js'
import { rejects } from '../suite.js'

const requestsWith = (options: Partial<RequestsOptions> = {}, max_retries = 3): Requests =>
  new Requests({
    backend: 'the backend',
    retry: { max_retries, delay: 0, jitter: 0, budget_s: 0 },
    maxConcurrent: 0,
    timeoutMs: 0,
    failureOf: StatusError.from,
    ...options,
  })

const lost = new StatusError('UNAVAILABLE', 'lost')

void t.test('a failed request is retried, unless its source was consumed', async (t) => {
  let attempts = 0
  const flaky = async (): Promise<string> => {
    attempts += 1
    if (attempts < 3) throw lost
    return 'done'
  }
  t.equal(await requestsWith().run(call, flaky), 'done')
  t.equal(attempts, 3)
  attempts = 0
  await rejects(t, requestsWith().run(call, flaky, { isRepeatable: () => false }), 'UNAVAILABLE')
  t.equal(attempts, 1)
})

void t.test('after a lost connection the next is tried once the others that were lost have been noticed', async (t) => {
  let isNoticed = false
  const closed = async (): Promise<string> => {
    if (isNoticed) return 'done'
    globalThis.setImmediate(() => {
      isNoticed = true
    })
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
  }
  t.equal(await requestsWith({ failureOf: () => lost }, 0).run(call, closed), 'done')
})

void t.test('a backend that does not answer costs no more than the deadline, and no caller waits for it', async (t) => {
  let heard: AbortSignal | undefined
  const requests = requestsWith({ timeoutMs: 5, maxConcurrent: 1 }, 0)
  const silent = (signal: AbortSignal): Promise<never> => {
    heard = signal
    return new Promise(() => {})
  }
  await t.rejects(requests.run(call, silent), {
    code: Code.DEADLINE_EXCEEDED,
    message: 'the backend did not answer within 5 ms',
  })
  t.equal(heard?.aborted, true, 'the attempt is told to end')
  t.equal(requests.underWay, 0, 'and holds no slot')
})

void t.test('concurrent requests are limited, and served in order', async (t) => {
  const requests = requestsWith({ maxConcurrent: 3 })
  const order: number[] = []
  let underWay = 0
  let most = 0
  const work = (i: number) => async (): Promise<void> => {
    order.push(i)
    underWay += 1
    most = Math.max(most, underWay)
    await setImmediate()
    underWay -= 1
    if (i % 5 === 0) throw new StatusError('NOT_FOUND', 'absent')
  }
  await Promise.allSettled(Array.from({ length: 40 }, (_, i) => requests.run(call, work(i))))
  t.equal(most, 3)
  t.same(
    order,
    [...order].sort((a, b) => a - b),
  )
  t.equal(requests.underWay, 0)
})

void t.test('a caller that gives up leaves the queue for slots', async (t) => {
  const requests = requestsWith({ maxConcurrent: 1 })
  const first = new AbortController()
  const hanging = requests.run({ signal: first.signal }, () => new Promise<never>(() => {}))
  const second = new AbortController()
  const waiting = requests.run({ signal: second.signal }, async () => 'never')
  const third = requests.run(call, async () => 'third')
  second.abort()
  await rejects(t, waiting, 'CANCELLED')
  first.abort()
  await rejects(t, hanging, 'CANCELLED')
  t.equal(await third, 'third')
  t.equal(requests.underWay, 0)
})

void t.test('requests beyond the bound of the queue are rejected', async (t) => {
  const requests = requestsWith({ maxConcurrent: 1 })
  const controller = new AbortController()
  const all = Array.from({ length: 10_050 }, () =>
    requests.run({ signal: controller.signal }, () => new Promise<never>(() => {})),
  )
  const settled = Promise.allSettled(all)
  await setImmediate()
  controller.abort()
  const codes = new Map<number, number>()
  for (const outcome of await settled) {
    const code = outcome.status === 'rejected' ? outcome.reason.code : 0
    codes.set(code, (codes.get(code) ?? 0) + 1)
  }
  t.same(codes.get(Code.RESOURCE_EXHAUSTED), 49)
  t.same(codes.get(Code.CANCELLED), 10_001)
})

void t.test('a call with many concurrent requests causes no warning about listeners', async (t) => {
  const warnings: string[] = []
  const hear = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', hear)
  t.teardown(() => process.off('warning', hear))
  const requests = requestsWith({ maxConcurrent: 20 })
  const [underWay, waiting] = [new AbortController(), new AbortController()]
  const never = () => new Promise<never>(() => {})
  const reads = [underWay, waiting].flatMap(({ signal }) =>
    Array.from({ length: 20 }, () => requests.read({ signal }, 0, never)),
  )
  const settled = Promise.allSettled(reads)
  await setImmediate()
  for (const controller of [waiting, underWay]) controller.abort()
  t.ok((await settled).every(({ status }) => status === 'rejected'))
  await setImmediate()
  t.same(warnings, [])
})

/** Returns `bytes` from a position in chunks, and fails at each of `faults` once. */
class Flaky {
  opened = 0
  closed = 0
  readonly #bytes: Buffer
  readonly #faults: { at: number; how: 'throws' | 'ends' | 'refuses' }[]
  readonly #chunkBytes: number

  constructor(bytes: Buffer, faults: { at: number; how: 'throws' | 'ends' | 'refuses' }[], chunkBytes: number) {
    this.#bytes = bytes
    this.#faults = [...faults].sort((a, b) => a.at - b.at)
    this.#chunkBytes = chunkBytes
  }

  readonly open = async (position: number): Promise<Part> => {
    if (this.#faults[0]?.how === 'refuses' && this.#faults[0].at <= position) {
      this.#faults.shift()
      throw lost
    }
    this.opened += 1
    return { chunks: this.#chunks(position), end: this.#bytes.length }
  }

  async *#chunks(position: number): AsyncGenerator<Buffer> {
    try {
      for (let at = position; at < this.#bytes.length; ) {
        const [fault] = this.#faults
        if (fault !== undefined && fault.at <= at) {
          this.#faults.shift()
          if (fault.how === 'ends') return
          throw lost
        }
        const end = Math.min(at + this.#chunkBytes, fault === undefined ? Number.POSITIVE_INFINITY : fault.at)
        yield this.#bytes.subarray(at, end)
        at = Math.min(end, this.#bytes.length)
      }
    } finally {
      this.closed += 1
    }
  }
}

void t.test('a read that is lost repeatedly returns every byte once', async (t) => {
  const faults = fc.array(
    fc.record({
      at: fc.nat(50_000),
      how: fc.constantFrom('throws' as const, 'ends' as const, 'refuses' as const),
    }),
    { maxLength: 6 },
  )
  const holds = fc.asyncProperty(
    faults,
    fc.nat(50_000),
    fc.integer({ min: 1, max: 20_000 }),
    async (faults, from, cut) => {
      const bytes = bytesOf(50_000)
      const flaky = new Flaky(bytes, faults, cut + 50)
      const requests = requestsWith({ maxConcurrent: 1 }, 10)
      const source = await requests.read(call, from, flaky.open)
      const got = await collect([source], { maxBytes: Number.POSITIVE_INFINITY, signal: call.signal })
      return (
        got.equals(bytes.subarray(from)) &&
        source.end === bytes.length &&
        flaky.opened - flaky.closed <= 0 &&
        requests.underWay === 0
      )
    },
  )
  await t.resolves(fc.assert(holds, { numRuns: 60 }))
})

void t.test('a read without progress fails with the last error after the allowed attempts', async (t) => {
  const bytes = bytesOf(1000)
  const faults = Array.from({ length: 9 }, () => ({ at: 400, how: 'throws' as const }))
  const requests = requestsWith({ maxConcurrent: 1 }, 2)
  const source = await requests.read(call, 0, new Flaky(bytes, faults, 100).open)
  const got = collect([source], { maxBytes: 10_000, signal: call.signal })
  await t.rejects(got, { code: Code.UNAVAILABLE, message: 'lost (tried 3 times)' })
  t.equal(requests.underWay, 0)
})

void t.test('NOT_FOUND comes before there is a stream', async (t) => {
  const requests = requestsWith({ maxConcurrent: 1 })
  const absent = async (): Promise<Part> => {
    throw new StatusError('NOT_FOUND', 'absent')
  }
  await rejects(t, requests.read(call, 0, absent), 'NOT_FOUND')
  t.equal(requests.underWay, 0)
})

void t.test('no more bytes than announced are returned', async (t) => {
  const requests = requestsWith({}, 0)
  const open = async (): Promise<Part> => ({
    end: 5,
    chunks: (async function* () {
      yield Buffer.from('abc')
      yield Buffer.from('defg')
    })(),
  })
  const source = await requests.read(call, 0, open)
  const seen: Buffer[] = []
  source.on('data', (chunk: Buffer) => seen.push(chunk))
  const error = await new Promise<unknown>((resolve) => source.once('error', resolve))
  t.match(error, { code: Code.UNAVAILABLE, message: 'the answer went on at byte 7 of 5' })
  t.equal(Buffer.concat(seen).toString(), 'abc')
})

void t.test('a cancelled read closes what it opened, even if that opens later', async (t) => {
  const bytes = bytesOf(300_000)
  const flaky = new Flaky(bytes, [], 1000)
  const requests = requestsWith({ maxConcurrent: 1 })
  const source = await requests.read(call, 0, flaky.open)
  source.read()
  await setImmediate()
  source.destroy()
  await setImmediate()
  t.equal(flaky.closed, 1)
  t.equal(requests.underWay, 0)

  let isGivenUp = false
  let answer: (part: Part) => void = () => {}
  const controller = new AbortController()
  const late = requests.read({ signal: controller.signal }, 0, () => new Promise((resolve) => (answer = resolve)))
  await setImmediate()
  controller.abort()
  await rejects(t, late, 'CANCELLED')
  answer({
    chunks: {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise(() => {}),
        return: async () => {
          isGivenUp = true
          return { done: true, value: undefined }
        },
      }),
    },
  })
  await setImmediate()
  t.ok(isGivenUp)
  t.equal(requests.underWay, 0)
})

void t.test('a read of a call that has already ended waits for no answer', async (t) => {
  const requests = requestsWith()
  const controller = new AbortController()
  const reading = requests.read({ signal: controller.signal }, 0, () => new Promise<Part>(() => {}))
  controller.abort()
  await rejects(t, reading, 'CANCELLED')
  t.equal(requests.underWay, 0)
})
