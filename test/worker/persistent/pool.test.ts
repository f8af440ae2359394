import { existsSync } from 'node:fs'
import t from 'tap'
import { ManualClock } from '../../../src/base/clock.js'
import { until } from '../../until.js'
import { sh } from '../attempt/runner-set-up.js'
import { noWorkers, setUp, type ToolAction } from './set-up.js'

const facts: ToolAction = { steps: ['facts out'] }

t.test('at most so many processes, and the least recently used ends first', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t, { persistent: { maxProcesses: 2 } })
  for (const key of ['a', 'b', 'a', 'c', 'a']) await runTool({ ...facts, key })
  t.equal(pool.processes.length, 2)
  t.match(pool.counts, { started: 3, reused: 2, ends: { room: 1 } })
  await runTool({ ...facts, key: 'b' })
  t.equal(pool.counts.started, 4, 'b had ended')
})

t.test('without a place the command runs as it stands', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t, { persistent: { maxProcesses: 1 } })
  const controller = new AbortController()
  const hung = runTool({ steps: ['hang'], key: 'a', request: { signal: controller.signal } }).catch(() => {})
  await until(() => pool.processes.length === 1)
  const both = await runTool({ ...facts, key: 'b' })
  t.same(both.process, {})
  t.equal(pool.counts.fallbacks.full, 1)
  controller.abort()
  await hung
})

t.test(
  'requests at a time have a process each, and none starts for one that is nearly free',
  { skip: noWorkers },
  async (t) => {
    const { runTool, pool } = await setUp(t)
    for (let round = 0; round < 5; round++) await Promise.all([runTool(facts), runTool(facts)])
    t.equal(pool.counts.started, 2)
    t.equal(pool.counts.reused, 8)
  },
)

t.test('a process ends after so many requests', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t, { persistent: { maxRequests: 2 } })
  for (let round = 0; round < 4; round++) await runTool(facts)
  t.match(pool.counts, { started: 2, reused: 2, ends: { requests: 2 } })
})

t.test('a process that has no request for long ends', { skip: noWorkers }, async (t) => {
  const clock = new ManualClock(1_000_000)
  const { runTool, pool } = await setUp(t, { persistent: { idleMs: 5_000, clock } })
  await runTool(facts)
  clock.advance(4_000)
  t.equal(pool.processes.length, 1)
  clock.advance(2_000)
  t.equal(pool.processes.length, 0)
  t.equal(pool.counts.ends.idle, 1)
})

t.test('the largest ends first where memory is short, and none that has a request', { skip: noWorkers }, async (t) => {
  const clock = new ManualClock()
  const { runTool, pool } = await setUp(t, { persistent: { clock, maxMemoryBytes: 350 * 2 ** 20 } })
  await runTool({ ...facts, key: 'small' })
  const fat = await runTool({ steps: ['fat 400000000', 'facts out'], key: 'fat' })
  t.equal(fat.status, 0)
  t.match(pool.counts.ends, { memory: 1 })
  t.equal(pool.processes.length, 1)
  t.equal((await runTool({ ...facts, key: 'small' })).process.processRequest, 2, 'the small one is left')
})

t.test('a process that dies between requests is replaced', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  const { out } = await runTool(facts)
  process.kill(Number((out ?? '').split(' ')[0]), 'SIGKILL')
  await pool.processes[0]?.ended
  t.equal(pool.processes.length, 0)
  t.equal((await runTool(facts)).process.processRequest, 1)
  t.match(pool.counts, { retried: 0, ends: { died: 1 } })
})

t.test('a process uses no time between requests', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  await runTool({
    ...facts,
    tool: '\nsetInterval(() => { const until = Date.now() + 5; while (Date.now() < until); }, 1)\n',
  })
  const [idle] = pool.processes
  const before = idle?.usage()
  for (let turn = 0; turn < 20; turn++) await runTool({ ...facts, key: 'other' })
  t.equal(idle?.usage()?.userMs, before?.userMs)
})

t.test('a process that a command leaves behind is found beside one that stays up', { skip: noWorkers }, async (t) => {
  const { runTool, run, text, leftovers } = await setUp(t)
  await runTool(facts)
  const { result } = await run(sh('setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!'))
  const pid = text(result?.stdoutDigest as never).trim()
  await until(() => {
    leftovers.look()
    return !existsSync(`/proc/${pid}`)
  })
  t.equal((await runTool(facts)).process.processRequest, 2)
})
