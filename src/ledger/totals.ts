/** The bytes that are held of one kind, and how often its bound was reached. */
export interface Total {
  readonly heldBytes: number
  readonly limitedCount: number
  /** Whether threads that this one cannot hear count here too. */
  readonly isShared: boolean
  /** Counts bytes, unless there would be more than `maxBytes`. */
  tryAdd(sizeBytes: number, maxBytes: number): boolean
  give(sizeBytes: number): void
  limited(): void
}

/** The total of a process with one thread. */
export class OwnTotal implements Total {
  heldBytes = 0
  limitedCount = 0
  readonly isShared = false

  tryAdd(sizeBytes: number, maxBytes: number): boolean {
    if (this.heldBytes + sizeBytes > maxBytes) return false
    this.heldBytes += sizeBytes
    return true
  }

  give(sizeBytes: number): void {
    this.heldBytes -= sizeBytes
  }

  limited(): void {
    this.limitedCount += 1
  }
}

/**
 * A total that all threads of the process count in, so that its bound holds for them together. It is never above the bound,
 * also for a moment: another thread would then be refused for bytes that nobody holds.
 */
class SharedTotal implements Total {
  readonly isShared = true
  readonly #words: Int32Array
  readonly #held: number
  readonly #limited: number

  constructor(words: Int32Array, at: number) {
    this.#words = words
    this.#held = at
    this.#limited = at + 1
  }

  get heldBytes(): number {
    return Atomics.load(this.#words, this.#held)
  }

  get limitedCount(): number {
    return Atomics.load(this.#words, this.#limited) >>> 0
  }

  tryAdd(sizeBytes: number, maxBytes: number): boolean {
    for (let before = this.heldBytes; before + sizeBytes <= maxBytes; ) {
      const found = Atomics.compareExchange(this.#words, this.#held, before, before + sizeBytes)
      if (found === before) return true
      before = found
    }
    return false
  }

  give(sizeBytes: number): void {
    Atomics.sub(this.#words, this.#held, sizeBytes)
  }

  limited(): void {
    Atomics.add(this.#words, this.#limited, 1)
  }
}

/** Words of a kind: bytes held, times limited. */
const WORDS_EACH = 2

/** Addresses with connections at the same time that have a row of their own. */
const ROWS = 16_384

/** The ledgers of all threads of a process, in one piece of memory: the totals of each kind, and one row for each address. */
export class SharedLedgerMemory {
  readonly buffer: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #kindCount: number

  /** `buffer` is that of another thread. */
  constructor(kindCount: number, buffer = new SharedArrayBuffer(4 * kindCount * (WORDS_EACH + ROWS))) {
    this.buffer = buffer
    this.#words = new Int32Array(buffer)
    this.#kindCount = kindCount
  }

  totalOf(kind: number): Total {
    return new SharedTotal(this.#words, kind * WORDS_EACH)
  }

  /** The bytes of each kind that one address holds. */
  row(row: number): Int32Array {
    const first = this.#kindCount * (WORDS_EACH + row)
    return this.#words.subarray(first, first + this.#kindCount)
  }
}

/** Gives a row to each address with connections. Only one thread does that: the one that accepts connections. */
export class AddressRows {
  readonly #memory: SharedLedgerMemory
  /** Rows that were given back, some with bytes of calls that outlived their connections. */
  #free: number[] = []
  #used = 0

  constructor(memory: SharedLedgerMemory) {
    this.#memory = memory
  }

  /** Beyond `ROWS` addresses at a time, the others share the last row. */
  take(): number {
    const at = this.#free.findIndex((row) => this.#memory.row(row).every((bytes) => bytes === 0))
    if (at >= 0) return this.#free.splice(at, 1)[0] as number
    if (this.#used < ROWS - 1) return this.#used++
    return ROWS - 1
  }

  give(row: number): void {
    if (row < ROWS - 1) this.#free.push(row)
  }
}
