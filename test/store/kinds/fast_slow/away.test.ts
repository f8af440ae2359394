import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { type CodeName, StatusError } from '../../../../src/base/status-error.js'
import type { FastSlowOptions } from '../../../../src/config/config.js'
import { textLog } from '../../../../src/log/log.js'
import { internalCall } from '../../../../src/rpc/call.js'
import { fastSlow } from '../../../../src/store/kinds/fast_slow/kind.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put } from '../../blobs.js'
import { buildStore, given, memoryStore, tierDefaults } from '../../build.js'
import { ContractDouble } from '../../double.js'
import { rejects, storeSuite } from '../../suite.js'

const refused = (code: CodeName = 'UNAVAILABLE') => new StatusError(code, 'S3: nobody listens there (ECONNREFUSED)')

/** Two tiers that serve fast while slow is away, and what they log. */
const setUp = async (options: Partial<FastSlowOptions> = {}) => {
  const clock = new ManualClock(1e12)
  const lines: string[] = []
  const log = textLog('info', (line) => lines.push(line.replace(/^\S+ /, '').trim()), clock.now.bind(clock))
  const fast = await memoryStore()
  const slow = new ContractDouble({ properties: { extendsLifetimes: true } })
  const store = await buildStore(
    fastSlow,
    { ...tierDefaults, fast: given, slow: given, when_slow_is_away: 'serve_fast', ...options },
    { children: { fast, slow }, clock, log },
  )
  const away = (error = refused()): void => {
    slow.refuses = { findMissing: error, get: error, put: error, putAll: error, remove: error }
    slow.status = { state: 'Failed', message: 'no connection', error: error.message }
  }
  const back = (): void => {
    slow.refuses = {}
    slow.status = { state: 'Ok', message: 'it works' }
  }
  return { clock, lines, fast, slow, store, away, back, logged: { ...call, log } }
}

const state = async (store: Awaited<ReturnType<typeof setUp>>['store']) => store.health(internalCall())

/** Time in which a double can answer after each second. */
const pass = async (clock: ManualClock, seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second++) {
    clock.advance(1000)
    for (let turn = 0; turn < 5; turn++) await setImmediate()
  }
}

storeSuite(t, {
  name: 'fast_slow that serves fast while slow is away',
  open: async () => ({ store: (await setUp()).store, close: async () => {} }),
  isPersistent: false,
  isBrief: true,
})

t.test('S3 is refused: lookups, reads and action results come from the disk, the rest is a miss', async (t) => {
  for (const code of ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'PERMISSION_DENIED', 'INTERNAL'] as const) {
    const { slow, store, away, fast } = await setUp()
    const [both, slowOnly] = [bytesOf(100_000, 'both'), bytesOf(100_000, 'slow only')]
    const result = digestOf(Buffer.from('an action')).asKey()
    await put(store, digestOf(both), both)
    await put(slow, digestOf(slowOnly), slowOnly)
    await put(store, result, Buffer.from('a result'))
    away(refused(code))
    t.ok(await isPresent(store, digestOf(both)), `${code}: present`)
    t.ok((await get(store, digestOf(both))).equals(both), `${code}: read`)
    t.equal((await get(store, result)).toString(), 'a result', `${code}: result`)
    t.notOk(await isPresent(store, digestOf(slowOnly)), `${code}: what slow alone has is missing`)
    await rejects(t, get(store, digestOf(slowOnly)), 'NOT_FOUND')
    await rejects(t, get(store, digestOf(slowOnly), { offset: 10, limit: 10 }), 'NOT_FOUND')
    await rejects(t, put(store, digestOf(slowOnly), slowOnly), code)
    t.notOk(await isPresent(fast, digestOf(slowOnly)), `${code}: no upload is acknowledged`)
  }
})

t.test('without the option calls fail as before', async (t) => {
  const { slow, store, away } = await setUp({ when_slow_is_away: 'fail' })
  const bytes = bytesOf(1000)
  await put(slow, digestOf(bytes), bytes)
  away()
  await rejects(t, isPresent(store, digestOf(bytes)), 'UNAVAILABLE')
  await rejects(t, get(store, digestOf(bytes)), 'UNAVAILABLE')
})

t.test('an answer about the blob or the caller is not an outage', async (t) => {
  const { slow, store, lines } = await setUp()
  const bytes = bytesOf(1000)
  await put(slow, digestOf(bytes), bytes)
  for (const code of ['DATA_LOSS', 'INVALID_ARGUMENT', 'OUT_OF_RANGE'] as const) {
    slow.refuses = { get: refused(code), findMissing: refused(code) }
    await rejects(t, get(store, digestOf(bytes)), code)
  }
  t.same(lines, [])
})

t.test('slow hangs: after seconds its callers get the answer of fast, and the next ones do not wait', async (t) => {
  const { clock, slow, store, fast } = await setUp()
  const [near, far] = [bytesOf(1000, 'near'), bytesOf(1000, 'far')]
  await put(fast, digestOf(near), near)
  slow.hangs = 'findMissing'
  slow.refuses.health = refused()
  const asked = Promise.all([isPresent(store, digestOf(near)), isPresent(store, digestOf(far))])
  await until(async () => slow.calls.findMissing === 2)
  clock.advance(5000)
  t.equal(slow.calls.health, 0, 'not yet')
  clock.advance(1000)
  t.same(await asked, [true, false])
  t.ok(await isPresent(store, digestOf(near)))
  t.equal(slow.calls.findMissing, 2, 'nobody asks it any more')
})

t.test('a probe that hangs counts as a failure', async (t) => {
  const { clock, slow, store } = await setUp()
  slow.hangs = 'health'
  await state(store)
  clock.advance(5000)
  await until(async () => (await state(store)).state === 'Warning')
  t.match(await state(store), { message: /no answer to a probe in 5 s/ })
})

t.test('an outage is one line a minute with a count, without a stack, and health says since when', async (t) => {
  const { clock, lines, store, away, back, slow, fast, logged } = await setUp({ action_result_max_age_s: 60 })
  const bytes = bytesOf(1000)
  const result = digestOf(Buffer.from('an action')).asKey()
  await put(fast, digestOf(bytes), bytes)
  await put(fast, result, bytes)
  t.match(await state(store), { state: 'Ok' })
  away()
  const absent = digestOf(Buffer.from('absent'))
  const each = async (): Promise<void> => {
    await isPresent(store, digestOf(bytes))
    await get(store, result)
    await store.get(absent, { offset: 0, limit: 1000 }, logged).catch(() => {})
  }
  await each()
  await until(async () => (await state(store)).state === 'Warning')
  const since = new Date(clock.now()).toISOString()
  t.match(await state(store), { message: `the slow store is away since ${since}, fast answers alone: S3:` })
  for (let count = 0; count < 100; count++) await each()
  t.equal(lines.length, 1, lines.join('\n'))
  t.match(
    lines[0],
    /^warn {2}the slow store (failed|is away): the fast store answers alone store=TEST .*calls=\d+ reason="S3: nobody/,
  )
  t.notMatch(lines[0], /\n|at /)
  await pass(clock, 61)
  t.equal(lines.length, 2, lines.join('\n'))
  t.match(lines[1], /the slow store is away: .* forS=6\d calls=30\d /)
  back()
  const asked = slow.calls.findMissing
  await pass(clock, 9)
  t.match(await state(store), { state: 'Ok' })
  t.match(lines.at(-1), /^info {2}the slow store works again store=TEST awayForS=\d+/)
  await isPresent(store, digestOf(bytes))
  t.equal(slow.calls.findMissing, asked + 1, 'slow decides again')
})

t.test('slow refuses reads: fast, which works, is not blamed', async (t) => {
  const { lines, store, away, logged } = await setUp({ when_slow_is_away: 'fail' })
  away()
  for (let count = 0; count < 30; count++) {
    const digest = digestOf(Buffer.from(`blob ${count}`))
    await rejects(t, store.get(digest, { offset: 0, limit: 1000 }, logged), 'UNAVAILABLE')
  }
  t.same(lines, [])
})

const linesOf = async (t: Test, refuse: 'put' | 'get', code: CodeName): Promise<string[]> => {
  const clock = new ManualClock(1e12)
  const lines: string[] = []
  const log = textLog('info', (line) => lines.push(line), clock.now.bind(clock))
  const fast = new ContractDouble()
  const slow = await memoryStore()
  const store = await buildStore(
    fastSlow,
    { ...tierDefaults, fast: given, slow: given },
    { children: { fast, slow }, clock, log },
  )
  fast.refuses = { [refuse]: new StatusError(code, 'the disk is full') }
  for (let count = 0; count < 30; count++) {
    const bytes = bytesOf(1000, `blob ${count}`)
    await put(store, digestOf(bytes), bytes)
    t.ok((await get(store, digestOf(bytes))).equals(bytes))
  }
  clock.advance(60_000)
  return lines
}

t.test('a fast store that fails is two lines a minute, not one for each blob', async (t) => {
  const lines = await linesOf(t, 'put', 'RESOURCE_EXHAUSTED')
  t.match(lines.join(''), /the fast store did not take a blob digest=/)
  t.match(lines.join(''), /the fast store did not take a blob: more of these were not written count=29/)
  t.ok(lines.length <= 4, lines.join(''))
  t.match((await linesOf(t, 'get', 'RESOURCE_EXHAUSTED')).at(-1), /the fast store failed to read: .* count=29/)
})

t.test('a fast store that lost a blob, or that a caller left, is no line', async (t) => {
  for (const code of ['NOT_FOUND', 'CANCELLED'] as const) t.same(await linesOf(t, 'put', code), [], code)
})
