import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { mutatedServer } from '../mutated-server.js'
import { Progress } from './progress.js'
import { reportOf } from './report.js'
import { faultOf, keyOf } from './seeded.js'
import { survey } from './survey.js'
import { fateOf } from './trial.js'

const USAGE = `usage: npx tsx conformance/mutate/seeded/main.ts grpc://HOST:PORT [options]

tries seeded faults before a correct server with the instances of test/conformance/mutations.json5, and writes
conformance/seeded-mutations.md

  --count N           faults to draw (default: 1000)
  --first-seed N      the first of their seeds (default: 1)
  --progress FILE     keeps what is known, and goes on from there
  --time-limit S      stops after so many seconds, to be gone on with (default: 3600)
  --patience FACTOR   every deadline times this, for a machine with other work (default: 2)
  --match REGEXP      only faults whose name matches; tells, and writes no report
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: 'string', default: '1000' },
    'first-seed': { type: 'string', default: '1' },
    progress: { type: 'string' },
    'time-limit': { type: 'string', default: '3600' },
    patience: { type: 'string', default: '2' },
    match: { type: 'string' },
  },
})
const [address] = positionals
if (address === undefined) {
  process.stderr.write(USAGE)
  process.exit(2)
}

/** Side by side: most of a row is waiting. */
const LANES = 4

const settings = mutatedServer(address, Number(values.patience))

const progress = new Progress(values.progress)
const seen = await survey(settings)
const matching = new RegExp(values.match ?? '')
const faults = Array.from({ length: Number(values.count) }, (_, at) =>
  faultOf(Number(values['first-seed']) + at, seen.catalogue),
).filter((fault) => matching.test(keyOf(fault)))
const queue = [...new Map(faults.map((fault) => [keyOf(fault), fault])).values()].filter(
  (fault) => !progress.fates.has(keyOf(fault)),
)
process.stderr.write(`${faults.length} faults, ${queue.length} of them to be tried\n`)
const endMs = performance.now() + Number(values['time-limit']) * 1000
const lane = async (): Promise<void> => {
  for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
    if (performance.now() > endMs) {
      queue.unshift(fault)
      return
    }
    const fate = await fateOf(fault, settings, seen)
    progress.note(keyOf(fault), fate)
    process.stderr.write(`${queue.length} ${keyOf(fault)}: ${Object.values(fate).join(' ')}\n`)
  }
}
await Promise.all(Array.from({ length: LANES }, lane))
if (queue.length > 0) process.stderr.write(`${queue.length} faults were not tried: go on with --progress\n`)
else if (values.match === undefined) {
  writeFileSync(new URL('../../seeded-mutations.md', import.meta.url), reportOf(faults, progress.fates))
}
process.exit(queue.length > 0 ? 1 : 0)
