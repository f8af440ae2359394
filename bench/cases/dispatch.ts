import { systemClock } from '../../src/base/clock.js'
import { silentLog } from '../../src/base/log.js'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import type { WorkerSession } from '../../src/scheduler/scheduler.js'
import { SchedulerHost } from '../../src/scheduler/simple/host.js'
import type { SimpleSettings } from '../../src/scheduler/simple/settings.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { percentile } from '../statistics.js'

const QUEUED = [0, 1_000, 10_000]
const RUNS = 2_000
const WORKERS = 4
const PLACES = 4
const INSTANCES = 3
const INVOCATIONS = 5

const settings: SimpleSettings = {
  supportedPlatformProperties: new Map([
    ['os', 'exact'],
    ['cpu', 'minimum'],
  ]),
  ...{ workerTimeoutMs: 600_000, clientActionTimeoutMs: 600_000, maxActionExecutingTimeoutMs: undefined },
  ...{ unacknowledgedKillTimeoutMs: 60_000, maxJobRetries: 3, retainCompletedForMs: 60_000 },
  ...{ allocationStrategy: 'least_recently_used', noWorkerTimeoutMs: undefined },
  ...{ workerMatchLoggingIntervalMs: undefined, fallbackMatchIntervalMs: undefined },
  ...{ maxQueuedActions: 100_000, adoptForMs: 0, holdWorkerAfterMs: undefined },
  ...{ maxQueuedActionsPerInstance: 100_000, maxRunningPerInstance: 100_000, priorityAgeingMs: 60_000 },
}

const response = codec('build.bazel.remote.execution.v2.ExecuteResponse').decode(Buffer.alloc(0))

/** One scheduler in this process, without the wire: from a worker's result to its next action, and from Execute to a start. */
const latenciesMs = async (queued: number): Promise<{ readonly next: number[]; readonly first: number[] }> => {
  let ids = 0
  const host = new SchedulerHost({
    ...{ name: 'bench', settings, clock: systemClock, log: silentLog, newId: () => String(++ids) },
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
    const properties = index % 2 === 0 ? [{ name: 'os', value: 'linux' }] : [{ name: 'cpu', value: '1' }]
    return host.execute({
      ...{ instanceName: `i${index % INSTANCES}`, actionDigest, properties, priority: index % 3 },
      ...{ doNotCache: false, skipCacheLookup: true, invocation: `${index % INVOCATIONS}` },
    })
  }
  const properties = new Map([
    ['os', ['linux']],
    ['cpu', [String(PLACES)]],
  ])
  for (let worker = 0; worker < WORKERS; worker++) {
    const offer = { name: `w${worker}`, properties, maxInflightAttempts: PLACES }
    const link = {
      start: ({ attemptId }: { readonly attemptId: string }) => void running.push({ worker, attemptId }),
      ...{ welcome: () => {}, kill: () => {}, acknowledge: () => {}, drain: () => {}, close: () => {} },
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
      const begunMs = performance.now()
      sessions[ended.worker]?.report(ended.attemptId, { ...response })
      if (queued > 0) next.push(performance.now() - begunMs)
      await new Promise(setImmediate)
    }
  } finally {
    host.close()
  }
  return { next, first }
}

async function* observe({ rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  for (const queued of QUEUED) {
    const all: number[][] = []
    for (let round = 0; round < (isQuick ? 1 : rounds); round++) {
      const { next, first } = await latenciesMs(queued)
      all.push(queued === 0 ? first : next)
    }
    const way = queued === 0 ? 'from Execute to the start' : 'from a result to the next start'
    for (const percent of [50, 99]) {
      const values = all.map((list) => percentile(list, percent))
      yield { name: `${way}, ${queued.toLocaleString('en')} queued, p${percent}`, unit: 'ms', values }
    }
  }
}

/** The cost of the scheduler alone, without wire and workers. */
export const dispatchCases = (): readonly EventCase[] => [{ kind: 'event', name: 'dispatch in the scheduler', observe }]
