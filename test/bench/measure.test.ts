import t from 'tap'
import type { RateCase } from '../../bench/case.js'
import { type Contender, measure } from '../../bench/measure.js'
import { NO_USAGE } from '../../bench/server/usage.js'

const subject: RateCase = {
  kind: 'rate',
  name: 'a case',
  unit: 'op',
  unitsPerRequest: 2,
  requests: { least: 10, most: 10 },
  run: async () => ({ seconds: 1, requests: 10, latenciesMs: [] }),
  limits: [],
}

const pace = { runMs: 1, warmUp: { runMs: 1, leastMs: 0, mostMs: 0 } }
const meter = { begin: async () => {}, end: async () => ({ ...NO_USAGE, cpuMicros: 1000 }) }

/** A case with these durations, in seconds: first the warm-up, then each round. */
const side = (name: string, seconds: readonly number[], log: string[], isGuest = false): Contender => {
  let at = 0
  return {
    name,
    isGuest,
    meter,
    setUp: async () => void log.push(`${name} is set up`),
    run: async (requests) => {
      log.push(name)
      return { seconds: seconds[at++] ?? Number.NaN, requests, latenciesMs: [1, 2, 30] }
    },
  }
}

t.test('sides alternate and change places, and a ratio is one of the same round', async (t) => {
  const log: string[] = []
  const contenders = [side('ours', [9, 1, 2, 4], log), side('it', [9, 2, 2, 1], log)]
  const { sides, requestsPerRound, failures } = await measure(subject, [async () => contenders], { rounds: 3, pace })
  t.strictSame(log, ['ours is set up', 'it is set up', 'ours', 'it', ...['ours', 'it', 'it', 'ours', 'ours', 'it']])
  t.equal(requestsPerRound, 10)
  t.strictSame(failures, [])
  const [ours, it] = sides
  t.equal(ours?.ratio, undefined)
  t.strictSame(ours?.rate, { median: 10, low: 5, high: 20 }, 'two units a request')
  t.strictSame(it?.ratio, { median: 1, low: 0.25, high: 2 }, '20/10, 10/10, 5/20: not the ratio of the medians')
  t.equal(it?.cpuMicros, 50)
  t.equal(it?.p50Ms, 2)
  t.equal(it?.p99Ms, 30)
  t.equal(it?.rounds.length, 3, 'the warm-up is no round')
  t.strictSame(it?.warmUpCpuMicros, [50])
})

t.test('a build is warmed up once more after its whole heap was collected, and another server only once', async (t) => {
  const log: string[] = []
  const collecting = (name: string): Contender => ({
    ...side(name, [], log),
    collect: async () => void log.push(`${name} collects`),
  })
  const contenders = [collecting('ours'), side('another', [], log)]
  await measure(subject, [async () => contenders], { rounds: 1, pace: { ...pace, isCollecting: true } })
  t.strictSame(log.slice(2), ['ours', 'ours collects', 'ours', 'another', 'ours', 'another'])
  log.length = 0
  await measure(subject, [async () => contenders], { rounds: 0, pace })
  t.strictSame(log.slice(2), ['ours', 'another'], 'only where builds are compared')
})

t.test(
  'of two processes of each side the second pair begins with the other one, and rounds of both count',
  async (t) => {
    const log: string[] = []
    const pair = (number: number, ours: number[], it: number[]) => async () => {
      log.push(`start ${number}`)
      return [side('ours', ours, log), side('it', it, log)]
    }
    const lineups = [pair(1, [9, 1], [9, 1]), pair(2, [9, 4], [9, 1])]
    const { sides } = await measure(subject, lineups, { rounds: 1, pace })
    const firstRun = ['start 1', 'ours is set up', 'it is set up', 'ours', 'it', 'ours', 'it']
    t.strictSame(log, [...firstRun, 'start 2', 'ours is set up', 'it is set up', 'it', 'ours', 'it', 'ours'])
    const [ours, it] = sides
    t.strictSame(ours?.rate, { median: 12.5, low: 5, high: 20 })
    t.strictSame(it?.ratio, { median: 0.625, low: 0.25, high: 1 })
    t.strictSame(it?.warmUpCpuMicros, [50, 50])
  },
)

const failing = (contender: Contender, when: 'setUp' | 'run', isGuest: boolean): Contender => ({
  ...contender,
  isGuest,
  [when]: () => Promise.reject(new Error('cannot')),
})

t.test('a guest that fails is named, and the others are measured', async (t) => {
  for (const when of ['setUp', 'run'] as const) {
    const contenders = [side('ours', [1, 1], []), failing(side('guest', [], []), when, true), side('it', [1, 1], [])]
    const { sides, failures } = await measure(subject, [async () => contenders], { rounds: 1, pace })
    t.strictSame(failures, [{ name: 'guest', reason: 'cannot' }])
    t.strictSame(
      sides.map(({ name }) => name),
      ['ours', 'it'],
    )
  }
})

t.test('a failure of ours or of a limit is one of the case', async (t) => {
  const ours = side('ours', [1, 1], [])
  await t.rejects(measure(subject, [async () => [failing(ours, 'run', false)]], { rounds: 1, pace }), {
    message: 'cannot',
  })
  await t.rejects(measure(subject, [async () => [ours, failing(ours, 'run', false)]], { rounds: 1, pace }), {
    message: 'cannot',
  })
})
