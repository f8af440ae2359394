import type { Clock } from '../base/clock.js'
import { type ExecutionFacts, executionIn, executionLine } from './execution-facts.js'

export const OUTCOMES = ['hit', 'miss', 'written', 'failed', 'ran'] as const

/** What became of a request about an action. The texts are ASCII without line ends. */
export interface ActionOutcome {
  /** The key of its digest. Over HTTP a client names it by the hash alone: the size is 0 if nobody knows it. */
  readonly action: string
  /** `ran`: an execution whose result was not kept. */
  readonly outcome: (typeof OUTCOMES)[number]
  /**
   * Why it was a miss: `absent`, `incomplete`, `damaged` or `forbidden`; the name of a code if it failed; `exit code 1`
   * or `do_not_cache` if it ran.
   */
  readonly reason?: string
  /** The key of the output that an incomplete result lacks. */
  readonly output?: string
  /** Of the result. */
  readonly sizeBytes?: number
  /** The path of the HTTP cache that was asked; absent for gRPC. */
  readonly via?: string
  /** How it ran, if it did. */
  readonly execution?: ExecutionFacts
  /** Of the caller; absent if it is trusted. */
  readonly scope?: string | undefined
}

/** What RequestMetadata says of a request; each is empty if the client does not say. */
export interface RequestFacts {
  /** Name and version of the client: `bazel 7.7.1`. */
  readonly tool: string
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

const RECORDS_MAX = 16_384
const TEXT_MAX_BYTES = 8 * 1024 * 1024
/** A longer header is not kept, and its request belongs to no build. */
const HEADER_MAX_LENGTH = 4096
/** A longer text is not kept. Keys and reasons are shorter. */
const FIELD_MAX_LENGTH = 1024
const UTF8_MAX_BYTES = 3

/**
 * The last requests about actions, so that pages can explain what a build got and why. The RequestMetadata of a request
 * is kept as it came and decoded when somebody looks, because most records are never read.
 *
 * Records live in arrays of numbers and in one ring of bytes. Objects that outlive their call cost the collector more
 * than everything else a record needs: kept as objects, they were 6 to 10 % of a GetActionResult that hits.
 */
export class RequestRecords {
  readonly #clock: Clock
  readonly #factsOf: (header: string | Buffer | undefined) => RequestFacts
  readonly #times = new Float64Array(RECORDS_MAX)
  /** NaN if absent. */
  readonly #sizes = new Float64Array(RECORDS_MAX)
  readonly #outcomes = new Uint8Array(RECORDS_MAX)
  /** Of each record in the ring of bytes: where it starts, its lines in Latin-1, and its instance name in UTF-8. */
  readonly #starts = new Uint32Array(RECORDS_MAX)
  readonly #linesBytes = new Uint16Array(RECORDS_MAX)
  readonly #instanceBytes = new Uint16Array(RECORDS_MAX)
  readonly #ring = Buffer.allocUnsafeSlow(TEXT_MAX_BYTES)
  /** Where the next record starts. */
  #head = 0
  #added = 0
  /** How many of the last are still there. */
  #count = 0
  /** Called with the number of each record of an execution, in the turn in which it is added. */
  onExecution: ((number: number) => void) | undefined

  constructor(clock: Clock, factsOf: (header: string | Buffer | undefined) => RequestFacts) {
    this.#clock = clock
    this.#factsOf = factsOf
  }

  /** `scope`: of the caller, where the outcome does not say it. */
  add(instance: string, header: string | Buffer | undefined, outcome: ActionOutcome, scope?: string): void {
    const { sizeBytes = Number.NaN } = outcome
    this.addLines(instance, linesOf(header, outcome, scope), OUTCOMES.indexOf(outcome.outcome), sizeBytes)
  }

  /** Adds a record whose texts are joined by `linesOf`. `outcome` is its index in OUTCOMES; `sizeBytes` is NaN if absent. */
  addLines(instance: string, lines: string, outcome: number, sizeBytes: number): void {
    const start = this.#startOf(lines.length + instance.length * UTF8_MAX_BYTES)
    const at = this.#added % RECORDS_MAX
    this.#times[at] = this.#clock.now()
    this.#sizes[at] = sizeBytes
    this.#outcomes[at] = outcome
    this.#starts[at] = start
    this.#linesBytes[at] = this.#ring.write(lines, start, 'latin1')
    this.#instanceBytes[at] = instance === '' ? 0 : this.#ring.write(instance, start + lines.length)
    this.#head = start + lines.length + (this.#instanceBytes[at] as number)
    this.#added++
    this.#count++
    // Most requests are hits and misses of a cache; a written result may be one of a client.
    if (outcome >= FIRST_OF_EXECUTIONS && this.onExecution !== undefined && hasExecution(lines))
      this.onExecution(this.#added - 1)
  }

  /** Drops the oldest records until `sizeBytes` are free in one piece. */
  #startOf(sizeBytes: number): number {
    if (this.#count === RECORDS_MAX) this.#count--
    if (this.#head + sizeBytes > TEXT_MAX_BYTES) {
      this.#dropWithin(this.#head, TEXT_MAX_BYTES)
      this.#head = 0
    }
    this.#dropWithin(this.#head, this.#head + sizeBytes)
    return this.#head
  }

  /** The oldest records lie next after the head. */
  #dropWithin(start: number, end: number): void {
    while (this.#count > 0) {
      const oldest = this.#starts[(this.#added - this.#count) % RECORDS_MAX] as number
      if (oldest < start || oldest >= end) return
      this.#count--
    }
  }

  /** How many were added since the start: the number of the next record. */
  get added(): number {
    return this.#added
  }

  /** The number of the oldest record that is still there. */
  get oldest(): number {
    return this.#added - this.#count
  }

  /** The record with a number; undefined if it is dropped, or not there yet. */
  get(number: number): RequestRecord | undefined {
    return number < this.oldest || number >= this.#added ? undefined : this.#at(number % RECORDS_MAX)
  }

  /** The newest first. Leaves out what is added after the first step, and what is dropped before its turn. */
  *[Symbol.iterator](): Generator<RequestRecord> {
    for (let next = this.#added - 1; next >= this.oldest; next--) yield this.#at(next % RECORDS_MAX)
  }

  #at(at: number): RequestRecord {
    const start = this.#starts[at] as number
    const end = start + (this.#linesBytes[at] as number)
    const lines = this.#ring.toString('latin1', start, end).split('\n')
    const [action = '', reason = '', output = '', via = '', execution = '', scope = '', header = ''] = lines
    const sizeBytes = this.#sizes[at] as number
    return {
      timeMs: this.#times[at] as number,
      instance: this.#ring.toString('utf8', end, end + (this.#instanceBytes[at] as number)),
      action,
      outcome: OUTCOMES[this.#outcomes[at] as number] as ActionOutcome['outcome'],
      ...(reason !== '' && { reason }),
      ...(output !== '' && { output }),
      ...(via !== '' && { via }),
      ...(execution !== '' && { execution: executionIn(execution) }),
      ...(scope !== '' && { scope: decodeURIComponent(scope) }),
      ...(!Number.isNaN(sizeBytes) && { sizeBytes }),
      ...this.#factsOf(header === '' ? undefined : header),
    }
  }
}

/** The texts of a record, in the form in which they are kept. */
export const linesOf = (
  header: string | Buffer | undefined,
  { action, reason = '', output = '', via = '', execution, scope: told }: ActionOutcome,
  scope = told ?? '',
): string =>
  `${shortened(action)}\n${shortened(reason)}\n${shortened(output)}\n${via}\n${execution === undefined ? '' : executionLine(execution)}\n${encodedScope(scope)}\n${textOf(header)}`

let encoded = { scope: '', text: '' }

/** ASCII, without line ends. Most requests are of the same scope as the one before: to encode it costs as much as all other texts. */
const encodedScope = (scope: string): string => {
  if (scope !== encoded.scope) encoded = { scope, text: encodeURIComponent(scope) }
  return encoded.text
}

const FIRST_OF_EXECUTIONS = OUTCOMES.indexOf('written')
/** Its line follows on four others. */
const LINES_BEFORE = 4

const hasExecution = (lines: string): boolean => {
  let at = -1
  for (let line = 0; line < LINES_BEFORE; line++) at = lines.indexOf('\n', at + 1)
  return lines[at + 1] !== '\n'
}

const shortened = (text: string): string => (text.length <= FIELD_MAX_LENGTH ? text : '')

const textOf = (header: string | Buffer | undefined): string => {
  if (header === undefined || header.length > HEADER_MAX_LENGTH) return ''
  return typeof header === 'string' ? header : header.toString('base64')
}
