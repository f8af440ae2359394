import type { Labels, Reading } from './instrument.js'

const MAX_SERIES = 1000
/**
 * A receiver keeps the last value of a series until it forgets the series. So a removed series is reported as 0 in this
 * number of rounds.
 */
const ROUNDS = 5

/** Series of a gauge that come and go. A removed series is reported as 0 for ROUNDS rounds, then left out. */
export class LingeringSeries {
  readonly #gone = new Map<string, { readonly labels: Labels; roundsLeft: number }>()

  /** Call it once a round. */
  settle(present: readonly Reading[]): readonly Reading[] {
    const keys = new Set(present.map(({ labels }) => JSON.stringify(labels)))
    const zeros: Reading[] = []
    for (const [key, series] of this.#gone) {
      series.roundsLeft -= 1
      if (series.roundsLeft < 0) this.#gone.delete(key)
      else if (!keys.has(key)) zeros.push({ labels: series.labels, value: 0 })
    }
    for (const { labels } of present) {
      const key = JSON.stringify(labels)
      if (this.#gone.has(key) || this.#gone.size < MAX_SERIES) this.#gone.set(key, { labels, roundsLeft: ROUNDS })
    }
    return [...present, ...zeros]
  }
}
