import { isStatus } from '../../base/status-error.js'
import { codec } from '../../proto/codec.js'
import { ProcessFault } from './fault.js'

/** How messages are written: with their length before each, or as one JSON object after the other. */
export type Protocol = 'proto' | 'json'

/** Request and answer have to fit in an attempt's share of `tool_messages` in the ledger. */
export const MAX_MESSAGE_BYTES = 16 * 1024 * 1024

export interface WorkRequest {
  readonly arguments: readonly string[]
  readonly inputs: readonly WorkInput[]
}

export interface WorkInput {
  /** Relative to the working directory of the process. */
  readonly path: string
  /** Lower-case hexadecimal digits. */
  readonly hash: string
}

export interface WorkResponse {
  readonly exitCode: number
  readonly output: string
}

const requestCodec = codec('blaze.worker.WorkRequest')
const responseCodec = codec('blaze.worker.WorkResponse')

/** `persistentWorkerProtocol` of an action; undefined for one that is not known. Bazel means `proto` if it sends none. */
export const protocolNamed = (name: string | undefined): Protocol | undefined => {
  if (name === undefined || name === '' || name === 'proto' || name === 'protobuf') return 'proto'
  return name === 'json' ? 'json' : undefined
}

export const encodeRequest = (protocol: Protocol, { arguments: line, inputs }: WorkRequest): Buffer => {
  if (protocol === 'json') {
    const shown = inputs.map(({ path, hash }) => ({ path, digest: Buffer.from(hash).toString('base64') }))
    return Buffer.from(`${JSON.stringify({ arguments: line, inputs: shown })}\n`)
  }
  const message = requestCodec.encode({
    arguments: line,
    inputs: inputs.map(({ path, hash }) => ({ path, digest: Buffer.from(hash) })),
  })
  return Buffer.concat([varint(message.length), message])
}

/** An upper bound on the length of the encoded request. */
export const requestBytes = ({ arguments: line, inputs }: WorkRequest): number => {
  let bytes = 64
  // JSON writes a control character as six.
  for (const argument of line) bytes += 6 * argument.length + 8
  for (const { path, hash } of inputs) bytes += 3 * path.length + 2 * hash.length + 40
  return bytes
}

const varint = (value: number): Buffer => {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

/** Puts one answer together from what a process writes. */
export interface ResponseReader {
  /** Whether it has read the beginning of an answer. */
  readonly hasBegun: boolean
  /** Undefined until the answer is complete. Throws ProcessFault for bytes that are no answer, or more than one. */
  add(chunk: Buffer): WorkResponse | undefined
}

export const responseReader = (protocol: Protocol): ResponseReader =>
  protocol === 'proto' ? new ProtoReader() : new JsonReader()

/** Fields 1 to 4 of WorkResponse with their wire types. Writers begin with the lowest field. */
const FIRST_TAGS = new Set([0x08, 0x12, 0x18, 0x20])
const MAX_LENGTH_BYTES = 4

class ProtoReader implements ResponseReader {
  readonly #chunks: Buffer[] = []
  #sizeBytes = 0
  /** Of the message, and where it begins. */
  #message: { readonly from: number; readonly sizeBytes: number } | undefined

  get hasBegun(): boolean {
    return this.#sizeBytes > 0
  }

  add(chunk: Buffer): WorkResponse | undefined {
    this.#chunks.push(chunk)
    this.#sizeBytes += chunk.length
    this.#message ??= this.#begun()
    if (this.#message === undefined) return undefined
    const { from, sizeBytes } = this.#message
    if (this.#sizeBytes < from + sizeBytes) return undefined
    if (this.#sizeBytes > from + sizeBytes) throw garbage('bytes behind its answer')
    const bytes = Buffer.concat(this.#chunks).subarray(from)
    try {
      return answerOf(responseCodec.decode(bytes))
    } catch (error) {
      if (!isStatus(error, 'INVALID_ARGUMENT')) throw error
      throw garbage('a message that is no WorkResponse')
    }
  }

  /** What a program prints by mistake is noticed here: otherwise its text would be taken for a length to wait for. */
  #begun(): { readonly from: number; readonly sizeBytes: number } | undefined {
    const head = Buffer.concat(this.#chunks)
    let sizeBytes = 0
    for (let at = 0; at < head.length; at++) {
      const byte = head[at] ?? 0
      sizeBytes += (byte & 0x7f) * 128 ** at
      if (byte < 0x80) {
        if (sizeBytes > MAX_MESSAGE_BYTES) throw tooLong()
        const first = head[at + 1]
        if (sizeBytes > 0 && first === undefined) return undefined
        if (sizeBytes > 0 && !FIRST_TAGS.has(first ?? 0)) throw garbage('a message that is no WorkResponse')
        return { from: at + 1, sizeBytes }
      }
      if (at + 1 === MAX_LENGTH_BYTES) throw garbage('no length of a message')
    }
    return undefined
  }
}

const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x7b, 0x7d]
const SPACES = new Set([0x20, 0x09, 0x0a, 0x0d])

/** One JSON object, with spaces around it: its end is that of its braces, whether or not a line ends there. */
class JsonReader implements ResponseReader {
  readonly #chunks: Buffer[] = []
  #sizeBytes = 0
  #depth = 0
  #isInText = false
  #isEscaped = false
  #isOver = false

  get hasBegun(): boolean {
    return this.#depth > 0 || this.#isOver
  }

  add(chunk: Buffer): WorkResponse | undefined {
    for (const byte of chunk) this.#look(byte)
    this.#chunks.push(chunk)
    this.#sizeBytes += chunk.length
    if (this.#sizeBytes > MAX_MESSAGE_BYTES) throw tooLong()
    return this.#isOver ? parsed(Buffer.concat(this.#chunks).toString()) : undefined
  }

  #look(byte: number): void {
    if (this.#isInText) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (byte === BACKSLASH) this.#isEscaped = true
      else if (byte === QUOTE) this.#isInText = false
      return
    }
    if (SPACES.has(byte)) return
    if (this.#isOver) throw garbage('bytes behind its answer')
    if (this.#depth === 0 && byte !== OPEN) throw garbage('text that is no JSON object')
    if (byte === QUOTE) this.#isInText = true
    else if (byte === OPEN) this.#depth += 1
    else if (byte === CLOSE) this.#isOver = --this.#depth === 0
  }
}

const parsed = (text: string): WorkResponse => {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw garbage('text that is no JSON object')
  }
  const { exitCode, output, requestId, wasCancelled } = value as Readonly<Record<string, unknown>>
  return answerOf({
    exitCode: integer(exitCode),
    requestId: integer(requestId),
    output: textOr(output),
    wasCancelled: booleanOr(wasCancelled),
  })
}

const integer = (value: unknown): number => {
  // The JSON form of protobuf allows numbers as text.
  const number = typeof value === 'string' && /^-?\d{1,10}$/.test(value) ? Number(value) : (value ?? 0)
  if (typeof number === 'number' && Number.isInteger(number) && Math.abs(number) <= 2 ** 31) return number
  throw garbage('a number that is none')
}

const textOr = (value: unknown): string => {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  throw garbage('a field that is no text')
}

const booleanOr = (value: unknown): boolean => {
  if (typeof value === 'boolean') return value
  if (value === undefined || value === null) return false
  throw garbage('a field that is neither true nor false')
}

const answerOf = (answer: {
  readonly exitCode: number
  readonly output: string
  readonly requestId: number
  readonly wasCancelled: boolean
}): WorkResponse => {
  if (answer.requestId !== 0) throw garbage(`an answer to request ${answer.requestId}, which it was not asked`)
  if (answer.wasCancelled) throw garbage('that it cancelled a request, which it was not asked to')
  return { exitCode: answer.exitCode, output: answer.output }
}

const tooLong = (): ProcessFault => garbage(`an answer of more than ${MAX_MESSAGE_BYTES} bytes`)

const garbage = (what: string): ProcessFault =>
  new ProcessFault('garbage', `it wrote ${what}, expected one WorkResponse for each request`)
