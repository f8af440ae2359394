/** The value of a label that stands for all values beyond the bound. */
export const OVERFLOW = 'overflow'

/** Bounds the number of values of a label: the first `limit` values keep their name, all others become OVERFLOW. */
export class BoundedValues {
  readonly #limit: number
  readonly #known = new Set<string>()

  constructor(limit: number) {
    this.#limit = limit
  }

  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= this.#limit) return OVERFLOW
    this.#known.add(value)
    return value
  }
}
