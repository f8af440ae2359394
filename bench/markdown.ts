import type { Unit } from './case.js'
import type { Figures, Side } from './measure.js'
import { amount, cpuText, milliseconds, rateText, ratioText } from './report.js'
import type { BuildObservation, Result, Results } from './results.js'

const BARE = 'bare handler'
/** Other servers and builds; every other side is a limit. */
const GUESTS: readonly string[] = ['target', 'baseline']

/** Figures of one or more runs as tables in Markdown. A case that is in several files is shown from the last of them. */
export const markdown = (runs: readonly Results[]): string => {
  const byName = new Map(runs.flatMap(({ results }) => results).map((result) => [result.name, result]))
  const results = [...byName.values()]
  const rates = results.filter((result): result is Result & Figures => 'sides' in result)
  const parts = [
    runs.map(head).join('\n'),
    ...(rates.some(hasGuest) ? [guestTable(rates.filter(hasGuest))] : []),
    ...(rates.some(hasLimit) ? [limitTable(rates.filter(hasLimit))] : []),
    results.flatMap(observations).join('\n'),
    results.flatMap(failures).join('\n'),
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

const head = ({ startedAt, endedAt, options, generator, files, results }: Results): string => {
  const minutes = results.reduce((sum, { seconds }) => sum + seconds, 0) / 60
  const length = `${results.length} cases in ${minutes.toFixed(1)} minutes`
  const kind = options.isQuick ? 'quick, ' : ''
  const ended = /load .*$/.exec(endedAt)?.[0] ?? ''
  return `- ${startedAt}; at the end ${ended}: ${kind}${options.rounds} rounds, ${length}, equal calls by ${generator}, files on ${files}`
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(titles), row(titles.map(() => '---')), ...rows.map(row)].join('\n')

const hasGuest = ({ sides, failures }: Figures): boolean =>
  [...sides, ...failures].some(({ name }) => GUESTS.includes(name))

const isLimit = ({ name, ratio }: Side): boolean => ratio !== undefined && !GUESTS.includes(name)

const hasLimit = ({ sides }: Figures): boolean => sides.some(isLimit)

const limitTable = (rates: readonly Figures[]): string =>
  table(
    [
      'case',
      'rate',
      'CPU',
      'bare CPU',
      'ours/bare rate',
      'other limits: ours/it rate, its CPU',
      'p50, p99',
      'peak',
      'loop delay p99',
    ],
    rates.map(({ name, unit, sides }) => {
      const [ours] = sides
      if (ours === undefined) return [name]
      const bare = sides.find((side) => side.name === BARE)
      const others = sides.filter((side) => isLimit(side) && side !== bare)
      return [
        name,
        rateText(ours.rate.median, unit),
        cpuText(ours.cpuMicros, unit),
        ...besideBare(bare, unit),
        othersOf(others, unit),
        ...rest(ours),
      ]
    }),
  )

const besideBare = (bare: Side | undefined, unit: Unit): string[] =>
  bare === undefined ? ['', ''] : [cpuText(bare.cpuMicros, unit), spread(bare)]

const spread = ({ ratio }: Side): string => (ratio === undefined ? '' : ratioText(ratio))

const othersOf = (others: readonly Side[], unit: Unit): string =>
  others
    .map((side) => `${side.name.replace(/ alone$/, '')} ${spread(side)}, ${cpuText(side.cpuMicros, unit)}`)
    .join('; ')

const rest = ({ p50Ms, p99Ms, peakResidentBytes, loopDelay }: Side): string[] => [
  `${milliseconds(p50Ms)}, ${milliseconds(p99Ms)}`,
  peak(peakResidentBytes),
  loopDelay === undefined ? '' : milliseconds(loopDelay.p99Ms),
]

const peak = (bytes: number): string => (Number.isNaN(bytes) ? '-' : `${Math.round(bytes / (1 << 20))} MiB`)

const guestTable = (rates: readonly Figures[]): string =>
  table(
    ['case', 'ours', 'it', 'ours/it', 'CPU ours', 'CPU it', 'p99 ours, it', 'peak ours, it'],
    rates.map(({ name, unit, sides, failures }) => {
      const [ours] = sides
      const guest = sides.find((side) => GUESTS.includes(side.name))
      if (ours === undefined) return [name]
      const own = rateText(ours.rate.median, unit)
      const why = failures.find((failure) => GUESTS.includes(failure.name))?.reason ?? 'not measured'
      if (guest === undefined) return [name, own, oneLine(why), '', cpuText(ours.cpuMicros, unit), '', '', '']
      return [
        name,
        own,
        rateText(guest.rate.median, unit),
        spread(guest),
        cpuText(ours.cpuMicros, unit),
        cpuText(guest.cpuMicros, unit),
        `${milliseconds(ours.p99Ms)}, ${milliseconds(guest.p99Ms)}`,
        `${peak(ours.peakResidentBytes)}, ${peak(guest.peakResidentBytes)}`,
      ]
    }),
  )

const oneLine = (text: string): string => (text.split('\n')[0] ?? '').replaceAll('|', '\\|')

const observations = (result: Result): string[] =>
  'observations' in result ? result.observations.map((each) => `- ${result.name}: ${observationOf(each)}`) : []

const observationOf = ({ build, name, values, unit, beside }: BuildObservation): string => {
  const who = build === 'remexec' ? '' : `(${build}) `
  const compared = beside === undefined ? '' : `, ${beside.name}: ${amount(beside.values, unit)}`
  return `${who}${name} ${amount(values, unit)}${compared}`
}

const failures = (result: Result): string[] =>
  'error' in result ? [`- ${result.name} could not be measured: ${oneLine(result.error)}`] : []
