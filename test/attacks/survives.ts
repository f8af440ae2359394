import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import type { Attack } from './attacks.js'
import { run } from './run.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/** One test for each attack. */
export const survives = (t: Test, attacks: readonly Attack[], threads = 1): void => {
  for (const attack of attacks) {
    t.test(`${attack.name}: memory stays within its bound, and a bystander is served`, async (t) => {
      const { beforeMib, mostMib, failures, calls, p50, p99 } = await run(attack, cli, { watchMs: 1_500, threads })
      const grownMib = mostMib - beforeMib
      t.ok(
        grownMib <= attack.mostMib,
        `${Math.round(grownMib)} MiB more, expected at most ${attack.mostMib} (${attack.kind})`,
      )
      t.same(failures, [], 'every call of the bystander ends well')
      t.ok(calls > 0, `${calls} small calls of the bystander: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
    })
  }
}
