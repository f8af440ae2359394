/** What a thread is handed at a time. */
export const BATCH_FILES = 64
export const BATCH_BYTES = 256 * 1024

/** Of the longest name there is, that of a SHA512 with two sizes, and a line feed: 183. */
const NAME_BYTES = 192

const TURN = 0
const COUNT = 1
const NAMES_LENGTH = 2
const HEAD_WORDS = 4

// One file: the bytes of its name, those of its content, and whether no file of that name is known.
const FILE_WORDS = 3

const MTIMES_AT = (HEAD_WORDS + BATCH_FILES * FILE_WORDS) * Int32Array.BYTES_PER_ELEMENT
const NAMES_AT = MTIMES_AT + BATCH_FILES * Float64Array.BYTES_PER_ELEMENT
const CONTENT_AT = NAMES_AT + BATCH_FILES * NAME_BYTES

/** A file to be written below the store's folder. */
export interface SmallFile {
  /** Relative to content_path. */
  readonly name: string
  readonly bytes: Uint8Array
  /** Whether its name may be free, so that it can be written where it belongs. */
  readonly isNew: boolean
}

/**
 * A batch of files in memory that the event loop and one thread share: names, contents and, on the way back, modification
 * times. As messages, 32 files took longer to clone than to write.
 */
export class BatchMemory {
  readonly shared: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #mtimes: Float64Array
  readonly #names: Buffer
  readonly #content: Buffer
  #contentLength = 0

  constructor(shared = new SharedArrayBuffer(CONTENT_AT + BATCH_BYTES)) {
    this.shared = shared
    this.#words = new Int32Array(shared, 0, HEAD_WORDS + BATCH_FILES * FILE_WORDS)
    this.#mtimes = new Float64Array(shared, MTIMES_AT, BATCH_FILES)
    this.#names = Buffer.from(shared, NAMES_AT, BATCH_FILES * NAME_BYTES)
    this.#content = Buffer.from(shared, CONTENT_AT, BATCH_BYTES)
  }

  /** Starts over, for the side that fills it. */
  clear(): void {
    this.#words[COUNT] = 0
    this.#words[NAMES_LENGTH] = 0
    this.#contentLength = 0
  }

  get count(): number {
    return this.#words[COUNT] ?? 0
  }

  /** Copies a file in; false when there is no room for it any more. */
  add({ name, bytes, isNew }: SmallFile): boolean {
    const { count } = this
    const namesLength = this.#words[NAMES_LENGTH] ?? 0
    if (count === BATCH_FILES || bytes.length > BATCH_BYTES - this.#contentLength) return false
    const nameLength = this.#names.write(name, namesLength, 'latin1')
    this.#names[namesLength + nameLength] = LINE_FEED
    this.#content.set(bytes, this.#contentLength)
    const at = HEAD_WORDS + count * FILE_WORDS
    this.#words[at] = nameLength
    this.#words[at + 1] = bytes.length
    this.#words[at + 2] = isNew ? 1 : 0
    this.#words[NAMES_LENGTH] = namesLength + nameLength + 1
    this.#words[COUNT] = count + 1
    this.#contentLength += bytes.length
    return true
  }

  /** Hands the batch over to the thread. */
  send(): void {
    Atomics.add(this.#words, TURN, 1)
    Atomics.notify(this.#words, TURN)
  }

  /** Waits for the batch after `turn` others, blocking its thread. */
  receive(turn: number): void {
    Atomics.wait(this.#words, TURN, turn)
  }

  /** Every name of the batch, a line each. */
  get names(): Buffer {
    return this.#names.subarray(0, this.#words[NAMES_LENGTH])
  }

  *files(): Generator<SmallFile> {
    let nameAt = 0
    let contentAt = 0
    for (let at = HEAD_WORDS; at < HEAD_WORDS + this.count * FILE_WORDS; at += FILE_WORDS) {
      const nameEnd = nameAt + (this.#words[at] ?? 0)
      const contentEnd = contentAt + (this.#words[at + 1] ?? 0)
      const name = this.#names.toString('latin1', nameAt, nameEnd)
      yield { name, bytes: this.#content.subarray(contentAt, contentEnd), isNew: this.#words[at + 2] === 1 }
      nameAt = nameEnd + 1
      contentAt = contentEnd
    }
  }

  setMtimeMs(index: number, mtimeMs: number): void {
    this.#mtimes[index] = mtimeMs
  }

  mtimeMs(index: number): number {
    return this.#mtimes[index] ?? 0
  }
}

const LINE_FEED = 0x0a
