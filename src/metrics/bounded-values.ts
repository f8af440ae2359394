/** What stands for every value of a label beyond those that get a series of their own. */
export const OVERFLOW = 'overflow'

/** Keeps the number of values of a label within bounds: the first `limit` are themselves, the rest is one. */
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
