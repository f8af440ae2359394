import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { inWords } from '../base/errno.js'
import { type CodeName, StatusError } from '../base/status-error.js'
import { outgoingAgents } from '../outgoing/http-agents.js'
import { readAddress } from '../tls/endpoint.js'
import { type Target, tlsConfigOf } from './target.js'

/** A request for JSON to a server, over HTTP/1.1. */
export interface Exchange {
  readonly method: 'GET' | 'PUT' | 'DELETE'
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
}

export interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
  /** Where the server sends the client instead. */
  readonly location: string | undefined
}

const SILENCE_TIMEOUT_MS = 60_000
/** A queue of a million actions tells of at most 1,000 for each requirement. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024

export const exchange = async (
  target: Pick<Target, 'address' | 'headers' | 'tls'>,
  { method, path, query }: Exchange,
): Promise<Answer> => {
  const { address, headers } = target
  const { tls } = await readAddress({ address, ...tlsConfigOf(target) })
  const url = new URL(path, address.replace(/^grpc/, 'http'))
  if (query !== undefined) url.search = new URLSearchParams(query).toString()
  const agents = outgoingAgents({})
  const options = { method, headers: { accept: 'application/json', ...headers }, timeout: SILENCE_TIMEOUT_MS }
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(unreachable(address, error))
    const heard = (response: IncomingMessage): void => {
      const { statusCode: status = 0, headers: of } = response
      textOf(response).then((text) => {
        resolve({ status, type: of['content-type'] ?? '', text, location: of.location })
      }, failed)
    }
    const request =
      tls === undefined
        ? requestPlain(url, { ...options, agent: agents.http }, heard)
        : requestSecure(
            url,
            {
              ...options,
              agent: agents.https,
              ca: tls.ca,
              ...(tls.key && { key: tls.key }),
              ...(tls.cert && { cert: tls.cert }),
            },
            heard,
          )
    request.on('timeout', () => request.destroy(new Error(`no answer for ${SILENCE_TIMEOUT_MS / 1000} s`)))
    request.on('error', failed).end()
  })
}

const textOf = async (response: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length
    if (sizeBytes > MAX_ANSWER_BYTES) throw new Error(`an answer of more than ${MAX_ANSWER_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const unreachable = (address: string, error: unknown): StatusError =>
  new StatusError('UNAVAILABLE', `${address}: ${inWords(error)}`, { cause: error })

/** The object in an answer; undefined if it has none. */
export const parsedObject = (type: string, text: string): object | undefined => {
  if (!type.startsWith('application/json')) return undefined
  try {
    const content: unknown = JSON.parse(text)
    return typeof content === 'object' && content !== null ? content : undefined
  } catch {
    return undefined
  }
}

/** The code for a refusal by a server of ours. */
export const codeOfStatus = (status: number): CodeName => CODES.get(status) ?? 'UNKNOWN'

const CODES: ReadonlyMap<number, CodeName> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [401, 'UNAUTHENTICATED'],
  [403, 'PERMISSION_DENIED'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
])

const MAX_SHOWN = 300

/** The words of a refusal. A page for people is not shown. */
export const oneLine = (text: string): string =>
  text.startsWith('<') ? 'refused' : text.trim().replace(/\s+/g, ' ').slice(0, MAX_SHOWN)
