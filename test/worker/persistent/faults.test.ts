import t from 'tap'
import { noWorkers, setUp, type ToolAction } from './set-up.js'

const fine: ToolAction = { steps: ['write out fine'] }

/** What a process does, and how often it is started for it. The command without it does what it says. */
const always: Readonly<Record<string, { readonly steps: readonly string[]; readonly reason: string }>> = {
  'dies before its answer': { steps: ['die-served'], reason: 'died' },
  'dies within its answer': { steps: ['say hello', 'cut 3'], reason: 'died' },
  'dies before the first byte of its answer': { steps: ['say hello', 'cut 0'], reason: 'died' },
  'answers with text': { steps: ['bad-answer Hello, world'], reason: 'garbage' },
  'prints beside its answer': { steps: ['print Warning:'], reason: 'garbage' },
  'answers another request': { steps: ['id 3'], reason: 'garbage' },
  'answers twice': { steps: ['say hello', 'twice'], reason: 'garbage' },
}

for (const protocol of ['proto', 'json'] as const) {
  for (const [name, { steps, reason }] of Object.entries(always)) {
    t.test(`a process that ${name} is no failure of the action (${protocol})`, { skip: noWorkers }, async (t) => {
      const { runTool, pool, warnings } = await setUp(t)
      await runTool({ ...fine, protocol })
      const result = await runTool({ ...{ protocol, steps: ['write out done', ...steps] } })
      t.match(result, { status: 0, exitCode: 0, out: 'done' })
      t.same(result.process, {}, 'by the command as it stands')
      t.equal(pool.counts.retried, 1, 'after one more try')
      t.match(pool.counts, { fallbacks: { [reason]: 1 }, ends: { [reason]: 2 }, started: 2 })
      t.equal(warnings.length, 2)
      const after = await runTool({ ...fine, protocol })
      t.match(after, { out: 'fine', process: { processRequest: 1 } })
    })
  }
}

t.test('a process that fails only after other requests is replaced by a new one', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  await runTool(fine)
  const result = await runTool({ steps: ['die-reused', 'facts out'] })
  t.match(result, { exitCode: 0, process: { processRequest: 1 } })
  t.match(pool.counts, { retried: 1, started: 2, ends: { died: 1 } })
  t.equal(pool.counts.fallbacks.died, 0)
})

t.test('processes that die at each byte of a request', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  for (let at = 1; at < 160; at += 16) {
    const result = await runTool({ ...fine, startup: [`--die-at=${at}`] })
    t.match(result, { exitCode: 0, out: 'fine' })
  }
  t.equal(pool.processes.length, 0)
})

t.test('a program that is no tool is run as it stands', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  const { exitCode, process } = await runTool({ ...fine, tool: '\n}}} no program\n' })
  t.not(exitCode, undefined)
  t.same(process, {})
  t.ok(pool.counts.fallbacks.died + pool.counts.fallbacks.garbage >= 1)
})

t.test('a request that runs out of time in a new process is that of the action', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  const result = await runTool({ steps: ['write out begun', 'hang'], timeoutMs: 700 })
  t.match(result, { status: 4, out: 'begun' })
  t.match(pool.counts, { retried: 0, started: 1, ends: { request: 1 } })
})

t.test('a process that hangs after other requests is replaced by a new one', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  await runTool({ ...fine, timeoutMs: 999 })
  const result = await runTool({ steps: ['hang-reused', 'write out done'], timeoutMs: 999 })
  t.match(result, { status: 0, exitCode: 0, out: 'done', process: { processRequest: 1 } })
  t.match(pool.counts, { retried: 1, ends: { late: 1 } })
})

t.test('an attempt that is killed ends its process', { skip: noWorkers }, async (t) => {
  const { start, digestOf, propertiesOf, pool } = await setUp(t)
  const controller = new AbortController()
  const hung: ToolAction = { steps: ['hang'] }
  const running = start(digestOf(hung), {
    ...{ properties: propertiesOf(hung), signal: controller.signal },
    onProgress: (stage) => stage === 2 && controller.abort(),
  })
  t.match(await running, { workerError: { code: 10 } })
  t.equal(pool.processes.length, 0)
})

t.test('the memory of a request is limited, and told', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t, { limits: { memoryBytes: 400 * 2 ** 20 } })
  const big = await runTool({ steps: ['fat 600000000', 'write out x'] })
  t.equal(big.status, 8, 'a new process that has too much is as an action that has')
  t.equal(pool.counts.retried, 0)
  const small = await runTool({ steps: ['fat 50000000', 'write out x'] })
  t.equal(small.status, 0)
  const { auxiliaryMetadata } = small.outcome.executeResponse?.result?.executionMetadata ?? {}
  t.ok(auxiliaryMetadata?.some(({ typeUrl }) => typeUrl?.endsWith('CommandUsage')))
})

t.test('an answer above the limit of printed bytes ends as that of a command', { skip: noWorkers }, async (t) => {
  const { runTool } = await setUp(t, { limits: { printedBytes: 1000 } })
  t.equal((await runTool({ steps: ['spill 1001', 'write out x'] })).status, 8)
  t.equal((await runTool({ steps: ['spill 1000', 'write out x'] })).status, 0)
})

t.test('an answer that does not fit in memory is that of the command as it stands', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t)
  const { exitCode, stderr } = await runTool({ steps: ['spill 20000000', 'write out x'] })
  t.equal(exitCode, 0)
  t.equal(stderr.length, 20_000_000)
  t.equal(pool.counts.fallbacks.garbage, 1)
})
