import { writeFileSync } from 'node:fs'
import { reportOf } from './report.js'
import { faultOf, keyOf } from './seeded.js'
import { type Fate, fateOf, survey } from './trial.js'

// npx tsx conformance/mutate/seeded/main.ts grpc://HOST:PORT [COUNT] [FIRST-SEED]: tries that many seeded faults before a correct server,
// which has the instances of test/conformance/mutations.json5, and writes conformance/seeded-mutations.md.

const [address = '', count = '1000', first = '1'] = process.argv.slice(2)
const LANES = 3

const settings = {
  address,
  instanceName: '',
  secondInstanceName: 'second',
  readOnlyInstanceName: 'frozen',
  cacheOnlyInstanceName: 'projects/p/instances/i',
  properties: [{ name: 'OSFamily', value: 'Linux' }],
  headers: {},
  tls: {},
  patience: 2,
}

const seen = await survey(settings)
const fates = new Map<string, Fate>()
const faults = Array.from({ length: Number(count) }, (_, at) => faultOf(Number(first) + at, seen.catalogue))
const queue = [...new Map(faults.map((fault) => [keyOf(fault), fault])).values()]
process.stderr.write(`${faults.length} faults, ${queue.length} of them different\n`)
const lane = async (): Promise<void> => {
  for (let fault = queue.shift(); fault !== undefined; fault = queue.shift()) {
    const fate = await fateOf(fault, settings, seen)
    fates.set(keyOf(fault), fate)
    process.stderr.write(
      `${queue.length} ${keyOf(fault)}: ${fate.kind}${fate.kind === 'caught' ? ` by ${fate.by}` : ''}\n`,
    )
  }
}
await Promise.all(Array.from({ length: LANES }, lane))
writeFileSync(new URL('../../seeded-mutations.md', import.meta.url), reportOf(faults, fates))
