import type { Command } from '../command.js'
import { ask, LIMIT_DETAIL, limitOf, noWords, OPERATOR_DETAILS, OPERATOR_OPTIONS, printedAsJson } from './ask.js'
import { cellsOf, countCells, printBuilds, type SomeBuilds } from './builds-table.js'

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

export const builds: Command = {
  name: 'builds',
  usage: [['[--limit N] [--json]', 'the latest builds that a running server knows']],
  details: [LIMIT_DETAIL, ...OPERATOR_DETAILS],
  options: { ...OPERATOR_OPTIONS, limit: { type: 'string' } },
  run: async (args, console) => {
    noWords(args)
    const limit = limitOf(args)
    const answer = await ask<SomeBuilds<Build>>(args, console, {
      method: 'GET',
      path: '/builds',
      query: { limit: `${limit}` },
    })
    if (printedAsJson(args, console, answer)) return 0
    printBuilds(console, answer, HEAD, rowOf)
    return 0
  },
}

const HEAD = ['STARTED', 'TOOK', 'OUTCOME', 'HITS', 'MISSES', 'USER', 'INSTANCE', 'ID', 'BUILD']

const rowOf = (build: Build): readonly string[] => {
  const { id, instance, outcome, user = '', hits, misses } = build
  const { started, took, what } = cellsOf(build)
  return [started, took, outcome, ...countCells(hits, misses), user, instance, id, what]
}
