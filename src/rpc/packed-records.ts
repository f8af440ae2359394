import { type ActionOutcome, linesOf, OUTCOMES, type RequestRecords } from './request-records.js'

/** Of each record: the outcome, the size of the result, the length of its lines, and that of the instance name. */
const NUMBERS_EACH = 4

/** Many records as one string and numbers, because V8 copies an object for another thread at the price of a small call. */
export interface PackedRecords {
  readonly numbers: Float64Array
  readonly text: string
}

/** Collects records for another thread. */
export class RecordPacker {
  #numbers: number[] = []
  #text = ''

  get count(): number {
    return this.#numbers.length / NUMBERS_EACH
  }

  add(instance: string, header: string | Buffer | undefined, outcome: ActionOutcome, scope?: string): void {
    const lines = linesOf(header, outcome, scope)
    const { sizeBytes = Number.NaN } = outcome
    this.#numbers.push(OUTCOMES.indexOf(outcome.outcome), sizeBytes, lines.length, instance.length)
    this.#text += lines + instance
  }

  /** What was added since the last call; undefined if nothing was. */
  take(): PackedRecords | undefined {
    if (this.#numbers.length === 0) return undefined
    const packed = { numbers: Float64Array.from(this.#numbers), text: this.#text }
    this.#numbers = []
    this.#text = ''
    return packed
  }
}

export const addPacked = (records: RequestRecords, { numbers, text }: PackedRecords): void => {
  let offset = 0
  for (let at = 0; at < numbers.length; at += NUMBERS_EACH) {
    const [outcome, sizeBytes, linesLength, instanceLength] = numbers.subarray(at, at + NUMBERS_EACH)
    const middle = offset + (linesLength as number)
    const end = middle + (instanceLength as number)
    records.addLines(text.slice(middle, end), text.slice(offset, middle), outcome as number, sizeBytes as number)
    offset = end
  }
}
