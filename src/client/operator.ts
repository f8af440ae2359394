import { type IncomingMessage, request as requestPlain } from 'node:http'
import { request as requestSecure } from 'node:https'
import { inWords } from '../base/errno.js'
import { type CodeName, StatusError } from '../base/status-error.js'
import { outgoingAgents } from '../outgoing/http-agents.js'
import { readAddress } from '../tls/endpoint.js'
import { type Target, tlsConfigOf } from './target.js'

/** How to reach the service admin of a server. */
export interface OperatorTarget extends Pick<Target, 'address' | 'headers' | 'tls'> {
  /** Of the service admin, without a slash at its end. */
  readonly path: string
}

export interface Question {
  readonly method: 'GET' | 'PUT' | 'DELETE'
  /** Below the path of the service; empty for the service itself. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
}

const SILENCE_TIMEOUT_MS = 60_000
/** A queue of a million actions tells of at most 1,000 for each requirement. */
const MAX_ANSWER_BYTES = 256 * 1024 * 1024

/** Asks the service admin of a server. Rejects with a StatusError whose message says what to do. */
export const askOperator = async (target: OperatorTarget, question: Question): Promise<unknown> => {
  const { status, type, text } = await exchange(target, question)
  const url = `${target.address}${target.path}`
  const content = type.startsWith('application/json') ? parsed(text) : undefined
  const reason = (content as { readonly error?: unknown } | undefined)?.error
  const said = typeof reason === 'string' ? reason : oneLine(text)
  if (status === 401) throw new StatusError('UNAUTHENTICATED', `${url}: ${said}`)
  if (status === 403) {
    const needed = 'this needs the permission `administer` (security.access)'
    throw new StatusError('PERMISSION_DENIED', `${url}: ${said}; ${needed}`)
  }
  if (content === undefined) throw new StatusError('FAILED_PRECONDITION', `${url}: HTTP ${status}: ${NO_SERVICE}`)
  if (status === 200) return content
  throw new StatusError(CODES.get(status) ?? 'UNKNOWN', typeof reason === 'string' ? reason : `${url}: HTTP ${status}`)
}

const NO_SERVICE =
  'there is no service `admin`: expected `services: { admin: {} }` in the configuration of that server, or --server with the address and path where it is'

const CODES: ReadonlyMap<number, CodeName> = new Map([
  [400, 'INVALID_ARGUMENT'],
  [404, 'NOT_FOUND'],
  [409, 'ABORTED'],
  [429, 'RESOURCE_EXHAUSTED'],
  [503, 'UNAVAILABLE'],
])

interface Answer {
  readonly status: number
  readonly type: string
  readonly text: string
}

const exchange = async (target: OperatorTarget, { method, path, query = {} }: Question): Promise<Answer> => {
  const { address, headers, path: root } = target
  const { tls } = await readAddress({ address, ...tlsConfigOf(target) })
  const url = new URL(`${root}${path}`, address.replace(/^grpc/, 'http'))
  url.search = new URLSearchParams(query).toString()
  const agents = outgoingAgents({})
  const options = { method, headers: { accept: 'application/json', ...headers }, timeout: SILENCE_TIMEOUT_MS }
  return new Promise((resolve, reject) => {
    const failed = (error: unknown): void => reject(unreachable(address, error))
    const heard = (response: IncomingMessage): void => {
      textOf(response).then((text) => {
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? '', text })
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

const unreachable = (address: string, error: unknown): StatusError => {
  return new StatusError('UNAVAILABLE', `${address}: ${inWords(error)}`, { cause: error })
}

const parsed = (text: string): object | undefined => {
  try {
    const content: unknown = JSON.parse(text)
    return typeof content === 'object' && content !== null ? content : undefined
  } catch {
    return undefined
  }
}

const MAX_SHOWN = 300

/** The words of a refusal. A page for people is not shown. */
const oneLine = (text: string): string =>
  text.startsWith('<') ? 'refused' : text.trim().replace(/\s+/g, ' ').slice(0, MAX_SHOWN)
