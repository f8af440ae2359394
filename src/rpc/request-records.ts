import type { Clock } from '../base/clock.js'

/** What became of a request about an action. */
export interface ActionOutcome {
  /** The key of its digest. */
  readonly action: string
  readonly outcome: 'hit' | 'miss' | 'written' | 'failed'
  /** Why it was a miss: `absent`, `incomplete`, `damaged` or `forbidden`; the name of a code if it failed. */
  readonly reason?: string
  /** The key of the output that an incomplete result lacks. */
  readonly output?: string
  /** Of the result. */
  readonly sizeBytes?: number
}

/** What RequestMetadata says of a request; each is empty if the client does not say. */
export interface RequestFacts {
  readonly invocation: string
  readonly target: string
  readonly mnemonic: string
  readonly configuration: string
}

/** One request about an action. */
export interface RequestRecord extends ActionOutcome, RequestFacts {
  readonly timeMs: number
  readonly instance: string
}

interface Kept {
  readonly timeMs: number
  readonly instance: string
  readonly header: string | Buffer | undefined
  readonly outcome: ActionOutcome
}

/** At about 700 bytes each: 11 MB. */
const RECORDS_MAX = 16_384
/** A longer header is not kept, and its request belongs to no build. */
const HEADER_MAX_LENGTH = 4096

/**
 * The last requests about actions, so that pages can explain what a build got and why. The RequestMetadata of a request
 * is kept as it came and decoded when somebody looks, because most records are never read.
 */
export class RequestRecords {
  readonly #clock: Clock
  readonly #factsOf: (header: string | Buffer | undefined) => RequestFacts
  readonly #ring: Kept[] = []
  #next = 0

  constructor(clock: Clock, factsOf: (header: string | Buffer | undefined) => RequestFacts) {
    this.#clock = clock
    this.#factsOf = factsOf
  }

  add(instance: string, header: string | Buffer | undefined, outcome: ActionOutcome): void {
    const isKept = header !== undefined && header.length <= HEADER_MAX_LENGTH
    this.#ring[this.#next] = { timeMs: this.#clock.now(), instance, header: isKept ? header : undefined, outcome }
    this.#next = (this.#next + 1) % RECORDS_MAX
  }

  /** The newest first. */
  *[Symbol.iterator](): Generator<RequestRecord> {
    const count = this.#ring.length
    for (let back = 1; back <= count; back++) {
      const { timeMs, instance, header, outcome } = this.#ring[(this.#next - back + count) % count] as Kept
      yield { timeMs, instance, ...outcome, ...this.#factsOf(header) }
    }
  }
}
