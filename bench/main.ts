import { parseArgs } from 'node:util'
import { type Figures, measure } from './case.js'
import { cacheCases } from './cases/cache.js'
import { executionCases } from './cases/execution.js'
import { benchConfig } from './config.js'
import { memoryFigures } from './memory.js'
import { startBare, startRemexec } from './process.js'

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    only: { type: 'string' },
    /** dist/cli.js of another build, which is then measured in place of the bare handlers. */
    against: { type: 'string' },
    /** A folder for CPU profiles of the servers. */
    profile: { type: 'string' },
  },
})

const rounds = values.quick ? 3 : 5
const scale = values.quick
  ? { requests: 4_000, transfers: 4, actions: 300 }
  : { requests: 20_000, transfers: 8, actions: 1_000 }

const isWanted = (name: string): boolean => values.only === undefined || name.includes(values.only)

const rate = (value: number, unit: string): string => `${Math.round(value).toLocaleString('en')} ${unit}/s`

const line = ({ name, unit, ours, limit, ratio, oursCpuMicros, limitCpuMicros }: Figures): string =>
  [
    name.padEnd(28),
    rate(ours, unit).padStart(14),
    rate(limit, unit).padStart(14),
    `${ratio.median.toFixed(2)} (${ratio.low.toFixed(2)}-${ratio.high.toFixed(2)})`.padStart(18),
    `${oursCpuMicros.toFixed(1)} us`.padStart(12),
    `${limitCpuMicros.toFixed(1)} us`.padStart(12),
  ].join(' ')

const say = (text: string): void => void (values.json || process.stdout.write(`${text}\n`))

const ours = await startRemexec(benchConfig, { profileFolder: values.profile })
const bare = await startBare(values.profile)
const baseline = values.against === undefined ? undefined : await startRemexec(benchConfig, { cli: values.against })
const figures: Figures[] = []
try {
  say(
    'case                                 remexec          limit       ratio (spread)  CPU/unit ours   CPU/unit limit',
  )
  for (const subject of [...cacheCases(scale), ...executionCases(scale)].filter(({ name }) => isWanted(name))) {
    const result = await measure(subject, ours, bare, rounds, baseline)
    figures.push(result)
    say(line(result))
  }
} finally {
  await Promise.all([ours.stop(), bare.stop(), baseline?.stop()])
}

const memory = []
for await (const figure of memoryFigures(isWanted, values.quick)) {
  memory.push(figure)
  say(`${figure.name.padEnd(52)} resident memory grew by ${Math.round(figure.grownBytes / (1 << 20))} MiB`)
}
if (values.json) process.stdout.write(`${JSON.stringify({ figures, memory }, undefined, 2)}\n`)
