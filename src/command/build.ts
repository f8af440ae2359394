import { StatusError } from '../base/status-error.js'
import { artifactsText, type BuildFailures, failuresText, headText, type ListedBuild } from './build-text.js'
import { type Arguments, type Command, type Console, textOption, UsageError } from './command.js'
import { LIMIT_DETAIL, limitOf, printedAsJson } from './operator/ask.js'
import { cellsOf, countCells, printBuilds, type SomeBuilds } from './operator/builds-table.js'
import { cell } from './operator/table.js'
import { askPage, PAGES_DETAILS, PAGES_OPTIONS, pageIn } from './pages-target.js'

export const build: Command = {
  name: 'build',
  usage: [
    ['list [--limit N] [--json]', 'the latest builds on the pages of a server'],
    [
      'show BUILD [--errors] [--json]',
      'how a build went: what failed with its last lines, how to run it again, and files to download',
    ],
  ],
  details: [
    ['BUILD', 'its id, the first 8 or more characters of it, or the address of its page'],
    ['--errors', 'only what failed'],
    LIMIT_DETAIL,
    ...PAGES_DETAILS,
  ],
  options: { ...PAGES_OPTIONS, limit: { type: 'string' }, errors: { type: 'boolean' } },
  run: async (args, console) => {
    const [verb, word, ...more] = args.words
    if (verb === 'list' && word === undefined) return list(args, console)
    if (verb !== 'show' || word === undefined || more.length > 0)
      throw new UsageError('expected list, or show and one BUILD')
    const shown = await shownBuild(args, console, word)
    if (printedAsJson(args, console, args.options['errors'] === true ? errorsOf(shown) : shown)) return 0
    console.print(args.options['errors'] === true ? failuresText(shown) : wholeText(shown))
    return 0
  },
}

const wholeText = (shown: BuildFailures): string => `${headText(shown)}${failuresText(shown)}${artifactsText(shown)}`

type List = SomeBuilds<ListedBuild>

const PAGE_ROWS = 100

/** The latest builds; of a longer list one page after the other. */
export const listedBuilds = async (
  args: Arguments,
  console: Console,
  limit: number,
  query: Readonly<Record<string, string>> = {},
): Promise<List> => {
  const builds: ListedBuild[] = []
  let count = 0
  for (let page = 1; builds.length < limit; page++) {
    const answer = await askPage<List>(args, console, { page: 'builds.json', query: { ...query, page: `${page}` } })
    builds.push(...answer.builds)
    count = answer.count
    if (answer.builds.length < PAGE_ROWS || builds.length >= count) break
  }
  return { count, builds: builds.slice(0, limit) }
}

const list = async (args: Arguments, console: Console): Promise<number> => {
  const answer = await listedBuilds(args, console, limitOf(args))
  if (printedAsJson(args, console, answer)) return 0
  printBuilds(console, answer, HEAD, rowOf)
  return 0
}

const HEAD = ['STARTED', 'TOOK', 'OUTCOME', 'FAILED', 'HITS', 'MISSES', 'USER', 'ID', 'BUILD']

const rowOf = (build: ListedBuild): readonly string[] => {
  const { id, outcome, user = '', cache, tests, targets } = build
  const { started, took, what } = cellsOf(build)
  const failed = [
    ...(targets.failed > 0 ? [`${targets.failed} targets`] : []),
    ...(tests.failed > 0 ? [`${tests.failed} tests`] : []),
    ...(tests.flaky > 0 ? [`${tests.flaky} flaky`] : []),
  ].join(', ')
  return [started, took, outcome, failed, ...countCells(cache?.hits, cache?.misses), user, id, what]
}

const ID = /^[A-Za-z0-9._-]{8,128}$/

/** The page of a build that a word names. */
export const shownBuild = async (args: Arguments, console: Console, word: string): Promise<BuildFailures> => {
  const page = pageIn(word)
  if (page !== undefined) {
    const [root] = /^.*\/invocation\/[^/]+/.exec(page.path) ?? []
    if (root === undefined) throw new UsageError(`${word}: expected the address of the page of a build`)
    return askPage<BuildFailures>(args, console, { ...page, path: root })
  }
  if (!ID.test(word)) throw new UsageError(`${word}: expected the id of a build, or its first 8 or more characters`)
  const { builds } = await askPage<List>(args, console, { page: 'builds.json', query: { id: word } })
  const instance = textOption(args, 'instance')
  const found = builds.filter((one) => one.id.startsWith(word) && (instance === undefined || one.instance === instance))
  const [first, second] = found
  if (first === undefined) throw new StatusError('NOT_FOUND', `there is no build ${cell(word)}, or it is not for you`)
  if (second !== undefined && first.id !== word)
    throw new StatusError(
      'INVALID_ARGUMENT',
      `${cell(word)} is the begin of ${found.length} builds: ${found
        .slice(0, 5)
        .map(({ id }) => cell(id))
        .join(', ')}`,
    )
  return askPage<BuildFailures>(args, console, {
    page: `invocation/${encodeURIComponent(first.id)}.json`,
    query: { instance: first.instance, ...(first.scope !== undefined && { scope: first.scope }) },
  })
}

/** What `--errors` prints as JSON. */
const errorsOf = ({ id, instance, outcome, failedTests = [], failedActions = [] }: BuildFailures): object => ({
  ...{ id, instance, outcome },
  errors: [...failedTests, ...failedActions],
})
