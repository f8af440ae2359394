import { StatusError } from '../../base/status-error.js'
import { emptyAnswer, HttpError } from '../../http/answer.js'
import type { HttpAnswer, HttpHandler, HttpRequest } from '../../http/request.js'
import { type Entry, isFault } from './entries.js'
import { fieldsIn, headersOf, type KeptField, type KeptFields, NO_FIELDS } from './kept-fields.js'
import { MISS, type Mount, type Outcome } from './mount.js'

export { MISS }

/** What one build tool expects of its cache. */
export interface CacheKind {
  handler(mount: Mount): HttpHandler
  /** What the kind takes below its path, if pages may be at the same path: they have everything else. */
  readonly claims?: RegExp
}

/** A cache of whole files under keys: GET, HEAD, PUT and, if `removes`, DELETE. */
export interface FileKind {
  /** The parts of the key in a path below the mount; undefined if the path is none. `segments` are decoded. */
  keyOf(segments: readonly string[], request: HttpRequest): readonly string[] | undefined
  /** What a path must look like, for the error. */
  readonly expected: string
  readonly contentType?: string
  /** Headers of an upload that a download gets back. */
  readonly keeps?: readonly KeptField[]
  readonly removes?: boolean
  /** Default: 200 without a body. */
  readonly stored?: (outcome: Outcome) => HttpAnswer
}

export const fileHandler =
  (mount: Mount, kind: FileKind): HttpHandler =>
  async (request) => {
    const key = kind.keyOf(segmentsOf(request.rest), request)
    if (key === undefined) throw new HttpError(400, `expected ${kind.expected} below ${mount.options.path}`)
    if (request.method === 'GET' || request.method === 'HEAD') {
      const entry = await mount.get(request, ...key)
      return entry === undefined ? MISS() : hitAnswer(entry, kind.contentType)
    }
    if (request.method === 'PUT') {
      refuseEncoding(request)
      const fields = keptOf(request, kind.keeps ?? [])
      const outcome = await mount.put(request, { fields }, key)
      return kind.stored?.(outcome) ?? emptyAnswer(200)
    }
    if (request.method === 'DELETE' && kind.removes === true) {
      await mount.remove(request, ...key)
      return emptyAnswer(204)
    }
    throw notAllowed(kind.removes === true ? 'GET, HEAD, PUT, DELETE' : 'GET, HEAD, PUT')
  }

/**
 * For tools whose builds fail after an error: an upload that cannot be stored, because it is too large or the store fails, is
 * answered by `instead` and a warning in the log. Mistakes and missing permissions of the caller stay errors.
 */
export const forgiving =
  (mount: Mount, handler: HttpHandler, instead: (error: StatusError) => HttpAnswer): HttpHandler =>
  async (request) => {
    try {
      return await handler(request)
    } catch (thrown) {
      const error = StatusError.from(thrown)
      const isTooMuch = error instanceof HttpError && (error.status === 413 || error.status === 507)
      if (request.method !== 'PUT' || !(isTooMuch || isFault(error))) throw error
      request.log.warn('an upload was not stored', { cache: mount.options.path, error })
      return instead(error)
    }
  }

/** Nobody would undo it: a download has the bytes alone (RFC 9110, 8.4). */
export const refuseEncoding = ({ headers }: HttpRequest): void => {
  const encoding = headers.get('content-encoding')
  if (encoding !== undefined && encoding !== 'identity')
    throw new HttpError(415, `content-encoding ${encoding.slice(0, 20)} is not accepted here, expected none`)
}

export const notAllowed = (allow: string): HttpError => new HttpError(405, `only ${allow}`, { allow })

/** `contentType` is that of the kind, never of the upload. */
export const hitAnswer = ({ body, fields }: Entry, contentType = BYTES): HttpAnswer => ({
  status: 200,
  headers:
    fields === NO_FIELDS && contentType === BYTES
      ? BYTES_HEADERS
      : { 'content-type': contentType, ...headersOf(fields) },
  body,
})

const BYTES = 'application/octet-stream'
const BYTES_HEADERS = Object.freeze({ 'content-type': BYTES })

const keptOf = ({ headers }: HttpRequest, kept: readonly KeptField[]): KeptFields => {
  const { fields, fault } = fieldsIn((name) => headers.get(name), kept)
  if (fault !== undefined) throw new HttpError(400, `${fault.name} is not valid, expected ${fault.expected}`)
  return fields
}

/**
 * The decoded segments of a path. Empty ones are dropped: clients put addresses together from what people write, with a slash
 * at the end. 400 for what a file system or a proxy would read in another way.
 */
export const segmentsOf = (rest: string): readonly string[] => {
  if (rest === '') return []
  const segments = rest.split('/')
  return PLAIN.test(rest) ? segments : segments.filter((segment) => segment !== '').map(decoded)
}

/** Has nothing to decode or to refuse in any segment. */
const PLAIN = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/

const decoded = (segment: string): string => {
  let text: string
  try {
    text = decodeURIComponent(segment)
  } catch {
    throw new HttpError(400, 'the path is not valid percent-encoding')
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
  if (text === '.' || text === '..' || /[/\\\u0000-\u001f\u007f]/.test(text))
    throw new HttpError(400, 'the path has a dot segment, or an encoded slash or control character')
  return text
}
