export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** NaN when there is nothing. */
export const percentile = (values: readonly number[], percent: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const [low = Number.NaN, high = low] = sorted.slice((sorted.length - 1) >> 1, (sorted.length >> 1) + 1)
  return (low + high) / 2
}

export const spreadOf = (values: readonly number[]): Spread => ({
  median: median(values),
  low: Math.min(...values),
  high: Math.max(...values),
})
