import type { Observation, Unit } from './case.js'
import type { Figures, Side } from './measure.js'
import { type Spread, spreadOf } from './statistics.js'

const MIB = 1 << 20
const COLUMNS = [30, 15, 19, 15, 9, 9, 10, 16] as const

const row = (cells: readonly string[]): string =>
  cells
    .map((cell, index) => (index === 0 ? cell.padEnd(COLUMNS[0]) : cell.padStart(COLUMNS[index] ?? 0)))
    .join(' ')
    .trimEnd()

const known = (value: number, show: (value: number) => string): string => (Number.isNaN(value) ? '-' : show(value))

export const rateText = (value: number, unit: Unit): string =>
  `${value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')} ${unit}/s`

export const cpuText = (micros: number, unit: Unit): string =>
  known(micros, (value) => (unit === 'op' ? `${value.toFixed(1)} us/op` : `${((value * 1024) / 1e6).toFixed(2)} s/GiB`))

export const milliseconds = (value: number): string =>
  known(value, (ms) => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`)

export const ratioText = ({ median, low, high }: Spread): string =>
  `${median.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`

export const heading = row(['case', 'rate', 'ours/it (spread)', 'CPU', 'p50', 'p99', 'peak', 'loop p99/max ms'])

const sideRow = (side: Side, unit: Unit): string =>
  row([
    `  ${side.name}`,
    rateText(side.rate.median, unit),
    side.ratio === undefined ? '' : ratioText(side.ratio),
    cpuText(side.cpuMicros, unit),
    milliseconds(side.p50Ms),
    milliseconds(side.p99Ms),
    known(side.peakResidentBytes, (bytes) => `${Math.round(bytes / MIB)} MiB`),
    side.loopDelay === undefined ? '' : `${side.loopDelay.p99Ms.toFixed(1)}/${side.loopDelay.maxMs.toFixed(1)}`,
  ])

export const figuresText = ({ name, unit, sides, failures }: Figures): string =>
  [
    name,
    ...sides.map((side) => sideRow(side, unit)),
    ...failures.map((failure) => `  ${failure.name} could not: ${failure.reason}`),
  ].join('\n')

export const amount = (values: readonly number[], unit: Observation['unit']): string => {
  const { median, low, high } = spreadOf(values)
  const show = (value: number): string => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en'))
  return values.length === 1 ? `${show(median)} ${unit}` : `${show(median)} ${unit} (${show(low)}-${show(high)})`
}

/** How many times what is beside it, where both were measured in the same rounds. */
const timesText = (values: readonly number[], beside: readonly number[]): string => {
  if (values.length !== beside.length || values.length === 1) return ''
  const { median, low, high } = spreadOf(values.map((value, round) => value / (beside[round] as number)))
  return `, times ${median.toFixed(2)} (${low.toFixed(2)}-${high.toFixed(2)})`
}

export const observationText = (build: string, { name, unit, values, beside }: Observation): string => {
  const compared =
    beside === undefined
      ? ''
      : `   beside ${beside.name}: ${amount(beside.values, unit)}${timesText(values, beside.values)}`
  return `  ${build.padEnd(9)} ${name.padEnd(50)} ${amount(values, unit)}${compared}`
}
