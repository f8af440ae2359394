import type { LoadResult } from './load.js'
import type { ServerProcess } from './process.js'

/** What is measured: the same work at both sides, or ours beside the plain form of what it cannot do without. */
export interface Case {
  readonly name: string
  readonly unit: 'op' | 'MiB'
  /** How many units one request is. */
  readonly unitsPerRequest: number
  /** Once per run, before the rounds: content in place, answers checked. */
  setUp?(ours: ServerProcess): Promise<void>
  ours(server: ServerProcess): Promise<LoadResult>
  /** `limit` runs against the bare server, or without a server where none is the limit. */
  limit(bare: ServerProcess): Promise<LoadResult>
}

export interface Figures {
  readonly name: string
  readonly unit: Case['unit']
  /** Units a second. */
  readonly ours: number
  readonly limit: number
  /** Median over rounds of ours/limit of one round; `low` and `high` are the extremes. */
  readonly ratio: { readonly median: number; readonly low: number; readonly high: number }
  /** Server CPU per unit, microseconds. */
  readonly oursCpuMicros: number
  readonly limitCpuMicros: number
}

interface Round {
  readonly rate: number
  readonly cpuMicros: number
}

/**
 * Alternates both sides, so that what disturbs the machine disturbs both. With a `baseline`, another build of remexec,
 * that one takes the place of the limit.
 */
export const measure = async (
  subject: Case,
  ours: ServerProcess,
  bare: ServerProcess,
  rounds: number,
  baseline?: ServerProcess,
): Promise<Figures> => {
  await subject.setUp?.(ours)
  if (baseline !== undefined) await subject.setUp?.(baseline)
  const pairs: { readonly ours: Round; readonly limit: Round }[] = []
  // The first pair warms both up and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const pair = {
      ours: await clocked(ours, subject, () => subject.ours(ours)),
      limit: await (baseline === undefined
        ? clocked(bare, subject, () => subject.limit(bare))
        : clocked(baseline, subject, () => subject.ours(baseline))),
    }
    if (round > 0) pairs.push(pair)
  }
  const ratios = pairs.map((pair) => pair.ours.rate / pair.limit.rate)
  return {
    name: subject.name,
    unit: subject.unit,
    ours: median(pairs.map((pair) => pair.ours.rate)),
    limit: median(pairs.map((pair) => pair.limit.rate)),
    ratio: { median: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) },
    oursCpuMicros: median(pairs.map((pair) => pair.ours.cpuMicros)),
    limitCpuMicros: median(pairs.map((pair) => pair.limit.cpuMicros)),
  }
}

const clocked = async (server: ServerProcess, subject: Case, work: () => Promise<LoadResult>): Promise<Round> => {
  const before = server.cpuMicros()
  const { seconds, requests } = await work()
  const units = requests * subject.unitsPerRequest
  return { rate: units / seconds, cpuMicros: (server.cpuMicros() - before) / units }
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const [low = 0, high = 0] =
    sorted.length % 2 === 1 ? [sorted[middle], sorted[middle]] : sorted.slice(middle - 1, middle + 1)
  return (low + high) / 2
}
