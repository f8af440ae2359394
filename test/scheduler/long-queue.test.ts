/** A queue of very many actions: what operators and readers ask about it takes a bounded part of each turn. */
import t from 'tap'
import { explained, waitingIn } from '../../src/pages/server/operations.js'
import { listedOf } from '../../src/scheduler/listed.js'
import {
  MAX_LISTED_QUEUED,
  type QueuedAction,
  type QueuedOverview,
  type SchedulerOverview,
} from '../../src/scheduler/scheduler.js'
import { overview } from '../../src/scheduler/simple/overview.js'
import { Bench } from './bench.js'

const overviewOf = (bench: Bench): SchedulerOverview => overview(bench.machine, [])

const cpusOf = (bench: Bench): string[] => Array.from(overviewOf(bench).queue, (one) => one.overview().operation)

t.test('the first of each requirement is listed before the second of any', (t) => {
  const bench = new Bench()
  const of = (cpu: string) => bench.enqueue([['cpu', cpu]])
  const [one, two, three] = [of('1'), of('1'), of('1')]
  const [other, another] = [of('2'), of('3')]
  t.same(cpusOf(bench), [one, other, another, two, three])
  t.end()
})

t.test('a list that is read while actions come and go has each once and ends', (t) => {
  const bench = new Bench()
  for (let at = 0; at < 300; at++) bench.enqueue([['cpu', String(at % 7)]])
  const read: string[] = []
  for (const one of overviewOf(bench).queue) {
    read.push(one.overview().operation)
    // One more of each kind for each that is read: a reader who follows would never end.
    bench.enqueue([['cpu', String(read.length % 7)]])
    bench.enqueue([['cpu', String(1000 + read.length)]])
    if (read.length === 3) bench.do(bench.machine.cancel(bench.nowMs, 'operations/10'))
  }
  t.equal(read.length, 300)
  t.equal(new Set(read).size, 300)
  t.notOk(read.includes('operations/10'), 'what was cancelled before it was reached')
  t.end()
})

t.test('what no worker can run is counted without a look at each action', (t) => {
  const bench = new Bench()
  bench.worker('w', [['cpu', '2']], 1)
  t.equal(overviewOf(bench).stuck(), undefined)
  for (const cpu of ['2', '2', '64', '64', '96']) bench.enqueue([['cpu', cpu]])
  t.match(overviewOf(bench).stuck(), { count: 3, reason: /no worker can run it: .*64/ })
  t.end()
})

/** `count` actions of two builds, and how many of them were read and explained. */
const madeUp = (count: number) => {
  const seen = { read: 0, explained: 0 }
  function* actions(): Generator<QueuedAction> {
    for (let at = 0; at < count; at++) {
      seen.read += 1
      const facts = { instance: 'main', action: `${at}-1`, invocation: at === count - 1 ? 'late' : 'early' }
      const waitsFor = (): string => {
        seen.explained += 1
        return 'a place'
      }
      const about: QueuedOverview = { ...facts, operation: `o/${at}`, priority: 0, attempts: 0, queuedMs: at, waitsFor }
      yield { ...facts, overview: () => about }
    }
  }
  const queue = { [Symbol.iterator]: actions }
  const all = { workers: [], queued: count, stuck: () => undefined, failed: [], demand: [], queue }
  return { seen, overviews: new Map<string, SchedulerOverview>([['MAIN', all]]), queue }
}

t.test('a page about a million queued actions reads them in turns, counts all and keeps the first', async (t) => {
  const { seen, overviews } = madeUp(1_000_000)
  const reading = waitingIn(overviews, () => true)
  t.ok(seen.read < 1_000_000, `${seen.read} read in the first turn`)
  const { listed, count } = await reading
  t.equal(count, 1_000_000)
  t.equal(listed.length, MAX_LISTED_QUEUED)
  t.equal(seen.explained, 0, 'nobody looked at the workers for what is not shown')
  t.match(await explained(listed.slice(0, 100)), [{ sinceMs: 0, waitsFor: 'a place' }])
  t.equal(seen.explained, 100)
  const { listed: found } = await waitingIn(overviews, ({ invocation }) => invocation === 'late')
  t.match(found, [{ action: '999999-1' }], 'the actions of one build are found wherever they are')
})

t.test('a list for a program has at most the first 2,000, and nobody reads on', async (t) => {
  const { seen, queue } = madeUp(1_000_000)
  t.equal((await listedOf(queue)).length, MAX_LISTED_QUEUED)
  t.equal(seen.read, MAX_LISTED_QUEUED + 1)
})
