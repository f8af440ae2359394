import { listedBuilds, shownBuild } from '../build.js'
import { type Arguments, type Console, UsageError } from '../command.js'
import { reasonsOf } from '../why.js'

export interface Tool {
  readonly name: string
  readonly description: string
  readonly input: readonly { readonly name: string; readonly description: string; readonly isRequired: boolean }[]
  readonly ask: (given: Readonly<Record<string, string>>, args: Arguments, console: Console) => Promise<object>
}

const BUILD = {
  name: 'build',
  description: 'The id of a build, the first 8 or more characters of it, or the address of its page',
  isRequired: true,
}
const ACTION = {
  name: 'action',
  description: 'The digest HASH-SIZE of an action, the first 8 or more digits of it, or the address of its page',
  isRequired: true,
}

const optional = (name: string, description: string) => ({ name, description, isRequired: false })

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 500

/** The questions that people ask on the pages. */
export const TOOLS: readonly Tool[] = [
  {
    name: 'list_builds',
    description:
      'The latest builds, the newest first: outcome, times, user, branch, what failed, cache hits and misses',
    input: [
      optional('search', 'A part of the user, host, branch, commit, target, command or id'),
      optional('outcome', 'succeeded, failed, tests failed, interrupted, incomplete, running, cache only or no events'),
      optional('limit', `At most so many builds (default ${DEFAULT_LIMIT}, at most ${MAX_LIMIT})`),
    ],
    ask: ({ search, outcome, limit }, args, console) =>
      listedBuilds(args, console, countOf(limit), { ...(search && { q: search }), ...(outcome && { outcome }) }),
  },
  {
    name: 'show_build',
    description: 'One build: outcome, times, who and what, cache use, and everything that failed',
    input: [BUILD],
    ask: ({ build = '' }, args, console) => shownBuild(args, console, build),
  },
  {
    name: 'build_errors',
    description:
      'What failed in a build: each failed test with its failed cases and each failed action, with exit code, reason, the last lines of its log, and the commands that run it again',
    input: [BUILD],
    ask: async ({ build = '' }, args, console) => {
      const {
        id,
        outcome,
        failure,
        failedTests = [],
        failedActions = [],
        ...counts
      } = await shownBuild(args, console, build)
      const { failedTestCount, failedActionCount, flakyTests } = counts
      return { id, outcome, failure, failedTestCount, failedActionCount, failedTests, failedActions, flakyTests }
    },
  },
  {
    name: 'why_missed',
    description: 'Why an action had no result in the cache: what differs from the last action like it',
    input: [ACTION],
    ask: async ({ action: word = '' }, args, console) => {
      const { action, miss } = await reasonsOf(args, console, word)
      return { action, miss: miss ?? 'the server remembers no miss of this action' }
    },
  },
  {
    name: 'why_waiting',
    description: 'Why an action waits in the queue, and since when',
    input: [ACTION],
    ask: async ({ action: word = '' }, args, console) => {
      const { action, waiting } = await reasonsOf(args, console, word)
      return { action, waiting }
    },
  },
]

export const toolNamed = (name: unknown): Tool | undefined => TOOLS.find((tool) => tool.name === name)

const countOf = (text: string | undefined): number => {
  const count = Number(text ?? DEFAULT_LIMIT)
  if (Number.isInteger(count) && count >= 1 && count <= MAX_LIMIT) return count
  throw new UsageError(`limit: expected a number from 1 to ${MAX_LIMIT}`)
}
