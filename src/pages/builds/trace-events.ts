/** The largest event that is looked at. Those of Bazel have hundreds of bytes. */
const MAX_EVENT_BYTES = 64 * 1024
const LIST = 'traceEvents'

const code = (character: string): number => character.charCodeAt(0)
const [QUOTE, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = ['"', '\\', '[', ']', '{', '}'].map(code)

/**
 * Finds the events in a file of the Chrome trace format while it arrives: the objects of a list, which is the file itself or its
 * member `traceEvents`. Only one event at a time is parsed, so that a file of any length costs no more memory than one event and
 * each piece little time.
 */
export class TraceEvents {
  /** Events that were too large to look at. */
  leftOut = 0
  #depth = 0
  /** How deep the list is; 0 until it has begun, and after its end. */
  #listDepth = 0
  #isInText = false
  #isEscaped = false
  /** A name at the depth of the file's members; undefined while it is longer than the one looked for. */
  #name = ''
  #isEmpty = true
  /** What has arrived of the present event before this piece. */
  #begun: Buffer[] = []
  #begunBytes = 0

  get #isListed(): boolean {
    return this.#listDepth > 0 && this.#depth === this.#listDepth
  }

  get #isInEvent(): boolean {
    return this.#listDepth > 0 && this.#depth > this.#listDepth
  }

  /** The events that end in this piece. Throws SyntaxError for what is no JSON, as far as it shows. */
  *take(piece: Buffer): Generator<unknown> {
    let from = this.#isInEvent ? 0 : -1
    for (let at = 0; at < piece.length; at++) {
      const byte = piece[at] as number
      if (this.#isInText) {
        this.#takeText(byte)
        continue
      }
      if (byte === QUOTE && this.#depth > 0) {
        this.#isInText = true
        if (this.#depth === 1) this.#name = ''
      } else if (byte === OPEN || byte === OPEN_LIST) {
        if (byte === OPEN && this.#isListed) from = at
        this.#open(byte)
      } else if (byte === CLOSE || byte === CLOSE_LIST) {
        if (this.#depth === 0) throw new SyntaxError('a bracket is closed that was not opened')
        this.#depth -= 1
        if (this.#depth < this.#listDepth) this.#listDepth = 0
        else if (byte === CLOSE && this.#isListed && from >= 0) {
          const event = this.#eventOf(piece.subarray(from, at + 1))
          from = -1
          if (event !== undefined) yield event
        }
      } else if (this.#depth === 0 && byte > SPACE) throw new SyntaxError('expected a list or an object')
      if (byte > SPACE) this.#isEmpty = false
    }
    if (from >= 0) this.#keep(piece.subarray(from))
  }

  /** Call this after the last piece. Throws SyntaxError if the file is cut off. */
  end(): void {
    if (this.#isEmpty || this.#isInText || this.#depth !== 0) throw new SyntaxError('the file is cut off')
  }

  #open(byte: number): void {
    const isRoot = this.#depth === 0
    if (byte === OPEN_LIST && (isRoot || (this.#depth === 1 && this.#listDepth === 0 && this.#name === LIST)))
      this.#listDepth = this.#depth + 1
    this.#depth += 1
  }

  #takeText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false
    else if (byte === BACKSLASH) this.#isEscaped = true
    else if (byte === QUOTE) this.#isInText = false
    else if (this.#depth === 1 && this.#name.length <= LIST.length) this.#name += String.fromCharCode(byte)
  }

  #keep(part: Buffer): void {
    this.#begunBytes += part.length
    // A piece may be reused by its source.
    if (this.#begunBytes <= MAX_EVENT_BYTES) this.#begun.push(Buffer.from(part))
  }

  /** Undefined if it is too large. */
  #eventOf(last: Buffer): unknown {
    const bytes = this.#begunBytes + last.length
    const parts = this.#begun.splice(0)
    this.#begunBytes = 0
    if (bytes > MAX_EVENT_BYTES) {
      this.leftOut += 1
      return undefined
    }
    const text = parts.length === 0 ? last : Buffer.concat([...parts, last])
    return JSON.parse(text.toString())
  }
}

const SPACE = 32
