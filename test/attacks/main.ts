/** Prints what attacks cost a built server: `npx tsx test/attacks/main.ts [--cli dist/cli.js] [--only TEXT] [--watch SECONDS] [--threads N]`. */
import { parseArgs } from 'node:util'
import { attacks } from './attacks.js'
import { run } from './run.js'

const { values } = parseArgs({
  options: {
    cli: { type: 'string', default: 'dist/cli.js' },
    only: { type: 'string', default: '' },
    watch: { type: 'string', default: '5' },
    threads: { type: 'string', default: '1' },
  },
})

console.log('| attack | RSS before, most, after (MiB) | small calls of a bystander: p50, p99 (ms) | failed |')
console.log('|---|---|---|---|')
for (const attack of attacks) {
  if (!attack.name.includes(values.only)) continue
  const { beforeMib, mostMib, afterMib, p50, p99, calls, failures } = await run(attack, values.cli, {
    watchMs: Number(values.watch) * 1000,
    threads: Number(values.threads),
  })
  const memory = [beforeMib, mostMib, afterMib].map((mib) => Math.round(mib)).join(', ')
  const kinds = [...new Set(failures)].join(', ')
  const failed = failures.length === 0 ? 'none' : `${failures.length} (${kinds})`
  console.log(`| ${attack.name} | ${memory} | ${p50.toFixed(1)}, ${p99.toFixed(1)} of ${calls} | ${failed} |`)
}
