/** The rules of deploy/observability on a fleet of three, of which one is in trouble: promtool evaluates them. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnv, run } from '../clients/process.js'
import { findClient } from '../clients/recipe/recipe.js'
import { root, scratchFolder } from '../clients/scratch.js'

const KIT = join(root, 'deploy/observability')
const promtool = await findClient('REMEXEC_TEST_PROMTOOL', 'promtool')
const skip = promtool === undefined && 'needs promtool'

interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** A value a minute, as promtool writes them. */
  readonly values: string
}

const FLEET = ['server', 'scheduler', 'worker'] as const
const of = (part: string) => ({ job: 'remexec', instance: `team-${part}-0`, svc_instance_name: `team-${part}` })

const text = (labels: Readonly<Record<string, string>>): string =>
  `{${Object.entries(labels)
    .map(([name, value]) => `${name}="${value}"`)
    .join(', ')}}`

/** The instances for which an alert fires after 55 minutes. */
const fires = async (
  t: Test,
  alert: string,
  series: readonly Series[],
  instances: readonly string[],
): Promise<void> => {
  const expr = `count by (instance) (ALERTS{alertname="${alert}", alertstate="firing"})`
  const samples = instances.map((instance) => ({ labels: text({ instance }), value: 1 }))
  await evaluates(t, series, expr, samples)
}

const evaluates = async (
  t: Test,
  series: readonly Series[],
  expr: string,
  exp_samples: readonly { readonly labels: string; readonly value: number }[],
): Promise<void> => {
  const folder = await scratchFolder(t)
  const input_series = series.map(({ name, labels, values }) => ({ series: `${name}${text(labels)}`, values }))
  const file = join(folder, 'test.yaml')
  const test = { interval: '1m', input_series, promql_expr_test: [{ expr, eval_time: '55m', exp_samples }] }
  const rule_files = ['recording-rules.yaml', 'alert-rules.yaml'].map((name) => join(KIT, name))
  await writeFile(file, JSON.stringify({ rule_files, evaluation_interval: '1m', tests: [test] }))
  const { code, output } = await run(promtool ?? '', ['test', 'rules', file], folder, cleanEnv(folder))
  t.equal(code, 0) || t.comment(output)
}

/** What each of the three exports, and something else for one of them. */
const fleet = (
  name: string,
  usual: string,
  unusual: { readonly part: (typeof FLEET)[number]; readonly values: string },
  labels: Readonly<Record<string, string>> = {},
): Series[] =>
  FLEET.map((part) => ({
    name,
    labels: { ...of(part), ...labels },
    values: part === unusual.part ? unusual.values : usual,
  }))

t.test('one of three that vanishes is told by name, one that stops in order is not', { skip }, async (t) => {
  const running = (values: string) => fleet('svc_process_running', '1x60', { part: 'scheduler', values })
  await fires(t, 'RemexecInstanceAway', running('1x40 _x20'), ['team-scheduler-0'])
  await fires(t, 'RemexecInstanceAway', running('1x39 0 _x20'), [])
  await fires(t, 'RemexecInstanceAway', running('1x60'), [])
  await fires(
    t,
    'RemexecAway',
    running('1x40 _x20').map((series) => ({ ...series, name: 'svc_process_memory' })),
    [],
  )
})

t.test(
  'a certificate that ends, lost audit lines and failed calls are told for the one that has them',
  { skip },
  async (t) => {
    const days = (count: number): string => `${count * 24 * 3600}x60`
    const certificates = fleet(
      'svc_certificate_expiry',
      days(60),
      { part: 'server', values: days(10) },
      { certificate_server: 'public' },
    )
    await fires(t, 'RemexecCertificateEnds', certificates, ['team-server-0'])
    const lost = fleet('svc_audit_lines_lost_total', '0x60', { part: 'server', values: '0x50 3x10' })
    await fires(t, 'RemexecAuditLinesLost', lost, ['team-server-0'])
    const calls = (code: string, usual: string, values: string) =>
      fleet('svc_rpc_duration_count', usual, { part: 'worker', values }, { rpc_code: code })
    const fine = calls('OK', '0+600x60', '0+600x60')
    await fires(t, 'RemexecCallsFail', [...fine, ...calls('UNAVAILABLE', '0+6x60', '0+60x60')], ['team-worker-0'])
    await fires(t, 'RemexecCallsFail', [...fine, ...calls('NOT_FOUND', '0+600x60', '0+600x60')], [])
  },
)

t.test('the hit rates of the parts of a fleet are kept apart', { skip }, async (t) => {
  const reads = (cache_operation_result: string, server: string, worker: string) => {
    const labels = { cache_type: 'CAS', cache_operation_name: 'read', cache_operation_result }
    return fleet('svc_cache_operations_total', worker, { part: 'server', values: server }, labels)
  }
  const series = [...reads('hit', '0+90x60', '0+10x60'), ...reads('miss', '0+10x60', '0+90x60')]
  const rate = (part: string) => `round(svc:cache_hit_rate{svc_instance_name="team-${part}"}, 0.01)`
  const expected = (part: string, value: number) => [
    { labels: text({ job: 'remexec', svc_instance_name: `team-${part}`, cache_type: 'CAS' }), value },
  ]
  await evaluates(t, series, rate('server'), expected('server', 0.9))
  await evaluates(t, series, rate('worker'), expected('worker', 0.1))
})
