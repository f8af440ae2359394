import { HttpError } from '../../http/answer.js'
import type { HttpRequest } from '../../http/request.js'

const MAX_JSON_BYTES = 1024 * 1024

/** The body of a request as JSON; 400 if it is none. */
export const collectJson = async (request: HttpRequest): Promise<unknown> => {
  const bytes = await request.body.bytes(MAX_JSON_BYTES, request)
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw new HttpError(400, 'the body is not valid JSON')
  }
}
