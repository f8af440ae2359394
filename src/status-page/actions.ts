import { countText, timeText } from '../base/quantities.js'
import type { ActiveWorker } from '../metrics/execution-metrics.js'
import type { ActionFacts, SchedulerOverview } from '../scheduler/scheduler.js'
import { button, type Cell, code, escaped, mark, table, titled } from './html.js'
import { ago, type Reader, type StatusPageParts } from './parts.js'

const MAX_ROWS = 100
const MAX_WORKERS = 200
/** Hexadecimal digits of a digest that are shown; the title has all of it. */
const SHOWN_DIGITS = 12

/** Whether actions are queued in this process; without that there is nothing to show. */
export const hasQueue = ({ metrics }: StatusPageParts): boolean => metrics.executions.activities().length > 0

/** Numbers of the queue, what waits, what runs and what failed. */
export const queueAndWorkers = (parts: StatusPageParts, reader: Reader): string => {
  const byScheduler = parts.overviews()
  const overviews = [...byScheduler.values()]
  return [
    numbers(parts),
    workers(parts, buttonsOf(byScheduler, parts, reader)),
    waiting(overviews, parts),
    running(overviews, parts),
    failed(overviews, parts),
  ]
    .filter((content) => content !== '')
    .join('\n')
}

const numbers = ({ config, metrics: { executions } }: StatusPageParts): string => {
  const results = config.global.disable_metrics ? [] : [...executions.results()]
  const activities = executions.activities()
  const active = activities.flatMap((activity) => [...activity.executions])
  const oldestMs = Math.max(0, ...activities.map(({ oldestQueuedMs }) => oldestQueuedMs))
  const inStage = (stage: string): string => countText(active.filter((one) => one.stage === stage).length)
  const all: readonly (readonly [string, string])[] = [
    ['queued', inStage('queued')],
    ['longest wait', timeText(oldestMs)],
    ['executing', inStage('executing')],
    ['workers', countText(activities.flatMap((activity) => activity.workers).length)],
    ...results.map(([result, count]) => [result.replace('_', ' '), countText(count)] as const),
  ]
  const items = all.map(([name, value]) => `<li><b>${escaped(value)}</b>${escaped(name)}</li>`)
  return `<ul class="numbers">${items.join('')}</ul>`
}

const workers = ({ metrics, clock, forms }: StatusPageParts, buttons: ReadonlyMap<string, Cell>): string => {
  const all = metrics.executions.activities().flatMap((activity) => activity.workers)
  const rows = all.slice(0, MAX_WORKERS).map((worker) => {
    const cells = workerRow(worker, clock.now())
    return forms === undefined ? cells : [...cells, buttons.get(worker.id) ?? '']
  })
  const heads = ['Worker', 'State', 'Running', 'At most', 'Last heartbeat', ...(forms === undefined ? [] : [''])]
  return table(heads, rows, 'no worker is connected')
}

/** By worker, what its reader can change: not a drain that the worker itself began, nor one of a worker that is away. */
const buttonsOf = (
  overviews: ReadonlyMap<string, SchedulerOverview>,
  { forms }: StatusPageParts,
  { visitor }: Reader,
): ReadonlyMap<string, Cell> => {
  const found = new Map<string, Cell>()
  if (forms === undefined) return found
  for (const [scheduler, overview] of overviews) {
    for (const { id, state, isDrainedByOperator } of overview.workers) {
      if (state === (isDrainedByOperator ? 'away' : 'draining')) continue
      const change = isDrainedByOperator ? 'undrain' : 'drain'
      found.set(id, button(change, forms.form(change, scheduler, id, visitor?.identity)))
    }
  }
  return found
}

const workerRow = ({ id, state, running, maxInflightAttempts, heardMs }: ActiveWorker, nowMs: number): Cell[] => [
  code(id),
  mark(state === 'connected' ? 'good' : 'warn', state),
  countText(running),
  Number.isFinite(maxInflightAttempts) ? countText(maxInflightAttempts) : 'no limit',
  ago(heardMs, nowMs),
]

const waiting = (overviews: readonly SchedulerOverview[], { clock }: StatusPageParts): string => {
  const all = overviews.flatMap(({ queue }) => queue).sort((a, b) => a.queuedMs - b.queuedMs)
  const rows = all
    .slice(0, MAX_ROWS)
    .map((one) => [...factCells(one), ago(one.queuedMs, clock.now()), countText(one.attempts), one.waitsFor])
  return list('Waiting', all.length, [...FACTS, 'Queued', 'Attempts', 'Waits for'], rows)
}

const running = (overviews: readonly SchedulerOverview[], { clock }: StatusPageParts): string => {
  const all = overviews
    .flatMap(({ workers: some }) => some.flatMap(({ id, attempts }) => attempts.map((one) => ({ ...one, worker: id }))))
    .sort((a, b) => a.startedMs - b.startedMs)
  const rows = all
    .slice(0, MAX_ROWS)
    .map((one) => [...factCells(one), ago(one.startedMs, clock.now()), one.state, code(one.worker)])
  return list('Running', all.length, [...FACTS, 'Started', 'State', 'Worker'], rows)
}

const failed = (overviews: readonly SchedulerOverview[], { clock }: StatusPageParts): string => {
  const all = overviews.flatMap((overview) => overview.failed).sort((a, b) => b.endedMs - a.endedMs)
  const rows = all.slice(0, MAX_ROWS).map((one) => {
    const exit = one.exitCode === undefined ? (one.code ?? '') : `exit code ${one.exitCode}`
    const result = mark(one.result === 'failure' ? 'warn' : 'bad', one.result)
    const outputs = [one.stdout && `stdout ${short(one.stdout)}`, one.stderr && `stderr ${short(one.stderr)}`]
    const titles = [one.stdout, one.stderr].filter((digest) => digest !== undefined).join(' ')
    return [
      ...factCells(one),
      ago(one.endedMs, clock.now()),
      result,
      [exit, one.reason].filter((part) => part !== undefined && part !== '').join(': '),
      timeText(one.tookMs),
      one.worker === undefined ? '' : code(one.worker),
      titled(outputs.filter((part) => part !== undefined).join(', '), titles),
    ]
  })
  return list('Failed lately', all.length, [...FACTS, 'Ended', 'Result', '', 'Took', 'Worker', 'Output'], rows)
}

const list = (title: string, count: number, heads: readonly string[], rows: readonly (readonly Cell[])[]): string => {
  if (rows.length === 0) return ''
  const more = count > rows.length ? `, the first ${rows.length}` : ''
  return `<h3>${title}: ${countText(count)}${more}</h3>\n${table(heads, rows, '')}`
}

const FACTS = ['Action', 'Target', 'Build']

const factCells = ({
  action = '',
  instance = '',
  target,
  mnemonic,
  invocation,
  tool,
  identity,
}: Partial<ActionFacts>) => {
  const what = [target, mnemonic].filter((part) => part !== undefined).join(' ')
  const build = [tool, identity].filter((part) => part !== undefined).join(', ')
  const title = [invocation && `invocation ${invocation}`, instance && `instance ${instance}`]
    .filter(Boolean)
    .join(', ')
  return [titled(short(action), action), what, titled(build === '' && invocation ? short(invocation) : build, title)]
}

const short = (digest: string): string => digest.slice(0, SHOWN_DIGITS)
