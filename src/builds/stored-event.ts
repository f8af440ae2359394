import { codec, type Output } from '../proto/codec.js'
import { Fields, writeFieldHead } from '../proto/fields.js'

export type BazelEvent = Output<'build_event_stream.BuildEvent'>
export type Payload = NonNullable<BazelEvent['payload']>

const EVENT = 'google.devtools.build.v1.BuildEvent'
const BAZEL = 'build_event_stream.BuildEvent'
/** Field numbers of EVENT and of google.protobuf.Any. */
const INVOCATION_FINISHED = 52
const BUILD_FINISHED = 55
const COMPONENT_STREAM_FINISHED = 59
const BAZEL_EVENT = 60
const ANY_VALUE = 2

/** Field numbers of BAZEL that are no payload. */
const ID = 1
const NO_PAYLOAD: ReadonlySet<number> = new Set([ID, 2, 20])

/** An event and its Any have two or three. More would only take time. */
const MAX_FIELDS = 1000
/** Each child of an event is a field: a target of the pattern that was asked for. Walking over them takes some milliseconds. */
const MAX_CHILDREN = 1_000_000
/** What is decoded of an event in one turn of the event loop. Of a larger one, lists and texts beyond it are left out. */
const MAX_ID_BYTES = 32 * 1024
const MAX_PAYLOAD_BYTES = 128 * 1024

const bazelEvents = codec(BAZEL)
const buildEvents = codec(EVENT)

/** Whether the event ends the stream of the tool. Throws INVALID_ARGUMENT for bytes that are no event. */
export const isLastOfTool = (event: Buffer): boolean => fieldIn(event, COMPONENT_STREAM_FINISHED) !== undefined

/** The event of Bazel inside an encoded event; undefined for others. */
export const bazelEventIn = (event: Buffer): Buffer | undefined => {
  const any = fieldIn(event, BAZEL_EVENT)
  return any && fieldIn(any, ANY_VALUE)
}

/** A payload that is not decoded yet, as long as it may be. */
export interface EncodedPayload {
  /** The field number of the payload; 0 if there is none. */
  readonly number: number
  readonly payload: Buffer
  /** Encoded too. */
  readonly id: Buffer
}

/** Finds the parts of an event of Bazel. Those that nobody shows, such as its children, are left out. */
export const payloadIn = (bazelEvent: Buffer): EncodedPayload => {
  const fields = new Fields(bazelEvent, BAZEL, 0, bazelEvent.length, MAX_CHILDREN)
  let number = 0
  let payload: Buffer = NOTHING
  let id: Buffer = NOTHING
  while (fields.next()) {
    if (fields.number === ID) id = bazelEvent.subarray(fields.from, fields.to)
    else if (!NO_PAYLOAD.has(fields.number)) {
      number = fields.number
      payload = bazelEvent.subarray(fields.from, fields.to)
    }
  }
  return { number, payload, id }
}

export interface Decoded {
  readonly event: BazelEvent
  /** It was so large that parts of it are left out. */
  readonly isShortened: boolean
}

/** Decodes an event within a bound of time, however large it is. */
export const decodePayload = ({ number, payload, id }: EncodedPayload): Decoded => {
  const keptId = shortened(id, MAX_ID_BYTES, 1)
  const kept = shortened(payload, MAX_PAYLOAD_BYTES, 0)
  return {
    event: bazelEvents.decode(Buffer.concat([headOf(ID, keptId), keptId, headOf(number, kept), kept])),
    isShortened: kept !== payload || keptId !== id,
  }
}

/** How a controller says that the invocation ended. */
export const statusIn = (event: Buffer): Output<'google.devtools.build.v1.BuildStatus'> | undefined => {
  if (fieldIn(event, INVOCATION_FINISHED) === undefined && fieldIn(event, BUILD_FINISHED) === undefined)
    return undefined
  if (event.length > MAX_PAYLOAD_BYTES) return undefined
  const { invocationAttemptFinished, buildFinished } = buildEvents.decode(event)
  return invocationAttemptFinished?.invocationStatus ?? buildFinished?.status ?? undefined
}

const NOTHING = Buffer.alloc(0)

const headOf = (number: number, { length }: Buffer): Buffer => {
  if (number === 0) return NOTHING
  const head = Buffer.allocUnsafe(20)
  return head.subarray(0, writeFieldHead(head, 0, number, length))
}

/**
 * A message without those of its texts, lists and inner messages that are beyond `maxBytes` together. `levels`: how far
 * down its fields are known to be messages, which are shortened instead.
 */
const shortened = (message: Buffer, maxBytes: number, levels: number): Buffer => {
  if (message.length <= maxBytes) return message
  const fields = new Fields(message, BAZEL, 0, message.length, MAX_CHILDREN)
  const kept = Buffer.allocUnsafe(maxBytes)
  let at = 0
  /** Copied at once: an object for each of a million fields took seconds. */
  const keep = (part: Buffer, from: number, to: number): void => {
    if (to - from <= maxBytes - at) at += part.copy(kept, at, from, to)
  }
  let behind = 0
  while (at < maxBytes && fields.next()) {
    // Numbers, which have no length, are between the fields that have one.
    if (fields.start > behind) keep(message, behind, fields.start)
    behind = fields.to
    if (levels === 0 || fields.to - fields.start <= maxBytes - at) keep(message, fields.start, fields.to)
    else {
      const short = shortened(message.subarray(fields.from, fields.to), Math.floor((maxBytes - at) / 2), levels - 1)
      const head = headOf(fields.number, short)
      keep(head, 0, head.length)
      keep(short, 0, short.length)
    }
  }
  return kept.subarray(0, at)
}

const fieldIn = (bytes: Buffer, number: number): Buffer | undefined => {
  const fields = new Fields(bytes, EVENT, 0, bytes.length, MAX_FIELDS)
  let found: Buffer | undefined
  while (fields.next()) if (fields.number === number) found = bytes.subarray(fields.from, fields.to)
  return found
}
