export type Labels = Readonly<Record<string, string>>

export interface Description {
  /** As it is on the wire, without a suffix that a receiver might add. */
  readonly name: string
  readonly description: string
  /** By the Unified Code for Units of Measure: `s`, `By`, `1`, `{worker}`. */
  readonly unit: string
}

/** One number series. Whoever counts holds it, so that counting is an addition and nothing is looked up or allocated. */
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

/** One series of values by size. `counts` has one more than `boundaries`, for what is beyond the last. */
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

/** Something that is measured: its series as they are now. */
export type Instrument = Description &
  (
    | { readonly kind: 'counter' | 'gauge'; series(): Iterable<Reading> }
    | { readonly kind: 'histogram'; series(): Iterable<Distribution> }
  )

/** A counter whose series are made once and then held by who counts. */
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

/** The same for a histogram. */
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

/** What somebody else keeps anyhow, and is asked for when the metrics are read. */
export const observed = (
  kind: 'counter' | 'gauge',
  description: Description,
  series: () => Iterable<Reading>,
): Instrument => ({ ...description, kind, series })

/** Seconds, from what memory answers in to what a slow backend takes. */
export const LATENCY_SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

/** Seconds, from an action that needs nothing to one that takes hours. */
export const ACTION_SECONDS = [0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200]
