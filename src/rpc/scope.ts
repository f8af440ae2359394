import { createHash } from 'node:crypto'

/** Longer names are shortened, so that they fit into records and lines. */
const MAX_LENGTH = 200
const KEPT_LENGTH = 150

/**
 * Whose results and entries are kept apart from those that everybody reads: a branch, a pull request. A trusted caller has
 * none. Equal names are one scope.
 */
export class Scope {
  readonly name: string

  private constructor(name: string) {
    this.name = name
  }

  /** Undefined for the empty name: trusted. */
  static named(name: ''): undefined
  static named(name: string): Scope | undefined
  static named(name: string): Scope | undefined {
    if (name === '') return undefined
    // What is no text of Unicode would otherwise be another name in a store.
    const whole = Buffer.from(name).toString()
    if (whole.length <= MAX_LENGTH) return new Scope(whole)
    const hash = createHash('sha256').update(whole).digest('hex')
    return new Scope(`${Buffer.from(whole.slice(0, KEPT_LENGTH)).toString()}~${hash.slice(0, 32)}`)
  }
}
