import { codec, type Output } from '../proto/codec.js'
import { Fields } from '../proto/fields.js'

export type BazelEvent = Output<'build_event_stream.BuildEvent'>
export type Payload = NonNullable<BazelEvent['payload']>

const EVENT = 'google.devtools.build.v1.BuildEvent'
/** Field numbers of EVENT and of google.protobuf.Any. */
const INVOCATION_FINISHED = 52
const BUILD_FINISHED = 55
const COMPONENT_STREAM_FINISHED = 59
const BAZEL_EVENT = 60
const ANY_VALUE = 2

/** Fields of build_event_stream.BuildEvent that are no payload. */
const NO_PAYLOAD: ReadonlySet<number> = new Set([1, 2, 20])

const bazelEvents = codec('build_event_stream.BuildEvent')
const buildEvents = codec(EVENT)

/** Whether the event ends the stream of the tool. Throws INVALID_ARGUMENT for bytes that are no event. */
export const isLastOfTool = (event: Buffer): boolean => fieldIn(event, COMPONENT_STREAM_FINISHED) !== undefined

/** The event of Bazel inside an encoded event; undefined for others. */
export const bazelEventIn = (event: Buffer): Buffer | undefined => {
  const any = fieldIn(event, BAZEL_EVENT)
  return any && fieldIn(any, ANY_VALUE)
}

/** The field number of the payload, without decoding it; undefined if there is none. */
export const payloadNumber = (bazelEvent: Buffer): number | undefined => {
  const fields = new Fields(bazelEvent, 'build_event_stream.BuildEvent')
  let number: number | undefined
  while (fields.next()) if (!NO_PAYLOAD.has(fields.number)) number = fields.number
  return number
}

export const decodeBazelEvent = (bazelEvent: Buffer): BazelEvent => bazelEvents.decode(bazelEvent)

/** How a controller says that the invocation ended. */
export const statusIn = (event: Buffer): Output<'google.devtools.build.v1.BuildStatus'> | undefined => {
  if (fieldIn(event, INVOCATION_FINISHED) === undefined && fieldIn(event, BUILD_FINISHED) === undefined)
    return undefined
  const { invocationAttemptFinished, buildFinished } = buildEvents.decode(event)
  return invocationAttemptFinished?.invocationStatus ?? buildFinished?.status ?? undefined
}

const fieldIn = (bytes: Buffer, number: number): Buffer | undefined => {
  const fields = new Fields(bytes, EVENT)
  let found: Buffer | undefined
  while (fields.next()) if (fields.number === number) found = bytes.subarray(fields.from, fields.to)
  return found
}
