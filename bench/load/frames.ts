import { framed, type Request } from './request.js'

// As much of HTTP/2 (RFC 9113) and HPACK (RFC 7541) as a client needs that only ever makes gRPC calls.

export const FRAME = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, goAway: 7, windowUpdate: 8 } as const
export const FLAG = { endStream: 1, ack: 1, endHeaders: 4 } as const
export const HEAD_BYTES = 9
export const INITIAL_WINDOW_BYTES = 65_535
/** What every server takes without being asked (SETTINGS_MAX_FRAME_SIZE). */
const MAX_FRAME_BYTES = 16_384

export const frame = (type: number, flags: number, streamId: number, payload: Buffer): Buffer => {
  const head = Buffer.alloc(HEAD_BYTES)
  writeHead(head, 0, payload.length, type, flags, streamId)
  return Buffer.concat([head, payload])
}

const writeHead = (to: Buffer, at: number, length: number, type: number, flags: number, streamId: number): void => {
  to.writeUIntBE(length, at, 3)
  to.writeUInt8(type, at + 3)
  to.writeUInt8(flags, at + 4)
  to.writeUInt32BE(streamId, at + 5)
}

const number32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export const windowUpdate = (streamId: number, bytes: number): Buffer =>
  frame(FRAME.windowUpdate, 0, streamId, number32(bytes))

const CANCEL = 8

export const cancel = (streamId: number): Buffer => frame(FRAME.reset, 0, streamId, number32(CANCEL))

const setting = (id: number, value: number): Buffer => {
  const bytes = Buffer.alloc(6)
  bytes.writeUInt16BE(id)
  bytes.writeUInt32BE(value, 2)
  return bytes
}

/**
 * The client's opening. Without a header table (SETTINGS_HEADER_TABLE_SIZE 0) a header block means the same whatever came
 * before, so that a status can be read without keeping HPACK's state.
 */
export const opening = (streamWindowBytes: number, connectionWindowBytes: number): Buffer =>
  Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame(FRAME.settings, 0, 0, Buffer.concat([setting(1, 0), setting(2, 0), setting(4, streamWindowBytes)])),
    windowUpdate(0, connectionWindowBytes - INITIAL_WINDOW_BYTES),
  ])

/** The initial window a SETTINGS frame asks for, if it does. */
export const windowSetting = (payload: Buffer): number | undefined => {
  for (let at = 0; at + 6 <= payload.length; at += 6) {
    if (payload.readUInt16BE(at) === 4) return payload.readUInt32BE(at + 2)
  }
  return undefined
}

const length7 = (length: number): Buffer => {
  if (length < 127) return Buffer.from([length])
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest >>= 7) bytes.push((rest & 127) | 128)
  return Buffer.from([...bytes, rest])
}

const text = (value: string): Buffer => Buffer.concat([length7(Buffer.byteLength(value)), Buffer.from(value)])

/** A header field that enters no table; `name` is an index of the static table (below 15) or a text. */
const literal = (name: number | string, value: string): Buffer =>
  Buffer.concat([
    typeof name === 'number' ? Buffer.from([name]) : Buffer.concat([Buffer.of(0), text(name)]),
    text(value),
  ])

const POST_OVER_HTTP = Buffer.of(0x83, 0x86)

export const headerBlock = (authority: string, { path, shape, headers = {} }: Request): Buffer =>
  Buffer.concat([
    POST_OVER_HTTP,
    literal(4, path),
    literal(1, authority),
    literal('content-type', 'application/grpc'),
    literal('te', 'trailers'),
    ...(shape === undefined ? [] : [literal('x-bench-shape', shape)]),
    ...Object.entries(headers).map(([name, value]) => literal(name, value)),
  ])

/** The messages as DATA frames, one after the other, whose stream is filled in later; the last one ends the stream. */
export const dataFrames = (messages: readonly Buffer[]): Buffer => {
  const bytes = Buffer.concat(messages.map(framed))
  const count = Math.max(1, Math.ceil(bytes.length / MAX_FRAME_BYTES))
  const laid = Buffer.allocUnsafe(bytes.length + count * HEAD_BYTES)
  for (let index = 0, at = 0; index < count; index++) {
    const part = bytes.subarray(index * MAX_FRAME_BYTES, (index + 1) * MAX_FRAME_BYTES)
    writeHead(laid, at, part.length, FRAME.data, index === count - 1 ? FLAG.endStream : 0, 0)
    part.copy(laid, at + HEAD_BYTES)
    at += HEAD_BYTES + part.length
  }
  return laid
}

const PLAIN_NAME = Buffer.from('grpc-status')
const HUFFMAN_NAME = Buffer.from('9acac8b21234da8f', 'hex')
/** HPACK's code of the digits, by bit string. */
const DIGITS = new Map(
  ['00000', '00001', '00010', '011001', '011010', '011011', '011100', '011101', '011110', '011111'].map(
    (code, digit) => [code, String(digit)],
  ),
)

const huffmanDigits = (bytes: Buffer): string => {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  let digits = ''
  for (let from = 0, to = 5; to <= bits.length; to++) {
    const digit = DIGITS.get(bits.slice(from, to))
    if (digit === undefined) continue
    digits += digit
    from = to
    to += 4
  }
  return digits
}

/** `grpc-status` of a header block written without a table; undefined when the block has none. */
export const statusIn = (block: Buffer): number | undefined => {
  for (const name of [PLAIN_NAME, HUFFMAN_NAME]) {
    const at = block.indexOf(name)
    if (at < 0) continue
    const head = block.readUInt8(at + name.length)
    const value = block.subarray(at + name.length + 1, at + name.length + 1 + (head & 127))
    return Number(head >= 128 ? huffmanDigits(value) : value.toString())
  }
  return undefined
}
