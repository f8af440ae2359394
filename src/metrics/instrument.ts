export type Labels = Readonly<Record<string, string>>

export interface Description {
  /** The name on the wire, without suffixes that a receiver may add. */
  readonly name: string
  readonly description: string
  /** By the Unified Code for Units of Measure: `s`, `By`, `1`, `{worker}`. */
  readonly unit: string
}

/**
 * One number series. Its user keeps a reference, so that counting is only an addition, without lookup or allocation.
 */
export class Count {
  value = 0
  readonly labels: Labels

  constructor(labels: Labels) {
    this.labels = labels
  }

  add(amount = 1): void {
    this.value += amount
  }
}

/** One histogram series. `counts` has one entry more than `boundaries`, for values above the last boundary. */
export class Distribution {
  readonly labels: Labels
  readonly boundaries: readonly number[]
  readonly counts: number[]
  count = 0
  sum = 0

  constructor(labels: Labels, boundaries: readonly number[]) {
    this.labels = labels
    this.boundaries = boundaries
    this.counts = new Array<number>(boundaries.length + 1).fill(0)
  }

  /** Adds what another series has recorded. */
  add({ counts, count, sum }: Pick<Distribution, 'counts' | 'count' | 'sum'>): void {
    for (const [bucket, more] of counts.entries()) this.counts[bucket] = (this.counts[bucket] ?? 0) + more
    this.count += count
    this.sum += sum
  }

  record(value: number): void {
    const { boundaries, counts } = this
    let bucket = 0
    while (bucket < boundaries.length && value > (boundaries[bucket] as number)) bucket++
    counts[bucket] = (counts[bucket] as number) + 1
    this.count += 1
    this.sum += value
  }
}

export interface Reading {
  readonly labels: Labels
  readonly value: number
}

/** Something that is measured, with its present series. */
export type Instrument = Description &
  (
    | { readonly kind: 'counter' | 'gauge'; series(): Iterable<Reading> }
    | { readonly kind: 'histogram'; series(): Iterable<Distribution> }
  )

/** A counter. Each user creates its series once with `with` and keeps it. */
export class Counter {
  readonly instrument: Instrument
  readonly #series: Count[] = []

  constructor(description: Description) {
    this.instrument = { ...description, kind: 'counter', series: () => this.#series }
  }

  with(labels: Labels): Count {
    const count = new Count(labels)
    this.#series.push(count)
    return count
  }
}

/** Like `Counter`, for a histogram. */
export class Histogram {
  readonly instrument: Instrument
  readonly #boundaries: readonly number[]
  readonly #series: Distribution[] = []

  constructor(description: Description, boundaries: readonly number[]) {
    this.#boundaries = boundaries
    this.instrument = { ...description, kind: 'histogram', series: () => this.#series }
  }

  with(labels: Labels): Distribution {
    const distribution = new Distribution(labels, this.#boundaries)
    this.#series.push(distribution)
    return distribution
  }
}

/** An instrument whose values are kept elsewhere and read when metrics are exported. */
export const observed = (
  kind: 'counter' | 'gauge',
  description: Description,
  series: () => Iterable<Reading>,
): Instrument => ({ ...description, kind, series })

/** In seconds, from an answer from memory to a slow backend. */
export const LATENCY_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

/** In seconds, from a trivial action to one that takes hours. */
export const ACTION_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]
