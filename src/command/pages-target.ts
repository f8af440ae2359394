import { isStatus, StatusError } from '../base/status-error.js'
import type { PagesTarget } from '../client/pages.js'
import { CLIENT_DETAILS, CLIENT_OPTIONS, DEFAULT_ADDRESS, targetOf, withAdvice } from './client-options.js'
import { type Arguments, type Console, type OptionTypes, textOption, UsageError } from './command.js'

/** The options of every command that asks the pages of a server. */
export const PAGES_OPTIONS: OptionTypes = {
  ...Object.fromEntries(Object.entries(CLIENT_OPTIONS).filter(([name]) => name !== 'digest-function')),
  json: { type: 'boolean' },
}

export const PAGES_DETAILS: readonly (readonly [string, string])[] = [
  ['--json', 'write the answer of the server as JSON'],
  ['-s, --server ADDRESS[/PATH]', `a server with pages, which are at PATH (default ${DEFAULT_ADDRESS}/)`],
  ...CLIENT_DETAILS.filter(([option]) => /^--(instance|token|header|ca|cert)/.test(option)),
]

/** The address of a page that people see, as a word of a command. */
const PAGE = /^(https?):\/\/([^/]+)(\/[^?#]*)(?:\?([^#]*))?/

export interface NamedPage {
  /** `grpc://host:port` of the server that has it. */
  readonly address: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
}

/** Undefined for a word that is no address of a page. */
export const pageIn = (word: string): NamedPage | undefined => {
  const [, scheme = '', host = '', path = '', query = ''] = PAGE.exec(word) ?? []
  if (host === '') return undefined
  const port = /:\d+$/.test(host) ? '' : scheme === 'https' ? ':443' : ':80'
  return {
    address: `${scheme === 'https' ? 'grpcs' : 'grpc'}://${host}${port}`,
    path,
    query: Object.fromEntries(new URLSearchParams(query)),
  }
}

/** Asks for the JSON of a page of the server that the options name, or that of a page that is named by its address. */
export const askPage = async <T>(
  args: Arguments,
  { secrets }: Console,
  asked: { readonly page: string; readonly query?: Readonly<Record<string, string>> } | NamedPage,
): Promise<T> => {
  const isNamed = 'path' in asked
  const { address, root } = isNamed ? { address: asked.address, root: '' } : serverOf(args)
  const { headers, tls } = targetOf(args, address)
  secrets.learn(Object.values(headers))
  // Imported here, because other commands do not need it.
  const { askPages } = await import('../client/pages.js')
  const target: PagesTarget = { address, headers, tls, root }
  try {
    return (await askPages(target, isNamed ? asked.path : asked.page, asked.query)) as T
  } catch (error) {
    throw isStatus(error, 'UNAUTHENTICATED') || isStatus(error, 'UNAVAILABLE') ? withAdvice(address, error) : error
  }
}

const serverOf = (args: Arguments): { readonly address: string; readonly root: string } => {
  const server = (textOption(args, 'server') ?? DEFAULT_ADDRESS).trim()
  const [, address = server, path = ''] = /^([a-z]+:\/\/[^/]+)(\/.*)?$/i.exec(server) ?? []
  return { address, root: `${path.replace(/\/$/, '')}/` }
}

const PREFIX = /^[0-9a-f]{8,128}(\.[0-9a-f]{8})?$/

interface FoundAction {
  readonly action: string
  readonly instance: string
}

/**
 * The action that a word names: the address of its page, or the begin of its hash. Undefined for a whole digest, which needs no
 * server.
 */
export const actionNamed = async (
  args: Arguments,
  console: Console,
  word: string,
): Promise<FoundAction | undefined> => {
  const page = pageIn(word)
  if (page === undefined && !PREFIX.test(word)) return undefined
  const { action, instance } = await askPage<Partial<FoundAction>>(args, console, page ?? { page: `a/${word}` })
  if (action !== undefined && instance !== undefined) return { action, instance }
  if (page === undefined) throw new StatusError('NOT_FOUND', `no action begins with ${word}`)
  throw new UsageError(`${word}: expected the address of the page of an action`)
}
