import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { putBytes } from '../../src/blobs/store.js'
import type { StoreConfig } from '../../src/config/config.js'
import { silentLog } from '../../src/log/log.js'
import { unhiddenSecrets } from '../../src/log/secrets.js'
import { BoundedValues, OVERFLOW } from '../../src/metrics/bounded-values.js'
import type { CallMetrics } from '../../src/metrics/call-metrics.js'
import { ExecutionMetrics } from '../../src/metrics/execution-metrics.js'
import { Distribution } from '../../src/metrics/instrument.js'
import { LingeringSeries } from '../../src/metrics/lingering-series.js'
import { Metrics } from '../../src/metrics/metrics.js'
import { StoreMetrics } from '../../src/metrics/store-metrics.js'
import { callWith } from '../../src/rpc/call.js'
import { buildStores } from '../../src/store/builder.js'
import { StoreNode } from '../../src/store/contract/node.js'
import { WHOLE } from '../../src/stream/path.js'
import { Resources } from '../../src/work/resources.js'
import { call, digestOf } from '../store/blobs.js'
import { memoryStore } from '../store/build.js'

const NO_LIMITS = { max_bytes: 0, evict_bytes: 0, max_count: 0, max_seconds: 0 }

t.test('a value counts in the first bucket whose boundary it does not exceed', async (t) => {
  const distribution = new Distribution({}, [1, 10])
  for (const value of [0, 1, 1.5, 10, 11]) distribution.record(value)
  t.same(distribution.counts, [2, 2, 1])
  t.equal(distribution.sum, 23.5)
  t.equal(distribution.count, 5)
})

t.test('beyond the bound, all new values of a label share one series', async (t) => {
  const values = new BoundedValues(2)
  t.same(
    ['a', 'b', 'c', 'a', 'd'].map((value) => values.of(value)),
    ['a', 'b', OVERFLOW, 'a', OVERFLOW],
  )
})

t.test('a removed series is 0 for some rounds, then left out', async (t) => {
  const series = new LingeringSeries()
  const reading = { labels: { execution_worker_id: 'w' }, value: 3 }
  t.same(series.settle([reading]), [reading])
  const later = Array.from({ length: 7 }, () => series.settle([])[0]?.value)
  t.same(later, [0, 0, 0, 0, 0, undefined, undefined])
})

const valuesOf = (metrics: Pick<ExecutionMetrics, 'instruments'>, name: string) => {
  const instrument = metrics.instruments.find((one) => one.name === name)
  if (instrument === undefined || instrument.kind === 'histogram') throw new Error(`no ${name}`)
  return [...instrument.series()].map(({ labels, value }) => ({ ...labels, value }))
}

t.test('the series of workers and priorities are bounded, and the total is right', async (t) => {
  const metrics = new ExecutionMetrics({ labelsActionDigests: false })
  const executions = Array.from({ length: 5000 }, (_, index) => ({
    stage: 'executing' as const,
    priority: index % 50,
    workerId: `worker-${index}`,
    count: 1,
  }))
  metrics.watch(() => ({ executions, oldestQueuedMs: 0, workers: [], demand: [] }))
  const readings = valuesOf(metrics, 'svc_execution_active_count') as { value: number; execution_worker_id: string }[]
  t.ok(new Set(readings.map(({ execution_worker_id }) => execution_worker_id)).size <= 202)
  t.equal(
    readings.reduce((sum, { value }) => sum + value, 0),
    5000,
  )
})

t.test('clients that ask for something else with every action make a bounded number of series', async (t) => {
  const metrics = new ExecutionMetrics({ labelsActionDigests: false })
  const demand = Array.from({ length: 1000 }, (_, index) => {
    return { properties: [['pool', `p${index}`]] as const, queued: 2, running: 1, amounts: new Map() }
  })
  metrics.watch(() => ({ executions: [], oldestQueuedMs: 0, workers: [], demand }))
  const readings = valuesOf(metrics, 'svc_execution_demand_count') as { value: number; execution_stage: string }[]
  t.equal(readings.length, 202)
  const sumOf = (stage: string) =>
    readings.reduce((sum, one) => sum + (one.execution_stage === stage ? one.value : 0), 0)
  t.same([sumOf('queued'), sumOf('executing')], [2000, 1000])
})

t.test('executions are counted by action only if configured, for a bounded number of actions', async (t) => {
  const plain = new ExecutionMetrics({ labelsActionDigests: false })
  const detailed = new ExecutionMetrics({ labelsActionDigests: true })
  for (const metrics of [plain, detailed]) {
    for (let action = 0; action < 1500; action++) metrics.completed('success', { key: `a${action}` })
  }
  const name = 'svc_execution_completed_count_total'
  t.notOk(valuesOf(plain, name).some((reading) => 'execution_action_digest' in reading))
  const readings = valuesOf(detailed, name) as { value: number; execution_action_digest: string }[]
  t.equal(readings.length, 1001)
  t.equal(readings.find((reading) => reading.execution_action_digest === OVERFLOW)?.value, 500)
})

t.test('calls and executions are counted by instance only if configured, for a bounded number of names', async (t) => {
  const names = (metrics: CallMetrics): unknown[] => metrics.all().map(({ labels }) => labels['instance_name'])
  const count = (metrics: Metrics): void => {
    for (let tenant = 0; tenant < 150; tenant++) {
      for (let call = 0; call < 2; call++) metrics.calls.of('/a.B/C').ended(0, 0, `t${tenant}`)
      metrics.executions.completed('success', { key: 'a' }, `t${tenant}`)
    }
  }
  const plain = new Metrics({ labelsActionDigests: false }, 0)
  const detailed = new Metrics({ labelsActionDigests: false, labelsInstanceNames: true }, 0)
  t.teardown(() => [plain, detailed].map((metrics) => metrics.stop()))
  for (const metrics of [plain, detailed]) count(metrics)
  t.same(names(plain.calls), [undefined])
  t.equal(names(detailed.calls).length, 101)
  t.ok(names(detailed.calls).includes('t99'))
  t.notOk(names(detailed.calls).includes('t100'))
  const overflow = detailed.calls.all().find(({ labels }) => labels['instance_name'] === OVERFLOW)
  t.equal(overflow?.count, 100)
  const name = 'svc_execution_completed_count_total'
  t.notOk(valuesOf(plain.executions, name).some((reading) => 'instance_name' in reading))
  const readings = valuesOf(detailed.executions, name) as { value: number; instance_name: string }[]
  t.equal(readings.find(({ instance_name }) => instance_name === 't7')?.value, 1)
  t.equal(readings.find(({ instance_name }) => instance_name === OVERFLOW)?.value, 50)
})

t.test('stores of one type share one set of series', async (t) => {
  const metrics = new StoreMetrics()
  const usage = { entryCount: 2, sizeBytes: 10, maxBytes: undefined, evictedCount: 1, evictFailureCount: 0 }
  const store = (lastEvictedIdleMs: number) => ({ cacheType: 'cas', usage: () => ({ ...usage, lastEvictedIdleMs }) })
  const first = metrics.of(store(5000))
  t.equal(metrics.of(store(3000)), first)
  first.of('read').hit.add(1)
  const seen = metrics.instruments.flatMap(({ name, kind, series }) =>
    kind === 'histogram' ? [] : [...series()].map(({ labels, value }) => [`${name} ${JSON.stringify(labels)}`, value]),
  )
  t.equal(new Set(seen.map(([key]) => key)).size, seen.length, 'no series twice')
  const values = Object.fromEntries(seen)
  t.equal(values['svc_cache_size {"cache_type":"cas"}'], 20)
  t.equal(values['svc_cache_max_size {"cache_type":"cas"}'], undefined)
  t.equal(values['svc_cache_evicted_age {"cache_type":"cas"}'], 3, 'of several retentions the least')
  const evict = { cache_type: 'cas', cache_operation_name: 'evict', cache_operation_result: 'success' }
  t.equal(values[`svc_cache_operations_total ${JSON.stringify(evict)}`], 2)
})

t.test('a store is counted by its path, and also by the label of a cache_metrics store in front of it', async (t) => {
  const metrics = new StoreMetrics()
  const below: StoreConfig = {
    kind: 'memory',
    options: { eviction_policy: NO_LIMITS, retention: 0, when_full: 'break' },
  }
  const configs = new Map<string, StoreConfig>([
    ['CAS', { kind: 'cache_metrics', options: { cache_type: 'cas', backend: below } }],
  ])
  const parts = {
    resources: new Resources(silentLog),
    clock: systemClock,
    log: silentLog,
    secrets: unhiddenSecrets,
    watch: () => {},
  }
  const stores = await buildStores(configs, { ...parts, meter: (store) => metrics.of(store) })
  const cas = stores.get('CAS')
  if (cas === undefined) throw new Error('no store')
  await putBytes(cas, digestOf(Buffer.from('x')), Buffer.from('x'), call)
  t.same(
    metrics.all.map((series) => [series.cacheType, series.valueOf('write', 'success')]),
    [
      ['CAS/backend', 1],
      ['cas', 1],
    ],
  )
})

t.test('the work of a store is counted by instance only if configured, for a bounded number of names', async (t) => {
  const name = 'svc_cache_operations_total'
  for (const labelsInstanceNames of [false, true]) {
    const metrics = new Metrics({ labelsActionDigests: false, labelsInstanceNames }, 0)
    t.teardown(() => metrics.stop())
    const series = metrics.stores.of({ cacheType: 'CAS', usage: () => undefined })
    const store = new StoreNode(await memoryStore(), { path: 'CAS', meter: series })
    const bytes = Buffer.from('x')
    for (let tenant = 0; tenant < 150; tenant++) {
      const ofTenant = callWith(call, { instanceName: `t${tenant}` })
      await putBytes(store, digestOf(bytes), bytes, ofTenant)
      await (await store.get(digestOf(bytes), WHOLE, ofTenant)).drain(call.signal)
    }
    await putBytes(store, digestOf(bytes), bytes, call)
    const hits = (valuesOf(metrics.stores, name) as { value: number; instance_name?: string }[]).filter(
      (reading) => 'cache_operation_result' in reading && reading.cache_operation_result === 'hit' && reading.value > 0,
    )
    const of = (instance: string) => hits.find(({ instance_name }) => instance_name === instance)?.value
    if (labelsInstanceNames) {
      // The name of the server's own work is one of the 100.
      t.equal(hits.length, 100)
      t.equal(of('t98'), 1)
      t.equal(of(OVERFLOW), 51)
    } else t.strictSame(hits.length === 1 && 'instance_name' in (hits[0] ?? {}), false)
    t.equal(series.valueOf('read', 'hit'), 150, 'the page shows the sum')
    t.equal(series.valueOf('write', 'success'), 151)
    t.equal(series.bytesOf('in'), 151)
    t.equal(series.bytesOf('out'), 150)
    const read = series.durations.get('read')
    t.equal(read?.count, 150, 'durations are those of all instances')
    t.equal(read?.labels['instance_name'], undefined)
  }
})

t.test('uploads that wait are told for stores with a queue, and for no other', async (t) => {
  const metrics = new StoreMetrics()
  const queue = { entryCount: 2, sizeBytes: 10, oldestAgeMs: 5000, doneCount: 7, retriedCount: 1, lostCount: 0 }
  metrics.of({ cacheType: 'CAS', usage: () => undefined, uploadQueue: () => queue })
  metrics.of({ cacheType: 'AC', usage: () => undefined, uploadQueue: () => undefined })
  const seen = metrics.instruments.flatMap(({ name, kind, series }) =>
    kind === 'histogram' || !name.includes('upload')
      ? []
      : [...series()].map(({ labels, value }) => [name, labels['cache_type'], labels['upload_result'], value]),
  )
  t.strictSame(seen, [
    ['svc_upload_queue_entries', 'CAS', undefined, 2],
    ['svc_upload_queue_size', 'CAS', undefined, 10],
    ['svc_upload_queue_age', 'CAS', undefined, 5],
    ['svc_uploads_behind_total', 'CAS', 'done', 7],
    ['svc_uploads_behind_total', 'CAS', 'retried', 1],
    ['svc_uploads_behind_total', 'CAS', 'lost', 0],
  ])
})
