import { StatusError } from '../base/status-error.js'
import { codeOfStatus, exchange, oneLine, parsedObject } from './http-exchange.js'
import type { Target } from './target.js'

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

/** Asks the service admin of a server. Rejects with a StatusError whose message says what to do. */
export const askOperator = async (target: OperatorTarget, question: Question): Promise<unknown> => {
  const { status, type, text } = await exchange(target, { ...question, path: `${target.path}${question.path}` })
  const url = `${target.address}${target.path}`
  const content = parsedObject(type, text)
  const reason = (content as { readonly error?: unknown } | undefined)?.error
  const said = typeof reason === 'string' ? reason : oneLine(text)
  if (status === 401) throw new StatusError('UNAUTHENTICATED', `${url}: ${said}`)
  if (status === 403) {
    const needed = 'this needs the permission `administer` (security.access)'
    throw new StatusError('PERMISSION_DENIED', `${url}: ${said}; ${needed}`)
  }
  if (content === undefined) throw new StatusError('FAILED_PRECONDITION', `${url}: HTTP ${status}: ${NO_SERVICE}`)
  if (status === 200) return content
  throw new StatusError(codeOfStatus(status), typeof reason === 'string' ? reason : `${url}: HTTP ${status}`)
}

const NO_SERVICE =
  'there is no service `admin`: expected `services: { admin: {} }` in the configuration of that server, or --server with the address and path where it is'
