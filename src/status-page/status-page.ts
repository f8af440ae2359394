import type { Clock } from '../base/clock.js'
import { version } from '../base/version.js'
import type { Config } from '../config/config.js'
import type { Answer, HealthRegistry } from '../health/registry.js'
import { isHealthy, stateOf } from '../health/report.js'
import type { ActiveWorker } from '../metrics/execution-metrics.js'
import type { Metrics } from '../metrics/metrics.js'
import type { CacheSeries } from '../metrics/store-metrics.js'
import { escaped, page, table } from './html.js'
import { countText, shareText, sizeText, timeText } from './quantities.js'
import type { RecentLines } from './recent-lines.js'

export interface StatusPageParts {
  readonly config: Config
  readonly health: HealthRegistry
  readonly metrics: Metrics
  readonly recent: RecentLines
  readonly clock: Clock
  readonly healthPath: string
}

export interface PageAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

const REFRESH_S = 5
const MAX_WORKERS = 200

/** The status page for people. It shows the services and their state, with the numbers of the exported metrics. */
export const statusPage = (parts: StatusPageParts) => {
  const release = version()
  return async (): Promise<PageAnswer> => {
    const answers = parts.health.latest()
    const body = [
      head(parts, release, answers),
      section('Served', served(parts.config)),
      section('Stores', stores(parts)),
      section('Queue and workers', queue(parts)),
      section('Components', components(answers)),
      section('Recent trouble', trouble(parts)),
    ]
    return { status: 200, contentType: 'text/html; charset=utf-8', body: page('remexec', REFRESH_S, body.join('\n')) }
  }
}

const section = (title: string, content: string): string => `<section><h2>${escaped(title)}</h2>\n${content}</section>`

const head = ({ clock, metrics, healthPath }: StatusPageParts, release: string, answers: readonly Answer[]): string => {
  const isFine = isHealthy(answers.map(({ report }) => report))
  const state = isFine ? '<span class="state">healthy</span>' : '<span class="state bad">not healthy</span>'
  const runningFor = timeText(clock.now() - metrics.startedMs)
  const facts = `version ${release}, running for ${runningFor}, ${new Date(clock.now()).toISOString()}`
  const link = `<a href="${escaped(healthPath)}">${escaped(healthPath)}</a>`
  return `<h1>remexec ${state}</h1>\n<p class="facts">${escaped(facts)}; for probes: ${link}</p>`
}

const served = ({ servers }: Config): string =>
  table(
    ['Server', 'Service', 'Instances'],
    servers.flatMap(({ name, services }) =>
      Object.entries({
        cas: services.cas,
        ac: services.ac,
        bytestream: services.bytestream,
        execution: services.execution,
      })
        .filter(([, instances]) => instances.size > 0)
        .map(([service, instances]) => [name, service, [...instances.keys()].map(instanceText).join(', ')])
        .concat(services.worker_api === undefined ? [] : [[name, 'worker_api', services.worker_api.scheduler]]),
    ),
    'nothing',
  )

const instanceText = (name: string): string => (name === '' ? '(empty)' : name === '*' ? 'any' : name)

const stores = ({ config, metrics }: StatusPageParts): string =>
  table(
    ['Store', 'Size', 'of', 'Blobs', 'Hit rate', 'Hits', 'Misses', 'Errors', 'In', 'Out', 'Evicted', 'Retention'],
    metrics.stores.all.map(storeRow),
    config.global.disable_metrics ? 'not counted (global.disable_metrics)' : 'none',
  )

const storeRow = (series: CacheSeries): readonly string[] => {
  const [hits, misses] = [series.valueOf('read', 'hit'), series.valueOf('read', 'miss')]
  const errors = series.valueOf('read', 'error') + series.valueOf('write', 'error')
  const known = (value: number | undefined, text: (value: number) => string): string =>
    value === undefined ? '' : text(value)
  const idleMs = series.least(({ lastEvictedIdleMs }) => lastEvictedIdleMs)
  return [
    series.cacheType,
    known(
      series.sum(({ sizeBytes }) => sizeBytes),
      sizeText,
    ),
    known(
      series.sum(({ maxBytes }) => maxBytes),
      sizeText,
    ),
    known(
      series.sum(({ entryCount }) => entryCount),
      countText,
    ),
    shareText(hits, hits + misses),
    ...[hits, misses, errors].map(countText),
    sizeText(series.bytes.in.value),
    sizeText(series.bytes.out.value),
    known(
      series.sum(({ evictedCount }) => evictedCount),
      countText,
    ),
    known(idleMs, timeText),
  ]
}

const queue = ({ config, metrics: { executions }, clock }: StatusPageParts): string => {
  const results = config.global.disable_metrics ? [] : [...executions.results()]
  const activities = executions.activities()
  const active = activities.flatMap((activity) => [...activity.executions])
  const workers = activities.flatMap((activity) => activity.workers)
  const oldestMs = Math.max(0, ...activities.map(({ oldestQueuedMs }) => oldestQueuedMs))
  const inStage = (stage: string): string => countText(active.filter((one) => one.stage === stage).length)
  const numbers: readonly (readonly [string, string])[] = [
    ['queued', inStage('queued')],
    ['longest wait', timeText(oldestMs)],
    ['executing', inStage('executing')],
    ['workers', countText(workers.length)],
    ...results.map(([result, count]) => [result.replace('_', ' '), countText(count)] as const),
  ]
  const items = numbers.map(([name, value]) => `<li><b>${escaped(value)}</b>${escaped(name)}</li>`)
  const rows = workers.slice(0, MAX_WORKERS).map((worker) => workerRow(worker, clock.now()))
  const heads = ['Worker', 'State', 'Running', 'At most', 'Last heard of']
  return `<ul class="numbers">${items.join('')}</ul>${table(heads, rows, 'no worker is connected')}`
}

const workerRow = ({ id, state, running, maxInflightAttempts, heardMs }: ActiveWorker, nowMs: number) => [
  id,
  state,
  countText(running),
  Number.isFinite(maxInflightAttempts) ? countText(maxInflightAttempts) : 'no limit',
  `${timeText(nowMs - heardMs)} ago`,
]

const components = (answers: readonly Answer[]): string =>
  table(
    ['Component', 'State', 'Checked', ''],
    answers.map(({ report, ageMs }) => {
      const { message = '', error = '' } = Object.values(report.status)[0] ?? {}
      const checked = `${timeText(ageMs)} ago`
      return [report.component, stateOf(report), checked, [message, error].filter((text) => text !== '').join(': ')]
    }),
    'none',
  )

const trouble = ({ recent }: StatusPageParts): string =>
  table(
    ['Time', 'Level', 'What happened', ''],
    recent.lines.map(({ atMs, level, message, about }) => [new Date(atMs).toISOString(), level, message, about]),
    'none since the start',
  )
