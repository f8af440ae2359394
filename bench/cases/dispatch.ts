import { systemClock } from '../../src/base/clock.js'
import type { SimpleSchedulerOptions } from '../../src/config/config.js'
import { silentLog } from '../../src/log/log.js'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import type { WorkerSession } from '../../src/scheduler/scheduler.js'
import { built } from '../built.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { percentile } from '../statistics.js'

/** How many actions wait, and how many amounts of memory they differ in. */
const QUEUES = [
  { queued: 0, distinct: 1 },
  { queued: 1_000, distinct: 1 },
  { queued: 10_000, distinct: 1 },
  { queued: 10_000, distinct: 1_000 },
  { queued: 10_000, distinct: 10_000 },
]
const RUNS = 2_000
const WORKERS = 4
const PLACES = 4
const INSTANCES = 3
const INVOCATIONS = 5

/** As in a configuration: what a build makes of it is its own. */
const options: SimpleSchedulerOptions = {
  experimental_backend: 'memory',
  supported_platform_properties: new Map([
    ['os', 'exact'],
    ['cpu', 'minimum'],
    ['memory_kb', 'minimum'],
  ]),
  ...{
    warm_worker_wait_ms: 200,
    learned_sizes: { use: 'hint', memory_property: 'memory_kb', cpu_property: 'cpu_count' },
    worker_timeout_s: 600,
    client_action_timeout_s: 600,
    max_action_executing_timeout_s: 0,
  },
  ...{
    unacknowledged_kill_timeout_s: 60,
    max_job_retries: 3,
    worker_failures_in_a_row: 3,
    worker_backoff_s: 10,
    retain_completed_for_s: 60,
  },
  ...{ allocation_strategy: 'least_recently_used', no_worker_timeout_s: 0, hold_worker_after_s: 0 },
  ...{ worker_match_logging_interval_s: 0, fallback_match_interval_s: 0, adopt_attempts_for_s: 0 },
  ...{ max_queued_actions: 100_000, max_queued_actions_per_instance: 100_000 },
  ...{ max_running_actions_per_instance: 100_000, priority_ageing_s: 60 },
}

const responseCodec = codec('build.bazel.remote.execution.v2.ExecuteResponse')
const responseBytes = responseCodec.encode({ result: {} })

type Build = typeof import('../../src/scheduler/simple/host.js') &
  typeof import('../../src/scheduler/simple/settings.js')

const buildOf = async (cli: string | undefined): Promise<Build> => ({
  ...(await built<Build>('scheduler/simple/host.js', cli)),
  ...(await built<Build>('scheduler/simple/settings.js', cli)),
})

type Waiting = (typeof QUEUES)[number]

interface Latencies {
  readonly next: number[]
  readonly first: number[]
}

/** One scheduler in this process, without the wire: from a worker's result to its next action, and from Execute to a start. */
const latenciesMs = async (
  { queued, distinct }: Waiting,
  { SchedulerHost, simpleSettings }: Build,
): Promise<Latencies> => {
  let ids = 0
  const host = new SchedulerHost({
    ...{ name: 'bench', settings: simpleSettings(options), newId: () => String(++ids) },
    ...{ clock: systemClock, log: silentLog },
    results: { find: async () => undefined, keep: async (_, answer) => answer },
  })
  const next: number[] = []
  const first: number[] = []
  const sessions: WorkerSession[] = []
  let asked = 0
  const running: { readonly worker: number; readonly attemptId: string }[] = []
  const execute = () => {
    const index = asked++
    const actionDigest = Digest.of(Buffer.from(String(index)), digestFunctions.SHA256)
    const kind = index % 2 === 0 ? { name: 'os', value: 'linux' } : { name: 'cpu', value: '1' }
    const memory = { name: 'memory_kb', value: String(1_000 + (index % distinct)) }
    const properties = distinct === 1 ? [kind] : [kind, memory]
    return host.execute({
      ...{ instanceName: `i${index % INSTANCES}`, actionDigest, properties, priority: index % 3 },
      ...{ doNotCache: false, skipCacheLookup: true, invocation: `${index % INVOCATIONS}` },
    })
  }
  const properties = new Map([
    ['os', ['linux']],
    ['cpu', [String(PLACES)]],
    ['memory_kb', ['100000000']],
  ])
  for (let worker = 0; worker < WORKERS; worker++) {
    const offer = { name: `w${worker}`, properties, maxInflightAttempts: PLACES }
    const link = {
      start: ({ attemptId }: { readonly attemptId: string }) => void running.push({ worker, attemptId }),
      ...{ welcome: () => {}, kill: () => {}, acknowledge: () => {}, drain: () => {}, close: () => {} },
      readPrinted: () => {},
    }
    sessions.push(host.connectWorker(offer, { workerId: '', attemptIds: [] }, link))
  }
  try {
    // Each slot runs an action, and this many more wait.
    for (let index = 0; index < (queued === 0 ? 0 : queued + WORKERS * PLACES); index++) await execute()
    for (let run = 0; run < RUNS; run++) {
      const before = performance.now()
      await execute()
      if (queued === 0) first.push(performance.now() - before)
      const ended = running.shift()
      if (ended === undefined) throw new Error('nothing runs')
      const response = responseCodec.decode(responseBytes)
      const begunMs = performance.now()
      sessions[ended.worker]?.report(ended.attemptId, response)
      if (queued > 0) next.push(performance.now() - begunMs)
      await new Promise(setImmediate)
    }
  } finally {
    host.close()
  }
  return { next, first }
}

async function* observe({ cli, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  const build = await buildOf(cli)
  for (const waiting of QUEUES) {
    const { queued, distinct } = waiting
    const all: number[][] = []
    for (let round = 0; round < (isQuick ? 1 : rounds); round++) {
      const { next, first } = await latenciesMs(waiting, build)
      all.push(queued === 0 ? first : next)
    }
    const way = queued === 0 ? 'from Execute to the start' : 'from a result to the next start'
    for (const percent of [50, 99]) {
      const values = all.map((list) => 1000 * percentile(list, percent))
      const of = distinct === 1 ? '' : ` with ${distinct.toLocaleString('en')} amounts`
      yield { name: `${way}, ${queued.toLocaleString('en')} queued${of}, p${percent}`, unit: 'µs', values }
    }
  }
}

/** The cost of the scheduler alone, without wire and workers. */
export const dispatchCases = (): readonly EventCase[] => [{ kind: 'event', name: 'dispatch in the scheduler', observe }]
