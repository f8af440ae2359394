import { timeText } from '../../base/quantities.js'
import type { Command } from '../command.js'
import { ask, LIMIT_DETAIL, limitOf, noWords, OPERATOR_DETAILS, OPERATOR_OPTIONS, printedAsJson } from './ask.js'
import { table } from './table.js'

interface Build {
  readonly id: string
  readonly instance: string
  readonly outcome: string
  readonly startedAt: string
  readonly tookMs?: number
  readonly command?: string
  readonly patterns: readonly string[]
  readonly user?: string
  readonly hits?: number
  readonly misses?: number
}

interface Answer {
  readonly count: number
  readonly builds: readonly Build[]
}

export const builds: Command = {
  name: 'builds',
  usage: [['[--limit N] [--json]', 'the latest builds that a running server knows']],
  details: [LIMIT_DETAIL, ...OPERATOR_DETAILS],
  options: { ...OPERATOR_OPTIONS, limit: { type: 'string' } },
  run: async (args, console) => {
    noWords(args)
    const limit = limitOf(args)
    const answer = await ask<Answer>(args, console, { method: 'GET', path: '/builds', query: { limit: `${limit}` } })
    if (printedAsJson(args, console, answer)) return 0
    const more = answer.count - answer.builds.length
    console.print(answer.count === 0 ? NONE : table(HEAD, answer.builds.map(rowOf)))
    if (more > 0) console.print(`and ${more} more\n`)
    return 0
  },
}

const NONE = 'no builds yet, or none of an instance in which you may `read_ac`\n'
const HEAD = ['STARTED', 'TOOK', 'OUTCOME', 'HITS', 'MISSES', 'USER', 'INSTANCE', 'ID', 'BUILD']

const rowOf = (build: Build): readonly string[] => {
  const { id, instance, outcome, startedAt, tookMs, command, patterns, user = '', hits, misses } = build
  const counts = [hits, misses].map((count) => (count === undefined ? '' : String(count)))
  const took = tookMs === undefined ? '' : timeText(tookMs)
  const what = [command, ...patterns].filter(Boolean).join(' ')
  return [`${startedAt.slice(0, 19)}Z`, took, outcome, ...counts, user, instance, id, what]
}
