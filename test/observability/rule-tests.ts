/** Unit tests of the rules in deploy/observability, as promtool takes them: on the series of a real run, and on those gone wrong. */
import { join } from 'node:path'

/** A series as the collector shows it, with its last value. */
export interface Sample {
  readonly series: string
  readonly value: number
}

interface Series {
  readonly series: string
  /** In promtool's notation, a value a minute. */
  readonly values: string
}

/** What a series is like where something is wrong; undefined where that does not show in it. */
type Values = (series: string) => string | undefined

const MINUTES = 60
const DAY_S = 24 * 3600
const always = (value: number): string => `${value}x${MINUTES}`
const growing = (perMinute: number): string => `0+${perMinute}x${MINUTES}`
const never = `_x${MINUTES}`

const where =
  (pattern: RegExp, values: string): Values =>
  (series) =>
    pattern.test(series) ? values : undefined

/** The bound of the bucket that a series counts. */
const boundOf = (series: string): number => Number(/[{,]le="([^"]+)"/.exec(series)?.[1]?.replace('+Inf', 'Infinity'))

const slowReads: Values = (series) => {
  if (!/^svc_cache_operation_duration\w*_bucket\{.*operation_name="read"/.test(series)) return undefined
  return boundOf(series) >= 2.5 ? growing(60) : always(0)
}

const starved: Values = (series) =>
  where(/^svc_execution_active_count\{.*="queued"/, always(7))(series) ??
  where(/^svc_worker_count\{.*="connected"/, always(0))(series)

const unseen = (series: string, values: string) => ({ wrong: () => undefined, more: [{ series, values }] })

/** What has to be wrong for each alert, and in which series that a server which is fine does not have. */
export const TROUBLES: Readonly<Record<string, { readonly wrong: Values; readonly more?: readonly Series[] }>> = {
  RemexecAway: { wrong: where(/^svc_process_memory\{/, never) },
  RemexecInstanceAway: { wrong: where(/^svc_process_running/, '1x40 _x20') },
  RemexecScrapeFails: unseen('up{job="remexec"}', always(0)),
  RemexecCertificateEnds: unseen('svc_certificate_expiry{certificate_server="public"}', always(7 * DAY_S)),
  RemexecCertificateEndsSoon: unseen('svc_certificate_expiry{certificate_server="public"}', always(DAY_S)),
  RemexecAuditLinesLost: unseen('svc_audit_lines_lost_total{job="remexec"}', growing(1)),
  RemexecLogLinesLost: { wrong: where(/^svc_log_lines_lost_total/, growing(1)) },
  RemexecCallsFail: unseen('svc_rpc_duration_count{rpc_code="UNAVAILABLE"}', growing(60)),
  RemexecMostCallsFail: unseen('svc_rpc_duration_count{rpc_code="UNAVAILABLE",rpc_method="Read"}', growing(1e6)),
  RemexecComponentFailed: { wrong: where(/^svc_health_components\{.*="failed"/, always(1)) },
  RemexecCacheErrors: { wrong: where(/^svc_cache_operations_total\{.*result="error"/, growing(60)) },
  RemexecDiskFull: unseen('svc_disk_free{cache_type="full"}', always(1e9)),
  RemexecCacheSlow: { wrong: slowReads },
  RemexecRetentionShort: unseen('svc_cache_evicted_age{cache_type="CAS"}', always(3600)),
  RemexecPromisesBroken: unseen('svc_promises_broken_total{cache_type="CAS"}', growing(1)),
  RemexecUploadsWait: unseen('svc_upload_queue_age{cache_type="CAS"}', always(1200)),
  RemexecUploadsLost: unseen('svc_uploads_behind_total{cache_type="CAS",upload_result="lost"}', growing(1)),
  RemexecNoWorkers: { wrong: starved },
  RemexecNobodyLeads: unseen('svc_scheduler_leads{scheduler_name="MAIN"}', always(0)),
  RemexecElectionAway: unseen('svc_scheduler_engine_silence{scheduler_name="MAIN"}', always(300)),
  RemexecQueueStuck: { wrong: where(/^svc_execution_oldest_queued_age/, always(700)) },
  RemexecWorkersLost: unseen('svc_worker_events_total{worker_event="timeout"}', growing(1)),
  RemexecWorkersSick: { wrong: where(/^svc_worker_count\{.*="sick"/, always(1)) },
  RemexecRetries: unseen('svc_execution_retry_count_total{job="remexec"}', growing(20)),
  RemexecEventLoopBlocked: { wrong: where(/^svc_event_loop_delay\{.*="p99"/, always(0.5)) },
}

/** What counts goes on at its pace, the rest stays as it is. */
const healthy = ({ series, value }: Sample): Series => {
  const grows = /_(total|bucket|count|sum)\{/.test(series) && !/active_count|worker_count/.test(series)
  return { series, values: grows ? growing(value) : always(value) }
}

const FINE = /^svc_(event_loop_delay|health_components\{.*="(failed|timeout)")/

interface Expected {
  readonly expr: string
  /** Undefined for nothing at all. */
  readonly value: number | undefined
}

const oneTest = (name: string, input: readonly Series[], expected: readonly Expected[]) => ({
  name,
  interval: '1m',
  input_series: input,
  promql_expr_test: expected.map(({ expr, value }) => ({
    expr,
    eval_time: `${MINUTES - 5}m`,
    exp_samples: value === undefined ? [] : [{ labels: '{}', value }],
  })),
})

/** Reads of CAS that all took between a quarter and half a second. */
const halfSecondReads: Values = (series) => {
  if (!/^svc_cache_operation_duration\w*_bucket\{.*cache_type="CAS"/.test(series)) return undefined
  if (!/operation_name="read"/.test(series)) return undefined
  return boundOf(series) >= 0.5 ? growing(60) : always(0)
}

const busy: Values = (series) =>
  where(/^svc_execution_active_count\{.*="queued"/, always(7))(series) ??
  where(/^svc_execution_active_count\{.*="executing"/, always(2))(series) ??
  where(/^svc_worker_slots/, always(8))(series) ??
  halfSecondReads(series)

const RECORDED: readonly Expected[] = [
  { expr: 'sum(svc:cache_hit_rate{cache_type="CAS", job="remexec"})', value: 0.75 },
  { expr: 'sum(svc:queue_depth{job="remexec"})', value: 7 },
  { expr: 'sum(svc:worker_utilization{job="remexec"})', value: 0.25 },
  // 0.25 s and 95 % of the quarter of a second to the next bound.
  {
    expr: 'count(svc:cache_operation_latency_p95{cache_type="CAS", cache_operation_name="read"} > 0.487 < 0.488)',
    value: 1,
  },
]

/** A test on what a real run exported, when nothing may fire, and one for each alert, which has to. */
export const ruleTests = (kit: string, samples: readonly Sample[]): string => {
  const fine = samples.map((sample) => healthy(FINE.test(sample.series) ? { ...sample, value: 0 } : sample))
  const inUse = fine.map(({ series, values }) => ({ series, values: busy(series) ?? values }))
  const quiet = { expr: 'count(ALERTS{alertstate="firing"})', value: undefined }
  return JSON.stringify({
    rule_files: ['recording-rules.yaml', 'alert-rules.yaml'].map((name) => join(kit, name)),
    evaluation_interval: '1m',
    tests: [
      oneTest('a run in which nothing is wrong', inUse, [...RECORDED, quiet]),
      ...Object.entries(TROUBLES).map(([alert, { wrong, more = [] }]) => {
        const input = [...fine.map(({ series, values }) => ({ series, values: wrong(series) ?? values })), ...more]
        const fires = `count(count by (alertname) (ALERTS{alertname="${alert}", alertstate="firing"}))`
        return oneTest(alert, input, [{ expr: fires, value: 1 }])
      }),
    ],
  })
}
