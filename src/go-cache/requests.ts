import { StatusError } from '../base/status-error.js'

/** A request of the go command (`cmd/go/internal/cacheprog`, Go 1.24). */
export interface GoRequest {
  readonly id: number
  readonly command: string
  /** Lower-case hex; empty for commands without one. */
  readonly actionId: string
  readonly outputId: string
  readonly bodyBytes: number
  /** The body, to be read to its end before the next request. */
  readonly body: AsyncIterable<Buffer>
}

const MAX_LINE_BYTES = 64 * 1024
const [LINE_FEED, QUOTE] = [0x0a, 0x22]
const BLANKS = new Set([0x20, 0x09, 0x0d, LINE_FEED])

/**
 * The requests in a stream: each is a line of JSON, and with a body a JSON string of base64 behind it. Bodies are decoded as they come.
 * Throws INVALID_ARGUMENT for anything else.
 */
export async function* goRequests(source: AsyncIterable<Buffer>): AsyncGenerator<GoRequest> {
  const bytes = new Bytes(source)
  while (await bytes.skipBlanks()) {
    const fields = parsed(await bytes.line())
    const bodyBytes = numberOf(fields, 'BodySize')
    let isRead = bodyBytes === 0
    const body = async function* (): AsyncGenerator<Buffer> {
      if (isRead) return
      isRead = true
      yield* bytes.base64String(bodyBytes)
    }
    const id = numberOf(fields, 'ID')
    const command = textOf(fields, 'Command')
    const actionId = hexOf(fields, 'ActionID')
    // Go 1.21 to 1.23 call it ObjectID.
    const outputId = hexOf(fields, 'OutputID') || hexOf(fields, 'ObjectID')
    if (actionId === '' && (command === 'get' || command === 'put'))
      throw invalid(`ActionID is missing in a ${command}`)
    if (outputId === '' && command === 'put') throw invalid('OutputID is missing in a put')
    yield {
      ...{ id, command, actionId, outputId },
      bodyBytes,
      body: body(),
    }
    if (!isRead) for await (const _ of bytes.base64String(bodyBytes));
  }
}

type Fields = Readonly<Record<string, unknown>>

const parsed = (line: string): Fields => {
  try {
    const value: unknown = JSON.parse(line)
    if (typeof value === 'object' && value !== null) return value as Fields
  } catch {}
  throw invalid(`${JSON.stringify(line.slice(0, 100))} is no request, expected a JSON object`)
}

const numberOf = (fields: Fields, name: string): number => {
  const value = fields[name] ?? 0
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw invalid(`${name} is not valid, expected a number`)
}

const textOf = (fields: Fields, name: string): string => {
  const value = fields[name] ?? ''
  if (typeof value === 'string') return value
  throw invalid(`${name} is not valid, expected a text`)
}

const hexOf = (fields: Fields, name: string): string => {
  const text = textOf(fields, name)
  const bytes = Buffer.from(text, 'base64')
  if (bytes.toString('base64') !== text) throw invalid(`${name} is not valid, expected base64`)
  if (bytes.length <= 64) return bytes.toString('hex')
  throw invalid(`${name} has ${bytes.length} bytes, expected at most 64`)
}

const invalid = (message: string): StatusError => new StatusError('INVALID_ARGUMENT', message)

/** A stream of bytes that is read piece by piece. */
class Bytes {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)

  constructor(source: AsyncIterable<Buffer>) {
    this.#chunks = source[Symbol.asyncIterator]()
  }

  /** False at the end of the stream. */
  async skipBlanks(): Promise<boolean> {
    for (;;) {
      const at = this.#rest.findIndex((byte) => !BLANKS.has(byte))
      if (at >= 0) {
        this.#rest = this.#rest.subarray(at)
        return true
      }
      this.#rest = Buffer.alloc(0)
      if (!(await this.#more())) return false
    }
  }

  async line(): Promise<string> {
    for (;;) {
      const at = this.#rest.indexOf(LINE_FEED)
      if (at >= 0) {
        const line = this.#rest.toString('utf8', 0, at)
        this.#rest = this.#rest.subarray(at + 1)
        return line
      }
      if (this.#rest.length > MAX_LINE_BYTES) throw invalid(`a request has more than ${MAX_LINE_BYTES} bytes in a line`)
      if (await this.#more()) continue
      const line = this.#rest.toString('utf8')
      this.#rest = Buffer.alloc(0)
      return line
    }
  }

  /** The bytes of a JSON string of base64. */
  async *base64String(sizeBytes: number): AsyncGenerator<Buffer> {
    if (!(await this.skipBlanks()) || this.#rest[0] !== QUOTE)
      throw invalid('a body is missing, expected a text of base64')
    this.#rest = this.#rest.subarray(1)
    let left = sizeBytes
    let isOver = false
    while (!isOver) {
      const end = this.#rest.indexOf(QUOTE)
      isOver = end >= 0
      const known = isOver ? end : this.#rest.length
      // Four characters are three bytes.
      const length = isOver ? known : known - (known % 4)
      const bytes = Buffer.from(this.#rest.toString('latin1', 0, length), 'base64')
      left -= bytes.length
      if (bytes.length > 0) yield bytes
      this.#rest = this.#rest.subarray(isOver ? end + 1 : length)
      if (!isOver && !(await this.#more())) throw invalid('the input ends inside a body')
    }
    if (left !== 0) throw invalid(`a body has ${sizeBytes - left} bytes, expected BodySize (${sizeBytes})`)
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next()
    if (done === true) return false
    this.#rest = this.#rest.length === 0 ? value : Buffer.concat([this.#rest, value])
    return true
  }
}
