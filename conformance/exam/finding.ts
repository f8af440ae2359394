/** The server answered otherwise than the requirement says. */
export class Divergence extends Error {
  override readonly name = 'Divergence'
  readonly expected: string
  readonly found: string

  /** The method, if the finding is that the server does not implement it. */
  readonly unimplemented: string | undefined

  constructor(expected: string, found: string, unimplemented?: string) {
    super(`expected ${expected}; found ${found}`)
    this.expected = expected
    this.found = found
    this.unimplemented = unimplemented
  }
}

/**
 * The server answered, and the answer is not true: bytes that are not the blob's, an absent blob that is called present,
 * an acknowledged result that is not there. The client cannot notice, so that it fails whatever the level of the row.
 */
export class WrongAnswer extends Divergence {}

/** The server refused with an error where the row wanted an answer. Where the text allows that, it only warns. */
export class Refusal extends Divergence {}

/** The server gave the right answer too late. A busy machine can be the reason. */
export class Lateness extends Divergence {}

/** The check found while running that the server offers too little for it. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable'
}
