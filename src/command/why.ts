import { orAbsent, StatusError } from '../base/status-error.js'
import { Digest } from '../reapi/digest.js'
import { type Arguments, type Command, type Console, textOption, UsageError } from './command.js'
import { printedAsJson } from './operator/ask.js'
import { cell } from './operator/table.js'
import { actionNamed, askPage, type NamedPage, PAGES_DETAILS, PAGES_OPTIONS, pageIn } from './pages-target.js'

export const why: Command = {
  name: 'why',
  usage: [['ACTION [--json]', 'why an action missed the cache, and why it waits, if it does']],
  details: [
    ['ACTION', 'its digest HASH-SIZE, the address of its page, or the first 8 or more digits of its hash'],
    ...PAGES_DETAILS,
  ],
  options: PAGES_OPTIONS,
  run: async (args, console) => {
    const [word, ...more] = args.words
    if (word === undefined || more.length > 0) throw new UsageError('expected one ACTION')
    const { miss, waiting } = await reasonsOf(args, console, word)
    if (printedAsJson(args, console, { miss, waiting })) return 0
    if (miss === undefined && waiting.length === 0)
      throw new StatusError('NOT_FOUND', 'the server remembers no miss of this action, and it does not wait')
    for (const { waitsFor = 'a place', since = '' } of waiting)
      console.print(`waits for ${cell(waitsFor)} since ${cell(since)}\n`)
    if (miss !== undefined) console.print(missText(miss))
    return 0
  },
}

export interface Miss {
  readonly action: string
  readonly target?: string
  readonly mnemonic?: string
  readonly cause?: string
  readonly differences?: readonly {
    readonly text?: string
    readonly inputs?: { readonly changes: readonly string[] }
  }[]
}

export interface Waiting {
  readonly waitsFor?: string
  readonly since?: string
}

/** Why an action missed, and why it waits. */
export const reasonsOf = async (args: Arguments, console: Console, word: string) => {
  const found = await actionNamed(args, console, word)
  const action = found?.action ?? wholeDigest(word)
  const instance = found?.instance ?? textOption(args, 'instance') ?? ''
  const at = pageIn(word)
  const ask = <T>(page: string, query: Readonly<Record<string, string>>): Promise<T> =>
    askPage<T>(args, console, at === undefined ? { page, query } : sibling(at, page, query))
  const miss = await orAbsent(ask<Miss>('miss.json', { action, instance }))
  const queue = await orAbsent(ask<{ readonly actions: readonly Waiting[] }>('queue.json', { action, show: 'waiting' }))
  return { action, miss, waiting: queue?.actions ?? [] }
}

/** Another page of the same server. Pages that are not below its root name an instance there, which has no `queue`. */
const sibling = (at: NamedPage, page: string, query: Readonly<Record<string, string>>): NamedPage => {
  const [, root = '/'] = /^(.*?\/)(?:a\/|invocation\/|(?:[^/]+\/)?blobs\/)/.exec(at.path) ?? []
  return { ...at, path: `${root}${page}`, query }
}

const wholeDigest = (word: string): string => {
  const key = word.replace('/', '-')
  if (Digest.ofKey(key) !== undefined) return key
  throw new UsageError(`${word}: expected HASH-SIZE, the address of the page of an action, or the begin of its hash`)
}

const MAX_CHANGES = 20

const missText = ({ target, mnemonic, cause = 'not known', differences = [] }: Miss): string => {
  const lines = [
    `${[target, mnemonic]
      .filter((text) => text !== undefined)
      .map(cell)
      .join(' ')} missed: ${cell(cause)}`,
    ...differences.flatMap(({ text = '', inputs }) => [
      `  ${cell(text)}`,
      ...(inputs?.changes ?? []).slice(0, MAX_CHANGES).map((change) => `    ${cell(change)}`),
    ]),
  ]
  return `${lines.join('\n')}\n`
}
