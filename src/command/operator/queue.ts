import { timeText } from '../../base/quantities.js'
import { StatusError } from '../../base/status-error.js'
import type { ListedAction } from '../../scheduler/listed.js'
import type { ActionFacts, SchedulerOverview } from '../../scheduler/scheduler.js'
import type { Command } from '../command.js'
import { ask, LIMIT_DETAIL, limitOf, noWords, OPERATOR_DETAILS, OPERATOR_OPTIONS, printedAsJson } from './ask.js'
import { blocks, cell, table } from './table.js'

/** The overview with points in time as text. */
type Told<T> = {
  readonly [K in keyof T as K extends keyof typeof NAMES ? (typeof NAMES)[K] : K]: K extends keyof typeof NAMES
    ? string
    : T[K]
}
const NAMES = { queuedMs: 'queuedAt', startedMs: 'startedAt', endedMs: 'endedAt', heardMs: 'heardAt' } as const

type Worker = SchedulerOverview['workers'][number]
interface Overview extends Pick<SchedulerOverview, 'queued' | 'elsewhere'> {
  readonly workers: readonly (Omit<Worker, 'attempts'> & {
    readonly attempts: readonly Told<Worker['attempts'][number]>[]
  })[]
  readonly queue: readonly Told<ListedAction>[]
  readonly failed: readonly Told<SchedulerOverview['failed'][number]>[]
}

interface Answer {
  readonly at: string
  readonly schedulers: Readonly<Record<string, Overview>>
}

export const queue: Command = {
  name: 'queue',
  usage: [['[--limit N] [--json]', 'workers, running, waiting and failed actions of a running server']],
  details: [LIMIT_DETAIL, ...OPERATOR_DETAILS],
  options: { ...OPERATOR_OPTIONS, limit: { type: 'string' } },
  run: async (args, console) => {
    noWords(args)
    const limit = limitOf(args)
    const answer = await ask<Answer>(args, console, { method: 'GET', path: '' })
    const all = Object.entries(answer.schedulers)
    if (printedAsJson(args, console, answer)) return 0
    if (all.length === 0)
      throw new StatusError(
        'FAILED_PRECONDITION',
        'this server has no scheduler: it is a cache and executes no actions',
      )
    console.print(blocks(all.map(([name, overview]) => textOf(name, overview, Date.parse(answer.at), limit))))
    return all.some(([, { elsewhere }]) => elsewhere?.trouble !== undefined) ? 1 : 0
  },
}

const textOf = (
  name: string,
  { workers, queued, queue, failed, elsewhere }: Overview,
  nowMs: number,
  limit: number,
) => {
  const ago = (time: string): string => timeText(Math.max(0, nowMs - Date.parse(time)))
  const running = workers.flatMap(({ id, attempts }) => attempts.map((attempt) => ({ worker: id, ...attempt })))
  const slots = workers.reduce((sum, worker) => sum + worker.running, 0)
  const trouble = elsewhere?.trouble
  const where = elsewhere === undefined ? '' : ` at ${cell(elsewhere.address)}`
  if (trouble !== undefined) return `scheduler ${cell(name)}${where}: not known: ${cell(trouble.reason)}\n`
  return blocks([
    `scheduler ${cell(name)}${where}: ${workers.length} workers, ${slots} running, ${queued} waiting\n`,
    table(
      ['WORKER', 'NAME', 'STATE', 'RUNNING', 'PLACES', 'TROUBLE'],
      workers.map(({ id, name: own, state, running: busy, places, trouble: why }) => {
        return [id, own, state, String(busy), places === null ? 'no limit' : String(places), why ?? '']
      }),
      limit,
    ),
    table(
      ['RUNNING', 'ACTION', 'TARGET', 'MNEMONIC', 'STATE', 'WORKER'],
      running.map((one) => [ago(one.startedAt), ...factsOf(one), one.state, one.worker]),
      limit,
    ),
    table(
      ['WAITING', 'ACTION', 'TARGET', 'MNEMONIC', 'PRIORITY', 'WAITS FOR'],
      queue.map((one) => [ago(one.queuedAt), ...factsOf(one), String(one.priority), one.waitsFor]),
      limit,
    ),
    table(
      ['FAILED', 'ACTION', 'TARGET', 'MNEMONIC', 'RESULT', 'REASON'],
      failed.map((one) => [ago(one.endedAt), ...factsOf(one), one.result, one.reason ?? exitText(one.exitCode)]),
      limit,
    ),
  ])
}

/** The whole digest, because other commands take no other. */
const factsOf = ({ action = '', target = '', mnemonic = '' }: Partial<ActionFacts>): readonly string[] => [
  action,
  target,
  mnemonic,
]

const exitText = (exitCode: number | undefined): string => (exitCode === undefined ? '' : `exit code ${exitCode}`)
