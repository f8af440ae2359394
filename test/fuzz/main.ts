/** `npm run fuzz [-- --minutes 10] [TARGET...]`: every target for its share of the time; what fails is kept in fixtures/fuzz. */
import { createHash } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { corpusFolder, FuzzFailure, fuzz } from './run.js'
import { targets } from './targets.js'

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string', default: '10' } },
  allowPositionals: true,
})
const names = positionals.length > 0 ? positionals : Object.keys(targets)
const timeMs = (Number(values.minutes) * 60_000) / names.length
if (!(timeMs > 0)) throw new Error(`--minutes ${values.minutes}: expected a number above 0`)

for (const name of names) {
  try {
    const count = await fuzz(name, { timeMs })
    process.stdout.write(`${name}: ${count} inputs, none fails\n`)
  } catch (error) {
    process.exitCode = 1
    process.stdout.write(`${error instanceof Error ? error.message : error}\n`)
    if (!(error instanceof FuzzFailure)) continue
    const folder = join(corpusFolder, name)
    const hex = error.bytes.toString('hex')
    const file = join(folder, `${createHash('sha256').update(hex).digest('hex').slice(0, 12)}.hex`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, `${hex}\n`)
    process.stdout.write(`kept as ${file}\n`)
  }
}
