import t from 'tap'
import { Code, StatusError } from '../../../src/base/status-error.js'
import { Retry, type RetryOptions } from '../../../src/store/remote/retry.js'
import { rejects } from '../suite.js'

const OPTIONS: RetryOptions = { max_retries: 3, delay: 0.5, jitter: 0, budget_s: 60 }
const unavailable = new StatusError('UNAVAILABLE', 'gone')
const { signal } = new AbortController()

/** A retry whose waits take no time and are recorded, in milliseconds. */
const retryOf = (options: Partial<RetryOptions> = {}, random = 0.5) => {
  const waits: number[] = []
  let nowMs = 1000
  const retry = new Retry(
    { ...OPTIONS, ...options },
    {
      random: () => random,
      now: () => nowMs,
      wait: async (ms) => {
        waits.push(ms)
        nowMs += ms
      },
    },
  )
  return { retry, waits }
}

/** The number of failures until there is no retry. */
const failuresUntilGivenUp = async (retry: Retry, error: StatusError): Promise<number> => {
  const attempts = retry.attempts()
  for (let failures = 1; failures < 100; failures++) {
    const isOver = await attempts.failed(error, signal).then(
      () => false,
      () => true,
    )
    if (isOver) return failures
  }
  return Number.POSITIVE_INFINITY
}

void t.test('waits twice the delay and then twice as long each time', async (t) => {
  const { retry, waits } = retryOf()
  t.equal(await failuresUntilGivenUp(retry, unavailable), 4)
  t.same(waits, [1000, 2000, 4000])
})

void t.test('jitter makes a wait longer or shorter by half of it', async (t) => {
  for (const [random, expected] of [
    [0, 750],
    [0.5, 1000],
    [1, 1250],
  ] as const) {
    const { retry, waits } = retryOf({ max_retries: 1, jitter: 0.5 }, random)
    await failuresUntilGivenUp(retry, unavailable)
    t.same(waits, [expected], `random ${random}`)
  }
})

void t.test('no attempt begins after the budget, however many are left', async (t) => {
  const { retry, waits } = retryOf({ max_retries: 50, budget_s: 10 })
  t.equal(await failuresUntilGivenUp(retry, unavailable), 4)
  t.same(waits, [1000, 2000, 4000], 'the next would have begun after 15 s')
  const unlimited = retryOf({ max_retries: 50, budget_s: 0 })
  t.equal(await failuresUntilGivenUp(unlimited.retry, unavailable), 51)
  t.ok(Math.max(...unlimited.waits) < 2 ** 31, 'and no wait is more than a timer can be')
})

void t.test('permanent failures are not retried', async (t) => {
  const names = Object.keys(Code) as (keyof typeof Code)[]
  const retried = []
  for (const name of names) {
    const { retry } = retryOf({ max_retries: 1 })
    if ((await failuresUntilGivenUp(retry, new StatusError(name, 'so it is'))) === 2) retried.push(name)
  }
  t.same(retried, [
    'CANCELLED',
    'UNKNOWN',
    'DEADLINE_EXCEEDED',
    'RESOURCE_EXHAUSTED',
    'ABORTED',
    'INTERNAL',
    'UNAVAILABLE',
    'DATA_LOSS',
  ])
  const { retry } = retryOf({ max_retries: 1, retry_on_errors: ['NotFound', 'DeadlineExceeded'] })
  t.equal(await failuresUntilGivenUp(retry, new StatusError('NOT_FOUND', 'not yet')), 2)
  t.equal(await failuresUntilGivenUp(retry, new StatusError('DEADLINE_EXCEEDED', 'slow')), 2)
  t.equal(await failuresUntilGivenUp(retry, unavailable), 1, 'what is not listed is not retried')
})

void t.test('the last failure is reported, with the number of attempts', async (t) => {
  const { retry } = retryOf({ max_retries: 1 })
  const attempts = retry.attempts()
  await attempts.failed(new StatusError('INTERNAL', 'first'), signal)
  await t.rejects(attempts.failed(new StatusError('UNAVAILABLE', 'second'), signal), {
    code: Code.UNAVAILABLE,
    message: 'second (tried 2 times)',
  })
})

void t.test('a call that ends while it waits is CANCELLED at once', async (t) => {
  const retry = new Retry({ ...OPTIONS, delay: 1000, budget_s: 0 })
  const controller = new AbortController()
  const waiting = retry.attempts().failed(unavailable, controller.signal)
  controller.abort()
  await rejects(t, waiting, 'CANCELLED')
  await rejects(t, retry.attempts().failed(unavailable, controller.signal), 'CANCELLED')
})
