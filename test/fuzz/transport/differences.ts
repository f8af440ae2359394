import { DEFAULT_FRAME_BYTES } from '../../../src/server/http2/frame/frame.js'
import { makeField } from '../../../src/server/http2/hpack/field.js'
import { requestHead } from '../../../src/server/http2/request-head.js'
import type { Difference } from './sessions.js'

/**
 * A difference between our server and nghttp2's that is meant to be. All of the patterns have to match; of several rows the first
 * counts.
 */
export interface KnownDifference {
  /** A session in fixtures/fuzz/http2-sessions shows it under this name. */
  readonly name: string
  /** No session shows it each time. */
  readonly isByChance?: boolean
  /** The frames of the step, as `HEADERS CONTINUATION`. */
  readonly step: RegExp
  /** The stream of the first frame. */
  readonly on: RegExp
  /** The verdicts; an empty one means that the step was taken without a word. */
  readonly ours: RegExp
  readonly theirs: RegExp
  readonly isSo?: (difference: Difference) => boolean
  /** Who is right, by which section of RFC 9113 where nothing else is said. */
  readonly reason: string
}

const ANY = /^/
const NOTHING = /^$/
const CONNECTION = /^connection /
const STREAM = /^reset \d+ /

const payloadOf = ({ frames }: Difference): Buffer => Buffer.concat(frames.map(({ payload }) => payload))
const isAck = ({ frames }: Difference): boolean => ((frames[0]?.flags ?? 0) & 1) !== 0

/** Entries of a SETTINGS frame by their ids. */
const hasSetting = (difference: Difference, isIt: (id: number, value: number) => boolean): boolean => {
  const payload = payloadOf(difference)
  for (let at = 0; at + 6 <= payload.length; at += 6)
    if (isIt(payload.readUInt16BE(at), payload.readUInt32BE(at + 2))) return true
  return false
}

/** Characters that a URI has in these places, and a method. */
const REGULAR: Readonly<Record<string, RegExp>> = {
  ':authority': /^[A-Za-z0-9!$%&'()*+,\-.:;=@[\]_~]*$/,
  host: /^[A-Za-z0-9!$%&'()*+,\-.:;=@[\]_~]*$/,
  ':path': /^[\x21-\x7e\x80-\xff]*$/,
  ':scheme': /^[A-Za-z][A-Za-z0-9+\-.]*$/,
  ':method': /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/,
}

/** Whether a name of `lines` (names and values in turn) has a value that is none of a URI. */
const isOdd = (lines: readonly string[]): boolean =>
  lines.some((name, at) => at % 2 === 0 && REGULAR[name]?.test(lines[at + 1] ?? '') === false)

export const differences: readonly KnownDifference[] = [
  {
    name: 'fields-beyond-the-limit',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^an idle stream$/,
    ours: /^answered \d+$/,
    theirs: /^reset \d+ ENHANCE_YOUR_CALM$/,
    reason:
      'A server may answer 431 when the fields exceed SETTINGS_MAX_HEADER_LIST_SIZE (10.5.1). Node resets the stream.',
  },
  {
    name: 'late-end-after-window',
    isByChance: true,
    step: ANY,
    on: ANY,
    ours: ANY,
    theirs: /^connection Flow control error$/,
    reason:
      'A window that grows too large is an error of its stream (6.9.1), by which both reset it. Some turns later Node may end the connection.',
  },
  {
    name: 'continuation-beyond-the-limit',
    step: /^HEADERS( CONTINUATION)+$/,
    on: ANY,
    ours: /^connection FRAME_SIZE_ERROR$/,
    theirs: /^$|^reset \d+ PROTOCOL_ERROR$/,
    isSo: ({ frames }) => (frames.at(-1)?.length ?? 0) > DEFAULT_FRAME_BYTES,
    reason:
      'Part of a field block in a frame beyond SETTINGS_MAX_FRAME_SIZE is a connection error (4.2). nghttp2 does not refuse a CONTINUATION by its length.',
  },
  {
    name: 'data-on-closed-stream',
    step: /^DATA$/,
    on: /^a (skipped|reset) stream$/,
    ours: /^reset \d+ STREAM_CLOSED$/,
    theirs: NOTHING,
    reason:
      'A stream below the highest one is closed (5.1.1), and so is one that the client has reset: DATA on it is a stream error (5.1). nghttp2 ignores it.',
  },
  {
    name: 'padding-on-closed-stream',
    step: /^DATA$/,
    on: /^a (skipped|reset|half-closed) stream$/,
    ours: /^connection (PROTOCOL_ERROR|FRAME_SIZE_ERROR)$/,
    theirs: /^$|^connection STREAM_CLOSED$/,
    reason: 'Wrong padding is a connection error on every stream (6.1). nghttp2 looks at the stream first.',
  },
  {
    name: 'data-after-end',
    step: /^DATA$/,
    on: /^a half-closed stream$/,
    ours: / STREAM_CLOSED$/,
    theirs: CONNECTION,
    reason: 'DATA behind the end of a request is a stream error (5.1). nghttp2 ends the connection.',
  },
  {
    name: 'headers-after-end',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^a half-closed stream$/,
    ours: STREAM,
    theirs: CONNECTION,
    reason: 'HEADERS behind the end of a request are a stream error (5.1). nghttp2 ends the connection.',
  },
  {
    name: 'headers-on-closed-stream',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^a (skipped|reset) stream$/,
    ours: /^connection STREAM_CLOSED$/,
    theirs: NOTHING,
    reason: 'HEADERS that open a stream below the highest one are a connection error (5.1.1). nghttp2 ignores them.',
  },
  {
    name: 'headers-depend-on-themselves',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^an idle stream$/,
    ours: / PROTOCOL_ERROR$/,
    theirs: CONNECTION,
    isSo: ({ frames: [first] }) => ((first?.flags ?? 0) & 0x20) !== 0,
    reason: 'A stream that depends on itself is a stream error (RFC 7540, 5.3.1). nghttp2 ends the connection.',
  },
  {
    name: 'no-authority',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^an idle stream$/,
    ours: /^request \d+$/,
    theirs: / PROTOCOL_ERROR$/,
    isSo: ({ request }) => !request.includes(':authority') && !request.includes('host'),
    reason: 'A request needs neither :authority nor host (8.3.1). nghttp2 expects one of them.',
  },
  {
    name: 'odd-pseudo-field',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^an idle stream$/,
    ours: /^request \d+$/,
    theirs: / PROTOCOL_ERROR$/,
    isSo: ({ request }) => isOdd(request),
    reason:
      'A value may have any bytes but NUL, CR, LF and blanks around it (8.2.1), and ours uses neither :authority nor :scheme. nghttp2 expects the characters of a URI (RFC 3986) and of a token.',
  },
  {
    name: 'field-twice',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^an idle stream$/,
    ours: /^request \d+$/,
    theirs: / PROTOCOL_ERROR$/,
    isSo: ({ request }) => ['host', 'content-length'].some((name) => request.filter((one) => one === name).length > 1),
    reason:
      'Ours does not use host, and takes the same content-length twice for one, as RFC 9110, 8.6 allows. nghttp2 refuses both twice.',
  },
  {
    name: 'padded-value',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^an idle stream$/,
    ours: /^answered \d+(, reset \d+ NO_ERROR)?$/,
    theirs: / PROTOCOL_ERROR$/,
    reason:
      'A value that begins or ends with a blank makes a request malformed (8.2.1). A server may answer before it ends the stream (8.1.1), as ours does to say why. nghttp2 resets it.',
  },
  {
    name: 'invalid-field',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^an (idle|open) stream$/,
    ours: / PROTOCOL_ERROR$/,
    theirs: /^$|^request \d+$/,
    // What nghttp2 has not dropped is fine.
    isSo: ({ theirs, request }) => theirs === '' || isValid(request),
    reason:
      'A field with an invalid name or value makes a request malformed (8.2.1). nghttp2 drops the field and goes on.',
  },
  {
    name: 'content-length-in-trailers',
    step: /^HEADERS( CONTINUATION)*$/,
    on: /^an open stream$/,
    ours: NOTHING,
    theirs: / PROTOCOL_ERROR$/,
    isSo: (difference) => /[01]f0d|5c/.test(payloadOf(difference).toString('hex')),
    reason:
      'Trailers have no content-length (RFC 9110, 6.5.1); ours ignores one. nghttp2 refuses it when it is no number, or another than before.',
  },
  {
    name: 'two-mistakes-in-a-block',
    step: / /,
    on: ANY,
    ours: CONNECTION,
    theirs: CONNECTION,
    reason:
      'Two mistakes in one header block: nghttp2 decodes fields as they come, ours when the block is complete. Either ends the connection.',
  },
  {
    name: 'no-length-of-padding',
    step: /^(DATA|HEADERS)$/,
    on: ANY,
    ours: /^connection FRAME_SIZE_ERROR$/,
    theirs: /^connection PROTOCOL_ERROR$/,
    isSo: (difference) => payloadOf(difference).length < 6,
    reason:
      'A frame that has no room for the length of its padding and its priority is too small (4.2). nghttp2 says PROTOCOL_ERROR.',
  },
  {
    name: 'two-mistakes-in-a-frame',
    step: /^(SETTINGS|PING|GOAWAY|PRIORITY|PUSH_PROMISE)$/,
    on: ANY,
    ours: /^connection (PROTOCOL_ERROR|FRAME_SIZE_ERROR)$/,
    theirs: /^connection (PROTOCOL_ERROR|FRAME_SIZE_ERROR)$/,
    isSo: ({ on, step }) => on !== 'the connection' || ['PRIORITY', 'PUSH_PROMISE'].includes(step),
    reason:
      'Two mistakes in one frame, its length and its stream: the order of looking is free. Either ends the connection.',
  },
  {
    name: 'priority',
    step: /^PRIORITY$/,
    on: ANY,
    ours: /^reset \d+ (PROTOCOL_ERROR|FRAME_SIZE_ERROR)$/,
    theirs: CONNECTION,
    reason:
      'PRIORITY of a wrong length is a stream error (6.3), and so is one on itself (RFC 7540, 5.3.1). nghttp2 ends the connection.',
  },
  {
    name: 'goaway',
    step: /^GOAWAY$/,
    on: /^the connection$/,
    ours: NOTHING,
    theirs: /^connection |^reset /,
    isSo: (difference) => payloadOf(difference).length >= 8,
    reason:
      'Node ends the connection of a client that says GOAWAY. Ours serves the open requests and leaves the end to the client (6.8).',
  },
  {
    name: 'settings-ack-unasked',
    step: /^SETTINGS$/,
    on: /^the connection$/,
    ours: NOTHING,
    theirs: CONNECTION,
    isSo: isAck,
    reason: 'An acknowledgement of nothing is not forbidden (6.5.3). nghttp2 ends the connection.',
  },
  {
    name: 'ping-ack-unasked',
    step: /^PING$/,
    on: /^the connection$/,
    ours: NOTHING,
    theirs: CONNECTION,
    isSo: isAck,
    reason: 'An answer to no PING is not forbidden (6.7). Node ends the connection.',
  },
  {
    name: 'unknown-settings',
    step: /^SETTINGS$/,
    on: /^the connection$/,
    ours: /^settings acknowledged$/,
    theirs: CONNECTION,
    isSo: (difference) => hasSetting(difference, (id, value) => (id === 8 && value > 1) || id === 9),
    reason:
      'Settings of RFC 8441 and RFC 9218, which ours does not know and has to ignore (6.5.2), have a value that they forbid, or change after the first frame.',
  },
  {
    name: 'setting-twice',
    step: /^SETTINGS$/,
    on: /^the connection$/,
    ours: CONNECTION,
    theirs: /^settings acknowledged$/,
    isSo: (difference) => {
      const ids = new Set<number>()
      return hasSetting(difference, (id) => ids.size === ids.add(id).size)
    },
    reason:
      'A forbidden value is an error where a later entry of the frame replaces it too: they count in order (6.5.3). nghttp2 looks at the last.',
  },
  {
    name: 'settings-window-too-large',
    step: /^SETTINGS$/,
    on: /^the connection$/,
    ours: /^connection FLOW_CONTROL_ERROR$/,
    theirs: /^reset \d+ FLOW_CONTROL_ERROR/,
    isSo: (difference) => hasSetting(difference, (id) => id === 4),
    reason:
      'SETTINGS that raise the window of a stream above the maximum are a connection error (6.9.2). nghttp2 resets the stream.',
  },
  {
    name: 'window-update-of-0',
    step: /^WINDOW_UPDATE$/,
    on: / stream$/,
    ours: / PROTOCOL_ERROR$/,
    theirs: CONNECTION,
    isSo: (difference) => (payloadOf(difference).readUInt32BE(0) & 0x7fffffff) === 0,
    reason: 'An increment of 0 on a stream is a stream error (6.9). nghttp2 ends the connection.',
  },
]

/** The row of the table that a difference is in. */
export const knownAs = (difference: Difference): KnownDifference | undefined =>
  differences.find(
    ({ step, on, ours, theirs, isSo }) =>
      step.test(difference.step) &&
      on.test(difference.on) &&
      ours.test(difference.ours) &&
      theirs.test(difference.theirs) &&
      (isSo === undefined || isSo(difference)),
  )

const isValid = (lines: readonly string[]): boolean => {
  const problems = lines.flatMap((name, at) =>
    at % 2 === 0 ? (makeField(name, lines[at + 1] as string).problem ?? []) : [],
  )
  return typeof requestHead({ lines, problem: problems[0] }) !== 'string'
}
