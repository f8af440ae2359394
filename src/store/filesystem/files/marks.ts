const CHUNK_SHIFT = 14
const CHUNK_MASK = (1 << CHUNK_SHIFT) - 1

/** Of a file whose bytes nobody has compared since the start. */
const UNKNOWN = 0

/**
 * For each file, by its slot in the index, the modification time at which its bytes were last known to be right: written, or
 * compared with their checksum. Not kept across restarts, after which every file is compared again.
 */
export class Marks {
  readonly #chunks: (Int32Array | undefined)[] = []

  set(slot: number, mtimeMs: number): void {
    const at = slot >>> CHUNK_SHIFT
    const chunk = this.#chunks[at] ?? new Int32Array(CHUNK_MASK + 1)
    this.#chunks[at] = chunk
    chunk[slot & CHUNK_MASK] = markOf(mtimeMs)
  }

  clear(slot: number): void {
    const chunk = this.#chunks[slot >>> CHUNK_SHIFT]
    if (chunk !== undefined) chunk[slot & CHUNK_MASK] = UNKNOWN
  }

  /** Whether a file with that modification time is still as it was then. */
  vouchesFor(slot: number, mtimeMs: number): boolean {
    return this.#markAt(slot) === markOf(mtimeMs)
  }

  /** Whether a file's time has changed since: somebody wrote to it, or touched it. */
  suspects(slot: number, mtimeMs: number): boolean {
    const mark = this.#markAt(slot)
    return mark !== UNKNOWN && mark !== markOf(mtimeMs)
  }

  #markAt(slot: number): number {
    return this.#chunks[slot >>> CHUNK_SHIFT]?.[slot & CHUNK_MASK] ?? UNKNOWN
  }
}

/**
 * Milliseconds as a signed word, never UNKNOWN. Two times 49 days apart look alike, two that a file system can tell apart
 * do not.
 */
const markOf = (mtimeMs: number): number => Math.round(mtimeMs) | 0 || 1
