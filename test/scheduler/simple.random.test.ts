import fc from 'fast-check'
import t from 'tap'
import { StatusError } from '../../src/base/status-error.js'
import { Ledger } from '../../src/ledger/ledger.js'
import type { ExecuteResponse } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import type { BroughtAttempt, WorkerOffer } from '../../src/scheduler/scheduler.js'
import { SimpleScheduler } from '../../src/scheduler/simple/machine.js'
import type { SchedulerMeter } from '../../src/scheduler/simple/meter.js'
import type { Bucket } from '../../src/scheduler/simple/queue/bucket.js'
import type { SimpleSettings } from '../../src/scheduler/simple/settings.js'
import type { MatchKind, Requirement } from '../../src/scheduler/simple/state/requirement.js'
import type { Command, Worker } from '../../src/scheduler/simple/state/state.js'
import { isAwaited } from '../../src/scheduler/simple/warm/expecting.js'
import type { Dispatch } from '../../src/scheduler/simple/workers/dispatch.js'
import { hasFreeSlot, hasRoom } from '../../src/scheduler/simple/workers/pool.js'
import { defaultSettings } from './settings.js'

const declared = new Map<string, MatchKind>([
  ['os', 'exact'],
  ['cpu', 'minimum'],
  ['memory', 'minimum'],
  ['pool', 'priority'],
  ['label', 'ignore'],
  ['container-image', 'ignore'],
])

const settings: SimpleSettings = {
  ...defaultSettings,
  supportedPlatformProperties: declared,
  workerTimeoutMs: 50,
  clientActionTimeoutMs: 400,
  maxActionExecutingTimeoutMs: 120,
  unacknowledgedKillTimeoutMs: 80,
  maxJobRetries: 2,
  retainCompletedForMs: 300,
  noWorkerTimeoutMs: 200,
  maxQueuedActions: 6,
  fallbackMatchIntervalMs: undefined,
  maxQueuedActionsPerInstance: 4,
  maxRunningPerInstance: 3,
  priorityAgeingMs: 50,
  holdWorkerAfterMs: 60,
  warmWorkerWaitMs: 40,
  adoptForMs: 500,
}

const response: ExecuteResponse = { result: null, cachedResult: false, status: null, serverLogs: {}, message: '' }
const error = new StatusError('INTERNAL', 'disk on fire')

const requests: readonly (readonly [string, string][])[] = [
  [],
  [['os', 'linux']],
  [['os', 'mac']],
  [['cpu', '1']],
  [
    ['os', 'linux'],
    ['cpu', '3'],
  ],
  [
    ['cpu', '2'],
    ['cpu', '1'],
    ['pool', 'x'],
    ['label', 'y'],
  ],
]

/** The image that an action names, if it names one: of what workers hold, it changes only where it is preferred to run. */
const imageOf = (b: number): readonly [string, string][] =>
  b % 4 === 0 ? [] : [['container-image', b % 4 === 1 ? 'x' : 'y']]

/** One of `requests`, or one of many distinct amounts. */
const requestOf = (a: number, b: number): readonly [string, string][] => {
  if (a % 5 > 0) return requests[a % requests.length] ?? []
  const os: [string, string][] = b % 3 === 0 ? [['os', 'linux']] : []
  return [...os, ['cpu', String(b % 5)], ['memory', String(7 * a + b)]]
}

const offers: readonly WorkerOffer[] = [
  { name: 'a', properties: new Map([['os', ['linux']]]), maxInflightAttempts: 2, maxWaitingAttempts: 1 },
  {
    name: 'b',
    properties: new Map([
      ['os', ['linux', 'mac']],
      ['cpu', ['4']],
      ['memory', ['1500']],
    ]),
    maxInflightAttempts: Number.POSITIVE_INFINITY,
  },
  {
    name: 'c',
    properties: new Map([
      ['cpu', ['2', '3']],
      ['pool', ['z']],
      ['other', ['q']],
    ]),
    maxInflightAttempts: 3,
    maxWaitingAttempts: 9,
  },
]

const ROOT_KEYS = ['root:1', 'root:2', 'command:1', 'unknown:1']

/** How many operations were counted as ended. */
class CountingMeter implements SchedulerMeter {
  completions = 0
  dequeued(): void {}
  retried(): void {}
  reported(): void {}
  worker(): void {}
  persistent(): void {}
  roots(): void {}
  completed(): void {
    this.completions += 1
  }
}

/** The host, clients and workers around the machine. Applies commands and fails on invalid ones. */
class World {
  readonly meter = new CountingMeter()
  readonly machine = new SimpleScheduler(settings, this.meter, new Ledger({ outcomes: 8 * 4500 }))
  nowMs = 1_000
  /** Attempts of each connected worker, until acknowledged. */
  readonly connected = new Map<string, Set<string>>()
  /** Attempts of workers whose connection is lost. */
  readonly away = new Map<string, Set<string>>()
  readonly leaving = new Set<string>()
  /** Workers drained by an operator. */
  readonly keptFree = new Set<string>()
  readonly offerOf = new Map<string, WorkerOffer>()
  readonly stageOf = new Map<string, string>()
  readonly completed = new Set<string>()
  readonly settling = new Set<string>()
  readonly requestOf = new Map<string, readonly [string, string][]>()
  readonly names: string[] = []
  readonly attached: string[] = []
  readonly starts = new Set<string>()
  /** Attempts that a worker brought although they had ended here: it has not heard of that, and they take places. */
  readonly ended = new Set<string>()
  isDraining = false

  /** An attempt that a previous scheduler process started, possibly for an operation that is known here. */
  foreign(a: number, b: number): BroughtAttempt {
    const known = this.names.filter((name) => !this.completed.has(name))
    const name = (a % 4 === 0 && pick(known, a)) || `operations/before-${this.names.length}`
    const properties = this.requestOf.get(name) ?? requests[a % requests.length] ?? []
    const actionDigest = Digest.of(Buffer.from([a % requests.length, b % 2]), digestFunctions.SHA256)
    const attemptId = `foreign-${a}-${b}`
    const request = {
      ...{ instanceName: a % 3 === 0 ? 'one' : 'two', actionDigest, priority: b % 3, invocation: '' },
      ...{ doNotCache: b % 3 === 0, skipCacheLookup: false },
      properties: properties.map(([property, value]) => ({ name: property, value })),
    }
    return { attemptId, operationName: name, queuedMs: this.nowMs, request }
  }

  apply(commands: readonly Command[]): void {
    for (const command of commands) this.#apply(command)
  }

  #apply(command: Command): void {
    if (command.kind === 'start') this.#start(command)
    if (command.kind === 'kill') assert(this.connected.has(command.workerId), 'kill goes to a connected worker')
    if (command.kind === 'acknowledge') this.connected.get(command.workerId)?.delete(command.attemptId)
    if (command.kind === 'evict') {
      this.connected.delete(command.workerId)
      this.away.delete(command.workerId)
    }
    if (command.kind === 'settle') {
      assert(!this.settling.has(command.executionId), 'settled once')
      this.settling.add(command.executionId)
    }
    if (command.kind === 'publish') {
      const { name, stage, outcome } = command.state
      assert(!this.completed.has(name), `${name} is published after it completed`)
      assert((stage === 'COMPLETED') === (outcome !== undefined), 'an outcome exactly with COMPLETED')
      assert(this.stageOf.get(name) !== stage, 'published only when something changed')
      if (!this.names.includes(name)) this.names.push(name)
      this.stageOf.set(name, stage)
      if (stage === 'COMPLETED') this.completed.add(name)
    }
  }

  #start(command: Extract<Command, { kind: 'start' }>): void {
    const { workerId, start } = command
    const held = this.connected.get(workerId)
    assert(held !== undefined, 'an attempt starts on a connected worker')
    assert(!this.starts.has(start.attemptId), 'an attempt starts once')
    assert(!this.leaving.has(workerId), 'nothing starts on a worker that is going away')
    assert(!this.keptFree.has(workerId), 'nothing starts on a worker that an operator keeps free')
    assert(!this.isDraining, 'nothing starts while draining')
    this.starts.add(start.attemptId)
    held?.add(start.attemptId)
    const offer = this.offerOf.get(workerId)?.properties
    for (const { name, value } of start.request.properties) {
      const values = offer?.get(name)
      if (name === 'os') assert(values?.includes(value) === true, `${name}=${value} is offered`)
      if (name === 'pool') assert(values !== undefined, 'pool is offered')
      if (name === 'cpu') assert(Math.max(...(values ?? []).map(Number)) >= Number(value), 'enough cpu')
    }
  }
}

const assert = (holds: boolean, claim: string): void => {
  if (!holds) throw new Error(claim)
}

type Event = readonly [kind: string, a: number, b: number]

const pick = <T>(items: Iterable<T>, n: number): T | undefined => {
  const all = [...items]
  return all.length === 0 ? undefined : all[n % all.length]
}

const events: Record<string, (world: World, a: number, b: number) => void> = {
  enqueue: (world, a, b) => {
    const name = `operations/${world.names.length}`
    const properties = [...requestOf(a, b), ...imageOf(b)]
    world.names.push(name)
    world.requestOf.set(name, properties)
    const instanceName = a % 3 === 0 ? 'one' : 'two'
    const digest = Digest.of(Buffer.from([a % requests.length, b % 2]), digestFunctions.SHA256)
    world.apply(world.machine.open(world.nowMs, name, instanceName, digest))
    if (a % 4 > 0) {
      world.apply(world.machine.clientAttached(world.nowMs, name))
      world.attached.push(name)
    }
    const request = {
      properties: properties.map(([property, value]) => ({ name: property, value })),
      priority: b % 3,
      invocation: `${b % 2}`,
      doNotCache: b % 5 === 0,
      skipCacheLookup: b % 7 === 0,
      ...{ instanceName, actionDigest: digest },
      rootKeys: [ROOT_KEYS[a % ROOT_KEYS.length] ?? '', `kind:${b % 2}`],
    }
    try {
      world.apply(world.machine.enqueue(world.nowMs, name, request))
    } catch (thrown) {
      world.apply(world.machine.complete(world.nowMs, name, { error: StatusError.from(thrown) }))
    }
  },
  cancel: (world, a) => world.apply(world.machine.cancel(world.nowMs, world.names[a % world.names.length] ?? '')),
  delete: (world, a) => world.apply(world.machine.delete(world.nowMs, world.names[a % world.names.length] ?? '')),
  touch: (world, a) => world.apply(world.machine.touched(world.nowMs, world.names[a % world.names.length] ?? '')),
  detach: (world, a) => {
    const [name] = world.attached.splice(a % (world.attached.length || 1), 1)
    if (name !== undefined) world.apply(world.machine.clientDetached(world.nowMs, name))
  },
  connect: (world, a, b) => {
    const offer = offers[a % offers.length]
    if (offer === undefined) return
    const id = `${offer.name}-${b % 2}`
    const held = [...(world.connected.get(id) ?? world.away.get(id) ?? [])]
    const foreign = b % 5 === 0 ? world.foreign(a, b) : undefined
    const others = foreign ? [foreign.attemptId] : b % 11 === 0 ? [`stranger-${a}-${b}`] : []
    const named = [...(b % 7 === 0 ? held.slice(1) : held), ...others]
    const brought = new Map(foreign && [[foreign.attemptId, foreign]])
    const { attempts } = world.machine.inspect().dispatch
    for (const attemptId of named) if (!attempts.has(attemptId)) world.ended.add(attemptId)
    world.connected.set(id, new Set(named))
    world.away.delete(id)
    world.leaving.delete(id)
    if (!world.machine.hasWorker(id)) world.keptFree.delete(id)
    world.offerOf.set(id, offer)
    world.apply(world.machine.workerConnected(world.nowMs, id, offer, { attemptIds: named, brought }))
  },
  disconnect: (world, a) => {
    const id = pick(world.connected.keys(), a)
    if (id === undefined) return
    world.away.set(id, world.connected.get(id) ?? new Set())
    world.connected.delete(id)
    world.apply(world.machine.workerDisconnected(world.nowMs, id))
  },
  keepAlive: (world) => {
    for (const id of world.connected.keys()) world.apply(world.machine.keepAlive(world.nowMs, id))
  },
  progress: (world, a, b) =>
    onAttempt(world, a, b, (id, attempt) => world.machine.progress(world.nowMs, id, attempt, 1 + (b % 3))),
  report: (world, a, b) =>
    onAttempt(world, a, b, (id, attempt) => world.machine.report(world.nowMs, id, attempt, response)),
  workerError: (world, a, b) =>
    onAttempt(world, a, b, (id, attempt) => world.machine.workerError(world.nowMs, id, attempt, error)),
  health: (world, a, b) => {
    const id = pick(world.connected.keys(), a)
    if (id !== undefined) world.apply(world.machine.health(world.nowMs, id, b % 2 === 0 ? 'no rights' : ''))
  },
  warm: (world, a, b) => {
    const id = pick(world.connected.keys(), a)
    const all = ['image:x', 'image:y', 'kind:0', 'kind:1', ...ROOT_KEYS]
    const keys = [all[b % all.length] ?? '', all[(a + b) % all.length] ?? '']
    if (id !== undefined) world.apply(world.machine.warm(world.nowMs, id, b % 2 ? keys : [], b % 2 ? [] : keys))
  },
  refuse: (world, a, b) =>
    onAttempt(world, a, b, (id, attempt) => world.machine.refuse(world.nowMs, id, attempt, error)),
  giveBack: (world, a, b) => onAttempt(world, a, b, (id, attempt) => world.machine.giveBack(world.nowMs, id, attempt)),
  lateReport: (world, a, b) => {
    const attempt = pick(world.starts, b)
    const id = pick(world.connected.keys(), a)
    if (attempt === undefined || id === undefined || world.connected.get(id)?.has(attempt) === true) return
    const commands = world.machine.report(world.nowMs, id, attempt, response)
    assert(!commands.some(({ kind }) => kind === 'settle'), 'only the worker of an attempt reports its result')
    world.apply(commands)
  },
  goAway: (world, a) => {
    const id = pick(world.connected.keys(), a)
    if (id === undefined || a % 5 > 0) return
    world.leaving.add(id)
    world.keptFree.delete(id)
    world.apply(world.machine.goingAway(world.nowMs, id))
  },
  keepFree: (world, a) => {
    const id = pick([...world.connected.keys(), ...world.away.keys()], a)
    if (id === undefined) return
    const commands = world.machine.drainWorker(world.nowMs, id)
    assert((commands !== undefined) === world.machine.hasWorker(id), 'an operator can keep any worker free')
    if (!world.leaving.has(id) && !world.isDraining && commands !== undefined) world.keptFree.add(id)
    world.apply(commands ?? [])
  },
  resume: (world, a) => {
    const id = pick([...world.connected.keys(), ...world.away.keys()], a)
    if (id === undefined) return
    const mayResume = world.keptFree.has(id) && world.connected.has(id) && !world.isDraining
    if (mayResume) world.keptFree.delete(id)
    const commands = world.machine.undrainWorker(world.nowMs, id)
    assert((commands !== undefined) === mayResume, 'an operator can only undo a drain by an operator')
    world.apply(commands ?? [])
  },
  settle: (world, a) => {
    const id = pick(world.settling, a)
    if (id === undefined) return
    world.settling.delete(id)
    world.apply(world.machine.settled(world.nowMs, id, { response }))
  },
  tick: (world, a) => {
    world.nowMs += a % 60
    world.apply(world.machine.tick(world.nowMs))
  },
  drain: (world, a) => {
    if (a % 40 !== 0) return
    world.isDraining = true
    world.apply(world.machine.drain(world.nowMs))
  },
}

const onAttempt = (world: World, a: number, b: number, event: (id: string, attempt: string) => Command[]): void => {
  const id = pick(world.connected.keys(), a)
  const attempt = pick(world.connected.get(id ?? '') ?? [], b)
  if (id !== undefined && attempt !== undefined) world.apply(event(id, attempt))
}

const checkInvariants = (world: World): void => {
  assert(world.meter.completions === world.completed.size, 'each operation is counted as ended once, when it ends')
  const { executions, dispatch, workers } = world.machine.inspect()
  checkDemand(world)
  const current = new Set<string>()
  const awaited = new Set<string>()
  let waiting = 0
  for (const execution of executions) {
    const isQueued = dispatch.queue.bucketOf(execution.requirement)?.arrivals.has(execution) === true
    waiting += Number(isQueued)
    assert(isQueued === (execution.state === 'queued'), `${execution.state} and in the queue: ${isQueued}`)
    assert(
      (execution.attempt !== undefined) === (execution.state === 'executing'),
      'an attempt exactly while executing',
    )
    if (execution.attempt !== undefined) {
      assert(dispatch.attempts.get(execution.attempt.id) === execution.attempt, 'the attempt is known')
      assert(execution.attempt.execution === execution, 'the attempt knows its execution')
      current.add(execution.attempt.id)
    }
    assert(execution.failures <= settings.maxJobRetries, 'no more failures than retries')
    assert(execution.operations.size > 0, 'somebody waits for it')
    for (const operation of execution.operations) {
      awaited.add(operation.name)
      assert(operation.execution === execution && operation.outcome === undefined, 'its operations are unfinished')
      const stage = execution.state === 'queued' ? 'QUEUED' : 'EXECUTING'
      assert(world.stageOf.get(operation.name) === stage, `${operation.name} is shown as ${stage}`)
    }
    if (execution.state === 'settling') assert(world.settling.has(execution.id), 'the host is settling it')
  }
  for (const [name, stage] of world.stageOf) {
    const isUnderWay = stage === 'QUEUED' || stage === 'EXECUTING'
    assert(awaited.has(name) === isUnderWay, `${name} is ${stage} and under way: ${awaited.has(name)}`)
  }
  assert(waiting === dispatch.queue.size, 'the queue counts what waits')
  const known = new Set(workers.all)
  for (const attempt of dispatch.attempts.values()) {
    assert(known.has(attempt.worker) && attempt.worker.attempts.has(attempt), 'an attempt is on a known worker')
    if (attempt.execution !== undefined)
      assert(current.has(attempt.id), 'an attempt of an execution is its current one')
  }
  for (const worker of known) {
    const holding = [...worker.attempts].filter(({ hasReleased }) => !hasReleased)
    assert(worker.inflight === holding.length, 'places are counted')
    for (const [name, total] of worker.total) {
      const used = holding.reduce((sum, { requirement }) => sum + (requirement?.minimum.get(name) ?? 0), 0)
      assert(worker.left.get(name) === total - used, `${name} is given back`)
      const brought = holding.some(({ id }) => isForeign(id))
      assert(used <= total || brought, `${name} is not promised twice`)
    }
    const own = holding.filter(({ id }) => !isForeign(id) && !world.ended.has(id))
    const { maxInflightAttempts: places, maxWaitingAttempts: waiting = 0 } = worker.offer
    assert(own.length <= places + waiting, 'no more attempts than places, and as many that wait for one')
    assert(worker.isConnected === world.connected.has(worker.id), 'knows who is connected')
  }
  for (const id of world.connected.keys())
    assert(
      [...known].some((worker) => worker.id === id),
      `${id} is known`,
    )
  checkShares(dispatch)
  for (const bucket of dispatch.queue.buckets) {
    const mayRun = [...bucket.lanes.keys()].some(({ running }) => running < settings.maxRunningPerInstance)
    const inLanes = bucket.arrivals.size - bucket.expecting
    assert(waitingIn(bucket) === inLanes && bucket.arrivals.size > 0, 'a bucket holds what waits')
    checkExpecting(world, bucket)
    for (const worker of known) {
      const could = !worker.isDraining && worker.standing.takesActions && couldRun(worker, bucket.requirement)
      const own = dispatch.index.classOf(worker)
      assert((own !== undefined && bucket.capable.has(own)) === could, 'the bucket lists its capable workers')
      assert(!could || !mayRun || !hasRoom(worker, bucket.requirement), 'nothing waits that a worker has room for')
    }
    for (const { workers } of bucket.capable) {
      for (const worker of workers) assert(known.has(worker), 'forgets workers that are gone')
    }
    assert(
      (bucket.capable.size === 0) === (bucket.unmatchedSinceMs !== undefined),
      'an unmatched bucket has no capable worker',
    )
  }
}

/** Checks an offer without using the index. */
const couldRun = ({ offer: { properties } }: Worker, { exact, minimum, present }: Requirement): boolean =>
  exact.every(({ name, value }) => properties.get(name)?.includes(value)) &&
  [...minimum].every(([name, amount]) => (properties.get(name) ?? []).some((value) => Number(value) >= amount)) &&
  present.every((name) => properties.has(name))

/** Attempts that a worker brought are adopted even beyond its capacity. */
const isForeign = (attemptId: string): boolean => /^(foreign|stranger)-/.test(attemptId)

/** What waits for a worker that holds something warm for it does so for a bounded time, and such a worker has no room. */
const checkExpecting = (world: World, { arrivals, expecting }: Bucket): void => {
  const { dispatch, workers } = world.machine.inspect()
  const own = [...arrivals].filter((execution) => execution.expecting !== undefined)
  assert(own.length === expecting, 'a bucket counts what waits for a warm worker')
  for (const execution of own) {
    const { waitingSinceMs, warmUntilMs = 0, first, requirement } = execution
    assert(warmUntilMs - waitingSinceMs <= settings.warmWorkerWaitMs, 'the wait is bounded')
    if (!dispatch.queue.mayRun(first.instanceName)) continue
    for (const worker of workers.all) {
      const isWarm = dispatch.index.classOf(worker) !== undefined && isAwaited(worker, execution)
      const canRun = isWarm && couldRun(worker, requirement) && hasRoom(worker, requirement)
      assert(!canRun, 'nothing waits for a warm worker while one has room')
    }
  }
}

const waitingIn = ({ lanes }: Bucket): number =>
  [...lanes.values()].flatMap((own) => [...own.values()]).reduce((sum, { size }) => sum + size, 0)

const checkShares = ({ queue, attempts, index }: Dispatch): void => {
  const seats = [...attempts.values()].filter(({ seat }) => seat !== undefined)
  let queued = 0
  for (const tenant of queue.tenants.all) {
    const own = seats.filter(({ seat }) => seat?.tenant === tenant).length
    assert(tenant.running === own, `${tenant.name} has ${own} places, counted ${tenant.running}`)
    const given = seats.filter(({ seat, id }) => seat?.tenant === tenant && !isForeign(id)).length
    assert(given <= settings.maxRunningPerInstance, 'no instance is given more places than it may have')
    assert(tenant.queued <= settings.maxQueuedActionsPerInstance + REQUEUED, 'no instance has more queued than it may')
    queued += tenant.queued
    for (const what of ['running', 'queued'] as const) {
      const sum = [...tenant.invocations.values()].reduce((all, share) => all + share[what], 0)
      assert(sum === tenant[what], `${what} of invocations add up`)
    }
  }
  assert(queued === queue.size, 'instances count what waits')
  assert(
    seats.every(({ hasReleased }) => !hasReleased),
    'who takes a share holds a place',
  )
  for (const { workers, free } of index.classes) {
    const withPlace = [...workers].filter(hasFreeSlot)
    assert(free.size === withPlace.length && withPlace.every(({ heapIndex }) => heapIndex >= 0), 'knows who is free')
    for (const { heldFor } of workers) {
      assert(
        heldFor === undefined || queue.bySignature(heldFor) !== undefined,
        'a worker is held only for a waiting requirement',
      )
    }
  }
}

/** An execution that is queued again was admitted before, so the limit does not apply. */
/** What is counted as it comes and goes is what is there. */
const checkDemand = (world: World): void => {
  const { dispatch } = world.machine.inspect()
  const counts = new Map<string, number>()
  const count = (to: Map<string, number>, key: string, by: number): void => void to.set(key, (to.get(key) ?? 0) + by)
  const add = ({ exact, present, minimum }: Requirement, stage: 'queued' | 'running'): void => {
    const properties = [...exact.map(({ name, value }) => [name, value]), ...present.map((name) => [name, '*'])]
    count(counts, `${stage} ${JSON.stringify(properties)}`, 1)
    for (const [name, amount] of minimum) count(counts, `${stage} ${name}`, amount)
  }
  for (const { requirement, arrivals } of dispatch.queue.buckets) for (const _ of arrivals) add(requirement, 'queued')
  for (const { seat, requirement } of dispatch.attempts.values())
    if (seat !== undefined && requirement !== undefined) add(requirement, 'running')
  const told = new Map<string, number>()
  for (const platform of world.machine.activity(world.nowMs).demand) {
    for (const stage of ['queued', 'running'] as const) {
      count(told, `${stage} ${JSON.stringify(platform.properties)}`, platform[stage])
      for (const [name, amount] of platform.amounts) count(told, `${stage} ${name}`, amount[stage])
    }
  }
  for (const key of new Set([...counts.keys(), ...told.keys()]))
    assert((told.get(key) ?? 0) === (counts.get(key) ?? 0), `${key}: ${told.get(key)}, not ${counts.get(key)}`)
}

const REQUEUED = 8

const checkEnd = (world: World): void => {
  for (const id of [...world.connected.keys()]) world.apply(world.machine.workerDisconnected(world.nowMs, id))
  world.connected.clear()
  for (const name of world.attached) world.apply(world.machine.clientDetached(world.nowMs, name))
  for (let step = 0; step < 40; step++) {
    world.nowMs += 100
    world.apply(world.machine.tick(world.nowMs))
    for (const id of world.settling) world.apply(world.machine.settled(world.nowMs, id, { response }))
    world.settling.clear()
  }
  for (const name of world.names) assert(world.completed.has(name), `${name} completed`)
  const { executions, dispatch, workers, deadlines } = world.machine.inspect()
  const left = {
    executions: [...executions].length,
    attempts: dispatch.attempts.size,
    workers: [...workers.all].length,
    tenants: dispatch.queue.tenants.size,
  }
  const rest = {
    ...left,
    deadlines: deadlines.size,
    operations: [...world.machine.operations('one'), ...world.machine.operations('two')].length,
  }
  for (const [what, count] of Object.entries(rest)) assert(count === 0, `${count} ${what} are left over`)
}

const eventArbitrary: fc.Arbitrary<Event> = fc.tuple(
  fc.oneof(
    { weight: 6, arbitrary: fc.constant('enqueue') },
    { weight: 4, arbitrary: fc.constantFrom('connect', 'report', 'settle', 'keepAlive') },
    { weight: 8, arbitrary: fc.constantFrom(...Object.keys(events)) },
  ),
  fc.nat(200),
  fc.nat(200),
)

t.test('any sequence of events keeps the invariants, and everything ends exactly once', (t) => {
  let played = 0
  const property = fc.property(fc.array(eventArbitrary, { minLength: 5, maxLength: 120, size: 'max' }), (sequence) => {
    const world = new World()
    for (const [kind, a, b] of sequence) {
      events[kind]?.(world, a, b)
      played++
      checkInvariants(world)
    }
    checkEnd(world)
  })
  fc.assert(property, {
    numRuns: Number(process.env['REMEXEC_RUNS'] ?? 400),
    seed: Number(process.env['REMEXEC_SEED'] ?? 20_260_101),
  })
  t.comment(`${played} events`)
  t.end()
})
