import type { Readable } from 'node:stream'
import { type CodeName, codeName, StatusError } from '../base/status-error.js'
import { retryDelayMsOf } from '../proto/error-details.js'
import { Blob } from '../stream/blob/blob.js'
import type { HttpAnswer, HttpHandler, HttpRequest } from './request.js'

const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json; charset=utf-8'

export const bytesAnswer = (status: number, type: string, bytes: Buffer, headers: Headers = {}): HttpAnswer => ({
  status,
  headers: { 'content-type': type, ...headers },
  body: Blob.ofBytes(bytes),
})

export const textAnswer = (status: number, text: string, headers: Headers = {}): HttpAnswer =>
  bytesAnswer(status, TEXT, Buffer.from(text), headers)

export const jsonAnswer = (status: number, content: unknown, headers: Headers = {}): HttpAnswer =>
  bytesAnswer(status, JSON_TYPE, Buffer.from(`${JSON.stringify(content)}\n`), headers)

/** An answer without a body. */
export const emptyAnswer = (status: number, headers: Headers = {}): HttpAnswer => ({
  status,
  headers,
  body: Blob.ofBytes(NOTHING),
})

type Headers = Readonly<Record<string, string>>
const NOTHING = Buffer.alloc(0)

/** An error with a status of its own, and headers. */
export class HttpError extends StatusError {
  readonly status: number
  readonly headers: Headers

  constructor(status: number, message: string, headers: Headers = {}) {
    super(CODES.get(status) ?? 'INVALID_ARGUMENT', message)
    this.status = status
    this.headers = headers
  }
}

const CODES: ReadonlyMap<number, CodeName> = new Map([
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [405, 'UNIMPLEMENTED'],
  [408, 'DEADLINE_EXCEEDED'],
  [409, 'ALREADY_EXISTS'],
  [413, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
  [507, 'RESOURCE_EXHAUSTED'],
])

/** Asks browsers for credentials, and Maven, which sends none before. */
const CHALLENGE = { 'www-authenticate': 'Basic realm="remexec", charset="UTF-8"' }

const STATUSES: ReadonlyMap<string, number> = new Map([
  ['CANCELLED', 499],
  ['INVALID_ARGUMENT', 400],
  ['NOT_FOUND', 404],
  ['ALREADY_EXISTS', 409],
  ['PERMISSION_DENIED', 403],
  ['UNAUTHENTICATED', 401],
  ['RESOURCE_EXHAUSTED', 429],
  ['FAILED_PRECONDITION', 503],
  ['ABORTED', 409],
  ['OUT_OF_RANGE', 416],
  ['UNIMPLEMENTED', 501],
  ['UNAVAILABLE', 503],
  ['DEADLINE_EXCEEDED', 504],
])

/** The status for an error; undefined for what only the log may know. */
export const statusOf = (error: StatusError): number | undefined =>
  error instanceof HttpError ? error.status : STATUSES.get(codeName(error.code))

/** The answer for an error: its words, in plain text. What only the log may know is `internal error`. */
export const answerOf = (error: StatusError): HttpAnswer => {
  if (error instanceof HttpError) return textAnswer(error.status, `${error.message}\n`, error.headers)
  const status = statusOf(error)
  if (status === undefined) return textAnswer(500, 'internal error\n')
  return textAnswer(status, `${error.message}\n`, status === 401 ? CHALLENGE : retryAfter(error))
}

/** In whole seconds (RFC 9110, 10.2.3). */
const retryAfter = (error: StatusError): Headers => {
  const delayMs = retryDelayMsOf(error)
  return delayMs === undefined ? {} : { 'retry-after': String(Math.ceil(delayMs / 1000)) }
}

/** A page for people or probes. */
export interface Page {
  readonly status: number
  readonly contentType: string
  readonly body: string | Readable
  readonly headers?: Headers
}

/** Who asks, for the log: `token ann` if the page needs a permission, and the address. */
export const askedBy = ({ visitor, peer }: HttpRequest): Readonly<Record<string, string>> => ({
  ...(visitor && { identity: visitor.identity }),
  peer,
})

export const page =
  (work: (request: HttpRequest) => Promise<Page>): HttpHandler =>
  async (request) => {
    const { status, contentType, body, headers } = await work(request)
    const head = { status, headers: { 'content-type': contentType, ...headers } }
    return { ...head, body: typeof body === 'string' ? Blob.ofBytes(Buffer.from(body)) : Blob.ofPath([body]) }
  }
