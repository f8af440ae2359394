import { StatusError } from '../base/status-error.js'
import { type Call, callWith } from './call.js'
import type { SpanAttributes } from './trace.js'

/** Runs `work` in a child span of `call`. Costs nothing if the call is not traced. */
export const inSpan = async <T>(
  call: Call,
  name: string,
  work: (call: Call) => Promise<T>,
  attributes?: SpanAttributes,
): Promise<T> => {
  if (call.span === undefined) return work(call)
  const span = call.span.begin(name, attributes)
  try {
    const result = await work(callWith(call, { span }))
    span.end()
    return result
  } catch (error) {
    span.end(StatusError.from(error))
    throw error
  }
}
