// For changes in: src/worker/persistent, src/worker/attempt/in-process.ts
/** Processes that are killed and stopped at any moment: no action notices. */
import t from 'tap'
import { processesOf } from '../../../src/worker/persistent/frozen.js'
import { during } from '../../until.js'
import { noWorkers, type Protocol, setUp, type ToolAction } from './set-up.js'

t.setTimeout(900_000)

const REQUESTS = 1_000
/** A wait has a minute. */
const PART = 100
const LANES = 4

let seed = 20_261_128
const draw = (below: number): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((seed / 2 ** 31) * below)
}

t.test('1,000 requests on 4 processes that are killed and stopped', { skip: noWorkers }, async (t) => {
  const { runTool, pool } = await setUp(t, { persistent: { maxProcesses: LANES } })
  let next = 0
  let [kills, stops] = [0, 0]
  const lane = async (part: number): Promise<void> => {
    for (const end = part * PART; next < end; ) {
      const index = next++
      const inputs = { [`d/i${index % 7}`]: `text ${index % 11}`, [`e${index % 3}`]: 'same' }
      const steps = [`copy d/i${index % 7} out`, `write left${index % 5} x`, 'list ls']
      const asked: ToolAction = { steps, inputs, outputs: ['out', 'ls'], protocol: index % 2 === 0 ? 'proto' : 'json' }
      const { status, exitCode, files } = await runTool(asked)
      t.match({ status, exitCode, out: files['out'] }, { status: 0, exitCode: 0, out: `text ${index % 11}` })
      const expected = [`d/`, `d/i${index % 7}`, `e${index % 3}`, `left${index % 5}`, 'out', 'params.txt', 'tool.mjs']
      t.same(files['ls']?.split('\n').sort(), expected.sort(), 'nothing of another request')
    }
  }
  let due = 5
  const harm = (): void => {
    // Some requests pass before each.
    if (next < due) return
    due = next + 5 + draw(10)
    const victims = pool.processes.flatMap(({ group }) => (group === undefined ? [] : processesOf(group, false)))
    const pid = victims[draw(victims.length)]
    if (pid === undefined) return
    const isKill = draw(3) > 0
    try {
      process.kill(pid, isKill ? 'SIGKILL' : 'SIGSTOP')
      if (isKill) kills += 1
      else stops += 1
    } catch {
      // It has just ended.
    }
  }
  for (let part = 1; part * PART <= REQUESTS; part++)
    await during(Promise.all(Array.from({ length: LANES }, () => lane(part))), harm)
  t.ok(kills > 20 && stops > 5, `${kills} kills, ${stops} stops`)
  t.ok(pool.processes.length <= LANES)
  const { counts } = pool
  t.comment(JSON.stringify(counts))
  t.ok(counts.reused > REQUESTS / 4)
})

for (const protocol of ['proto', 'json'] satisfies Protocol[]) {
  t.test(`processes that die at each byte of a request (${protocol})`, { skip: noWorkers }, async (t) => {
    const { runTool, pool } = await setUp(t)
    const fine: ToolAction = { steps: ['write out fine'], protocol }
    let survived = 0
    for (let at = 1; survived < 3; at++) {
      const { exitCode, out, process: served } = await runTool({ ...fine, startup: [`--die-at=${at}`] })
      t.same({ exitCode, out }, { exitCode: 0, out: 'fine' })
      // The request was shorter.
      if (served.process !== undefined) survived += 1
    }
    t.equal(pool.counts.fallbacks.died, pool.counts.retried)
    t.ok(pool.counts.retried > 100)
  })

  t.test(`processes that die at each byte of their answer (${protocol})`, { skip: noWorkers }, async (t) => {
    const { runTool, pool } = await setUp(t)
    const length = protocol === 'json' ? 24 : 13
    for (let at = 0; at < length; at++) {
      const { exitCode, stderr } = await runTool({ steps: ['say hello wor', 'write out x', `cut ${at}`], protocol })
      t.same({ exitCode, stderr }, { exitCode: 0, stderr: 'hello wor\n' }, `${at}`)
    }
    t.equal(pool.counts.fallbacks.died, length)
  })
}
