/** The server answered, and not as the requirement says. */
export class Divergence extends Error {
  override readonly name = 'Divergence'
  readonly expected: string
  readonly found: string

  /** The method that is not implemented, when that is what was found. */
  readonly unimplemented: string | undefined

  constructor(expected: string, found: string, unimplemented?: string) {
    super(`expected ${expected}; found ${found}`)
    this.expected = expected
    this.found = found
    this.unimplemented = unimplemented
  }
}

/** The server answered as it should, and later than it should: on a busy machine that may be the machine's. */
export class Lateness extends Divergence {}

/** This server offers too little for the check, found out only while it ran. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}
