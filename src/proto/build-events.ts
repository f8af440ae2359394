import { StatusError } from '../base/status-error.js'
import { type Codec, codec } from './codec.js'
import { Fields } from './fields.js'

const TYPE = 'google.devtools.build.v1.PublishBuildEvent'
/** What a request may have beside its event. Bazel sends some hundred bytes. */
const MAX_ENVELOPE_BYTES = 64 * 1024
/** Each field has two bytes or more. */
const MAX_FIELDS = MAX_ENVELOPE_BYTES / 2
/** The field number of the event in both kinds of ordered events. */
const EVENT = 3

/**
 * The requests of google.devtools.build.v1.PublishBuildEvent with their event still encoded. Throws INVALID_ARGUMENT before it
 * decodes a request that has more beside its event than any client sends, because all of that is decoded in one turn.
 */
export const decodeToolEvent = (request: Buffer) => bounded(toolEvents, request, 4)
export const decodeLifecycleEvent = (request: Buffer) => bounded(lifecycleEvents, request, 2)

const toolEvents = codec('remexec.builds.v1.ToolEvent')
const lifecycleEvents = codec('remexec.builds.v1.LifecycleEvent')

/** `ordered`: the field number of the ordered event. */
const bounded = <Message>(
  messages: Pick<Codec<never, Message>, 'decode'>,
  request: Buffer,
  ordered: number,
): Message => {
  const fields = new Fields(request, TYPE, 0, request.length, MAX_FIELDS)
  let eventBytes = 0
  while (fields.next()) {
    if (fields.number !== ordered) continue
    const inner = new Fields(request, TYPE, fields.from, fields.to, MAX_FIELDS)
    while (inner.next()) if (inner.number === EVENT) eventBytes = Math.max(eventBytes, inner.to - inner.from)
  }
  const besides = request.length - eventBytes
  if (besides <= MAX_ENVELOPE_BYTES) return messages.decode(request)
  const found = `the request has ${besides} bytes beside its event`
  throw new StatusError('INVALID_ARGUMENT', `${found}, expected at most ${MAX_ENVELOPE_BYTES}`)
}
