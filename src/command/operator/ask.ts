import { isStatus } from '../../base/status-error.js'
import type { Question } from '../../client/operator.js'
import { CLIENT_DETAILS, CLIENT_OPTIONS, DEFAULT_ADDRESS, targetOf, withAdvice } from '../client-options.js'
import { type Arguments, type Console, type OptionTypes, textOption, UsageError } from '../command.js'

const DEFAULT_PATH = '/admin'

const OF_INSTANCES = ['instance', 'digest-function']

/** The options of every command for operators. */
export const OPERATOR_OPTIONS: OptionTypes = {
  ...Object.fromEntries(Object.entries(CLIENT_OPTIONS).filter(([name]) => !OF_INSTANCES.includes(name))),
  json: { type: 'boolean' },
}

export const OPERATOR_DETAILS: readonly (readonly [string, string])[] = [
  ['--json', 'write the answer of the server as JSON'],
  [
    '-s, --server ADDRESS[/PATH]',
    `a server with the service admin, which is at PATH (default ${DEFAULT_ADDRESS}${DEFAULT_PATH})`,
  ],
  ...CLIENT_DETAILS.filter(([option]) => /^--(token|header|ca|cert)/.test(option)),
]

/** Asks the service admin of the server that the options name. */
export const ask = async <T>(args: Arguments, { secrets }: Console, question: Question): Promise<T> => {
  const server = textOption(args, 'server') ?? DEFAULT_ADDRESS
  const [, address = server, path = ''] = /^([a-z]+:\/\/[^/]+)(\/.*)?$/i.exec(server.trim()) ?? []
  const { headers, tls } = targetOf(args, address)
  secrets.learn(Object.values(headers))
  // Imported here, because other commands do not need it.
  const { askOperator } = await import('../../client/operator.js')
  const target = { address, headers, tls, path: path.replace(/\/$/, '') || DEFAULT_PATH }
  try {
    return (await askOperator(target, question)) as T
  } catch (error) {
    // The others say what to do themselves.
    throw isStatus(error, 'UNAUTHENTICATED') || isStatus(error, 'UNAVAILABLE') ? withAdvice(address, error) : error
  }
}

/** Prints the answer as it is; false if the caller prefers text. */
export const printedAsJson = ({ options }: Arguments, { print }: Console, answer: unknown): boolean => {
  if (options['json'] !== true) return false
  print(`${JSON.stringify(answer, null, 2)}\n`)
  return true
}

export const noWords = ({ words }: Arguments): void => {
  if (words.length > 0) throw new UsageError(`expected no arguments, found ${words.length}`)
}

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 10_000

/** The value of `--limit`. */
export const limitOf = (args: Arguments): number => {
  const text = textOption(args, 'limit') ?? String(DEFAULT_LIMIT)
  const limit = Number(text)
  if (/^\d+$/.test(text) && limit >= 1 && limit <= MAX_LIMIT) return limit
  throw new UsageError(`--limit ${text}: expected a number from 1 to ${MAX_LIMIT}`)
}

export const LIMIT_DETAIL = [
  '--limit N',
  `show at most N rows (default ${DEFAULT_LIMIT}, at most ${MAX_LIMIT})`,
] as const
