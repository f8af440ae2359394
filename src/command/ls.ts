import { columns } from '../base/columns.js'
import { decimalSize } from '../base/decimal-size.js'
import { errnoOf, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { parseDuration } from '../config/value/duration.js'
import { parseSize } from '../config/value/size.js'
import { type Arguments, type Command, type Console, textOption, UsageError } from './command.js'
import { ask, LIMIT_DETAIL, limitOf, OPERATOR_DETAILS, OPERATOR_OPTIONS, printedAsJson } from './operator/ask.js'
import { table } from './operator/table.js'

const DEFAULT_COUNT = 20
const ORDERS = ['largest', 'oldest', 'newest']

interface Answer {
  readonly blobs: readonly {
    readonly key: string
    readonly store: string
    readonly storedBytes: number
    readonly usedAt: string
  }[]
  readonly unlisted: readonly string[]
  /** Absent on the last page. */
  readonly next?: string
}

/** Options that are passed on as they are, by the name that the service has for each. */
const TEXTS = { store: 'store', instance: 'instance', hash: 'hash', after: 'after', order: 'order' } as const

export const ls: Command = {
  name: 'ls',
  usage: [
    [
      '[--results | --http] [--order ORDER] [--limit N]',
      'what the stores of a running server keep: blobs, results, entries of HTTP caches',
    ],
    [
      'DIR [--largest N]',
      `the largest blobs in the content_path of a file store that no server uses (default ${DEFAULT_COUNT})`,
    ],
  ],
  details: [
    ['--results, --http', 'results of actions, or entries of HTTP caches, in place of blobs'],
    ['--order ORDER', 'largest (default), oldest or newest: by the size that a blob takes, or by its last use'],
    ['--min-size SIZE, --max-size SIZE', 'only blobs of at least, or at most, this size: 10mb'],
    ['--unused TIME, --used TIME', 'only those that were not used, or were used, in the last TIME: 12h, 30d'],
    ['--hash DIGITS', 'only those whose hash begins so'],
    ['--store PATH', 'only this store and those in it: CAS/fast'],
    ['--instance NAME', 'the stores of this instance (default: the one without a name)'],
    ['--after TEXT', 'the next page: what the page before ends with'],
    LIMIT_DETAIL,
    ...OPERATOR_DETAILS,
  ],
  options: {
    ...OPERATOR_OPTIONS,
    ...Object.fromEntries(
      [...Object.keys(TEXTS), 'largest', 'limit', 'min-size', 'max-size', 'unused', 'used'].map((name) => [
        name,
        { type: 'string' } as const,
      ]),
    ),
    results: { type: 'boolean' },
    http: { type: 'boolean' },
  },
  run: async (args, console) => {
    const [folder, ...more] = args.words
    if (more.length > 0) throw new UsageError('expected one DIR, or none for a running server')
    return folder === undefined ? listServer(args, console) : listFolder(folder, args, console)
  },
}

const listServer = async (args: Arguments, console: Console): Promise<number> => {
  if (args.options['largest'] !== undefined)
    throw new UsageError('--largest: expected DIR; for a server use --order and --limit')
  const answer = await ask<Answer>(args, console, { method: 'GET', path: '/blobs', query: queryOf(args) })
  if (printedAsJson(args, console, answer)) return 0
  const rows = answer.blobs.map(({ key, store, storedBytes, usedAt }) => [
    decimalSize(storedBytes),
    `${usedAt.slice(0, 19)}Z`,
    store,
    key,
  ])
  console.print(rows.length === 0 ? 'nothing of that kind\n' : table(['SIZE', 'LAST USED', 'STORE', 'KEY'], rows))
  if (answer.unlisted.length > 0)
    console.print(`not listed, because other programs keep them: ${answer.unlisted.join(', ')}\n`)
  if (answer.next !== undefined) console.print(`there may be more: --after '${answer.next}'\n`)
  return 0
}

const queryOf = (args: Arguments): Record<string, string> => {
  const { options } = args
  const isResults = options['results'] === true
  if (isResults && options['http'] === true) throw new UsageError('expected one of --results and --http')
  const order = textOption(args, 'order')
  if (order !== undefined && !ORDERS.includes(order))
    throw new UsageError(`--order ${order}: expected ${ORDERS.join(', ')}`)
  const texts = Object.entries(TEXTS).flatMap(([option, name]) => {
    const value = textOption(args, option)
    return value === undefined ? [] : [[name, value] as const]
  })
  const numbers = [
    ['min-size', 'min_bytes', parseSize, '10mb'],
    ['max-size', 'max_bytes', parseSize, '10mb'],
    ['unused', 'unused_s', parseDuration, '12h'],
    ['used', 'used_s', parseDuration, '12h'],
  ] as const
  const parsed = numbers.flatMap(([option, name, parse, example]) => {
    const value = textOption(args, option)
    return value === undefined ? [] : [[name, String(numberIn(`--${option}`, value, parse, example))] as const]
  })
  return {
    kind: isResults ? 'results' : options['http'] === true ? 'http' : 'blobs',
    limit: String(limitOf(args)),
    ...Object.fromEntries([...texts, ...parsed]),
  }
}

const numberIn = (option: string, text: string, parse: (text: string) => number, example: string): number => {
  try {
    return Math.floor(parse(text))
  } catch (error) {
    if (error instanceof RangeError)
      throw new UsageError(`${option} ${text}: ${error.message}; expected a form like ${example}`)
    throw error
  }
}

const listFolder = async (folder: string, args: Arguments, { print }: Console): Promise<number> => {
  const count = textOption(args, 'largest') ?? String(DEFAULT_COUNT)
  if (!/^[1-9]\d{0,8}$/.test(count)) throw new UsageError(`--largest ${count}: expected a number from 1`)
  // Imported here, because other commands do not need the store.
  const { largestBlobs } = await import('../store/kinds/filesystem/list-folder.js')
  try {
    const blobs = await largestBlobs(folder, Number(count))
    const rows = blobs.map(({ key, storedBytes, usedMs }) => [decimalSize(storedBytes), whenOf(usedMs), key])
    print(
      columns([['size', 'last used', 'blob'], ...rows])
        .map((row) => `${row}\n`)
        .join(''),
    )
    return 0
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    throw new StatusError('FAILED_PRECONDITION', `${folder}: ${inWords(error)}`)
  }
}

const whenOf = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19)}Z`
