import { StatusError } from '../base/status-error.js'
import { codeOfStatus, exchange, oneLine, parsedObject } from './http-exchange.js'
import type { Target } from './target.js'

/** How to reach the pages of a server. */
export interface PagesTarget extends Pick<Target, 'address' | 'headers' | 'tls'> {
  /** Of the pages, with a slash at its end. */
  readonly root: string
}

/** The JSON of a page. `address` is below the path of the pages, encoded. Rejects with a StatusError whose message says what to do. */
export const askPages = async (
  target: PagesTarget,
  address: string,
  query?: Readonly<Record<string, string>>,
): Promise<object> => {
  const path = `${target.root}${address}`
  const { status, type, text } = await exchange(target, { method: 'GET', path, ...(query && { query }) })
  const content = parsedObject(type, text)
  const reason = (content as { readonly error?: unknown } | undefined)?.error
  const said = typeof reason === 'string' ? reason : oneLine(text)
  if (status === 200 && content !== undefined) return content
  if (content === undefined && status !== 401)
    throw new StatusError('FAILED_PRECONDITION', `${target.address}${path}: HTTP ${status}: ${NO_PAGES}`)
  throw new StatusError(codeOfStatus(status), said)
}

const NO_PAGES =
  'there are no pages: expected `services: { pages: {} }` in the configuration of that server, or --server with the address and path where they are'
