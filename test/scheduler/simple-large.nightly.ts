// For changes in: src/scheduler/simple
import t from 'tap'
import { Bench } from './bench.js'

t.setTimeout(120_000)

/** CPU time of this process, so other processes do not disturb the measurement. */
const cpuMs = (): number => {
  // biome-ignore lint/plugin: times of one process are compared with each other
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

t.test('100,000 queued actions: the cost of an event does not grow', async (t) => {
  const bench = new Bench({ maxQueuedActions: 100_000 })
  const queue = (count: number) => {
    for (let index = 0; index < count; index++) bench.enqueue([['os', 'linux']], { priority: index % 7 })
  }
  const cycle = (runs: number): number => {
    const begunMs = cpuMs()
    for (let run = 0; run < runs; run++) {
      const { start } = bench.of('start').at(-1) ?? {}
      bench.commands.length = 0
      bench.finish('w', start?.attemptId ?? '')
      bench.do(bench.machine.tick(bench.nowMs))
    }
    return cpuMs() - begunMs
  }
  queue(1_500)
  bench.commands.length = 0
  bench.worker('w', [['os', 'linux']], 1)
  cycle(400)
  const fewMs = cycle(500)
  const last = bench.of('start').at(-1)
  queue(99_300)
  if (last !== undefined) bench.commands.push(last)
  const manyMs = cycle(500)
  t.ok(manyMs < 20 * fewMs + 250, `${manyMs} ms instead of ${fewMs} ms for 500 runs`)
  const before = cpuMs()
  for (const {
    state: { name },
  } of [...bench.machine.operations('')].slice(-50_000))
    bench.do(bench.machine.cancel(bench.nowMs, name))
  t.ok(cpuMs() - before < 10_000, 'cancelling from the middle')
})
