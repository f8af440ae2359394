import { fileURLToPath } from 'node:url'
import t from 'tap'
import { KINDS } from '../../src/ledger/kinds.js'
import { attacks } from './attacks.js'
import { run } from './run.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))
const MIB = 1024 * 1024

/** What docs/operation.md says that clients can make the server hold: parked uploads are on disk, outputs in workers. */
const ELSEWHERE: readonly string[] = ['parked', 'outputs']
const sumMib = Object.entries(KINDS).reduce(
  (sum, [name, { maxBytes }]) => sum + (ELSEWHERE.includes(name) ? 0 : maxBytes / MIB),
  0,
)

t.equal(sumMib, 2560, 'the sum in docs/operation.md')

// A server for each attack, and one that answers 300 times with 2 MB: minutes on two cores with other work.
t.setTimeout(600_000)

for (const attack of attacks) {
  t.test(`${attack.name}: memory stays within its bound, and a bystander is served`, async (t) => {
    const { beforeMib, mostMib, failures, calls, p50, p99 } = await run(attack, cli, 1_500)
    const grownMib = mostMib - beforeMib
    t.ok(
      grownMib <= attack.mostMib,
      `${Math.round(grownMib)} MiB more, expected at most ${attack.mostMib} (${attack.kind})`,
    )
    t.same(failures, [], 'every call of the bystander ends well')
    t.ok(calls > 0, `${calls} small calls of the bystander: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`)
  })
}
