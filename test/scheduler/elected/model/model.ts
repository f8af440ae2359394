/**
 * A queue of servers under faults, by seeds: two servers, two workers and some operations, whose processes are killed, paused, stopped
 * and cut off each other, while the engine may forget everything. The same seed without faults says what has to come out.
 */
import { Code } from '../../../../src/base/status-error.js'
import { Digest } from '../../../../src/reapi/digest.js'
import { digestFunctions } from '../../../../src/reapi/digest-function.js'
import { idOfOperation } from '../../../../src/reapi/operation-name.js'
import type { ActionResults } from '../../../../src/scheduler/scheduler.js'
import { defaultSettings } from '../../settings.js'
import { MemoryBucket, type responseOf, SimulatedServer } from './servers.js'
import { type Plan, SimulatedClient, SimulatedWorker, type WorkerParts } from './workers.js'
import { Process, World } from './world.js'

const FAULTS_MS = 60_000
const ENDS_WITHIN_MS = 900_000
const RETRIES = 2
/** The longest that a worker's copy of an outcome is kept for a front that does not take it. */
const ACKNOWLEDGED_WITHIN_MS = 29_000

const settings = {
  ...defaultSettings,
  supportedPlatformProperties: new Map([['os', 'exact'] as const]),
  maxJobRetries: RETRIES,
  workerFailuresInARow: 0,
  workerTimeoutMs: 45_000,
  noWorkerTimeoutMs: 60_000,
  retainCompletedForMs: 300_000,
}

export interface ModelRun {
  /** By operation of a client, in order of their begin. */
  readonly outcomes: readonly string[]
  /** What must not be. */
  readonly violations: readonly string[]
  readonly terms: number
}

const KINDS: readonly Plan['kind'][] = [
  'succeeds',
  'exits with 3',
  'is not cached',
  'exits with 3',
  'breaks its worker',
  'suits no worker',
]

const expected: Readonly<Record<Plan['kind'], string>> = {
  succeeds: 'exit 0',
  'exits with 3': 'exit 3',
  'is not cached': 'exit 0',
  'breaks its worker': String(Code.INTERNAL),
  'suits no worker': String(Code.FAILED_PRECONDITION),
}

/** A worker that is killed counts as a try too. */
const TRIES = `${RETRIES + 1} of ${RETRIES + 1} tries failed`
/** Whose outcome is that of one attempt, and in no cache. */
const SAYS_WHICH = new Set<Plan['kind']>(['exits with 3', 'is not cached'])

class Model {
  readonly world: World
  readonly servers: SimulatedServer[] = []
  readonly violations: string[] = []
  readonly clients: SimulatedClient[] = []
  readonly #bucket: MemoryBucket
  readonly #outside: Process
  readonly #plans = new Map<string, Plan>()
  readonly #parts: WorkerParts
  readonly #workers: SimulatedWorker[] = []
  /** Clients that wait for the operation of another one, which had this name then. */
  readonly #followers: { client: SimulatedClient; name: string | undefined; by: SimulatedClient }[] = []
  readonly #cached = new Map<string, ReturnType<typeof responseOf>>()
  /** The attempt that runs for an operation, as a front was told, by front, its session, and id. */
  readonly #running = new Map<string, string>()
  /** By front and id. */
  readonly #ended = new Set<string>()
  /** The attempts of an action that a worker was given; it may not have heard of them. */
  readonly #sent = new Map<string, Set<string>>()
  /** When an attempt of it ended first. */
  readonly #reported = new Map<string, number>()
  #incarnations = 0
  #workerFaults = 0
  /** Of servers. */
  #deaths = 0
  /** Workers cannot prove their ids to servers that have just started, so what they bring counts as run by strangers. */
  #isSecretLost = false
  /** For one server at least, or it forgot all. */
  #isEngineAway = false
  highestEpoch = 0

  constructor(seed: number) {
    this.world = new World(seed)
    this.#bucket = new MemoryBucket(this.world)
    this.#outside = new Process('outside', this.world)
    this.#parts = {
      ...{ world: this.world, servers: this.servers },
      planOf: (digest) => this.#plans.get(digest) as Plan,
      onSent: ({ attemptId, request: { actionDigest } }) => {
        const { key } = actionDigest
        this.#sent.set(key, (this.#sent.get(key) ?? new Set()).add(attemptId))
      },
      onStart: (epoch, highestEpoch) => {
        this.highestEpoch = Math.max(this.highestEpoch, epoch)
        if (epoch < highestEpoch) this.#wrong(`a leader of term ${epoch} started an attempt after term ${highestEpoch}`)
      },
      onReport: (attemptId) => {
        if (!this.#reported.has(attemptId)) this.#reported.set(attemptId, this.world.nowMs)
      },
      onAcknowledge: (leader, start, outcome) => {
        const key = start.request.actionDigest.key
        const plan = this.#plans.get(key) as Plan
        if (!SAYS_WHICH.has(plan.kind) || outcome instanceof Error) return
        this.#checkHeld(leader, plan, start.attemptId)
      },
    }
    for (const name of ['one', 'two']) this.#serve(name)
    for (const name of ['w1', 'w2']) this.#workers.push(new SimulatedWorker(this.#parts, name))
  }

  /** A client asks for an action now. */
  begin(at: number): void {
    const kind = KINDS[at % KINDS.length] as Plan['kind']
    // Some ask for the same action at the same time.
    const action = kind === 'is not cached' || at % 3 > 0 ? `action ${at}` : `shared ${kind}`
    const actionDigest = Digest.of(Buffer.from(action), digestFunctions.SHA256)
    const properties = kind === 'suits no worker' ? [{ name: 'os', value: 'other' }] : []
    const request = {
      ...{ instanceName: '', actionDigest, properties, priority: 0, invocation: `build ${at % 2}` },
      ...{ doNotCache: kind === 'is not cached', skipCacheLookup: false },
    }
    const takesMs = [50, 1_000, 8_000][at % 3] ?? 0
    const plan = this.#plans.get(actionDigest.key) ?? { kind, takesMs, request }
    this.#plans.set(actionDigest.key, plan)
    this.clients.push(new SimulatedClient(this.#parts, this.#outside, plan))
  }

  /** Another client waits for an operation that a client has begun, at any server. */
  follow(): void {
    const client = this.world.pick(
      this.clients.filter(({ name, outcome }) => name !== undefined && outcome === undefined),
    )
    if (client === undefined) return
    const { plan, name } = client
    this.#followers.push({ client, name, by: new SimulatedClient(this.#parts, this.#outside, plan, name) })
  }

  fault(): void {
    const { world } = this
    const server = world.pick(this.servers)
    const all = [...this.servers, ...this.#workers].map(({ process }) => process)
    const [one, other] = [world.pick([...all, this.#bucket.process]), world.pick(all)]
    const which = world.between(0, 9)
    if (which <= 1 && server !== undefined) this.#killed(server)
    else if (which === 2 && server !== undefined && !server.process.isPaused) {
      this.#deaths += 1
      server.stop(() => this.#later(world.between(100, 3_000), () => this.#serve(server.process.name)))
    } else if (which <= 4) this.#paused(world.pick(all))
    else if (which === 5 && this.#workerFaults < RETRIES) this.#replaced(world.between(0, 1))
    else if (which === 6) {
      this.#isEngineAway = true
      this.#isSecretLost = true
      this.#bucket.forget()
    } else if (one !== undefined && other !== undefined && one !== other) this.#cut(one, other)
  }

  mend(): void {
    this.world.mend()
    for (const { process } of [...this.servers, ...this.#workers]) if (process.isPaused) process.resume()
  }

  get isOver(): boolean {
    return [...this.clients, ...this.#followers.map(({ by }) => by)].every(({ outcome }) => outcome !== undefined)
  }

  check(): void {
    for (const failure of this.world.failures) this.#wrong(`a process failed: ${String(failure)}`)
    for (const [at, { plan, outcome, forgotten }] of this.clients.entries()) {
      if (outcome === undefined) this.#wrong(`operation ${at} (${plan.kind}) has not ended`)
      else if (
        outcome.kind !== expected[plan.kind] &&
        !(plan.kind === 'breaks its worker' && outcome.text.startsWith(TRIES))
      )
        this.#wrong(`operation ${at} (${plan.kind}) came to ${outcome.kind}: ${outcome.text}`)
      const tries = this.#sent.get(plan.request.actionDigest.key)?.size ?? 0
      if (plan.kind === 'breaks its worker' && tries <= RETRIES)
        this.#wrong(`operation ${at} ended after ${tries} attempts: ${outcome?.text}`)
      if (forgotten > 0 && this.#deaths === 0) this.#wrong(`operation ${at} was forgotten, and no server has died`)
    }
    for (const { client, name, by } of this.#followers) {
      // Those whose operation was lost with its servers asked for another one.
      if (client.name !== name || by.name !== name || !SAYS_WHICH.has(client.plan.kind)) continue
      // A leader that reaches no engine goes on with the servers that it reaches.
      if (client.outcome?.text !== by.outcome?.text && !this.#isEngineAway)
        this.#wrong(`one operation has two outcomes: ${client.outcome?.text} and ${by.outcome?.text}`)
    }
  }

  #wrong(what: string): void {
    this.violations.push(what)
  }

  #later(inMs: number, work: () => void): void {
    this.world.after(inMs, this.#outside, work)
  }

  #serve(name: string): void {
    const later = <T>(answer: () => T): Promise<T> =>
      new Promise((resolve) => this.world.after(this.world.between(1, 20), this.#outside, () => resolve(answer())))
    const keyOf = ({ actionDigest }: { actionDigest: Digest }): string => actionDigest.key
    const results: ActionResults = {
      find: (request) => later(() => this.#cached.get(keyOf(request))?.result ?? undefined),
      keep: (request, response) =>
        later(() => {
          if (response.result?.exitCode === 0 && !request.doNotCache) this.#cached.set(keyOf(request), response)
          return response
        }),
    }
    new SimulatedServer(
      {
        ...{ world: this.world, bucket: this.#bucket, settings, results, servers: this.servers },
        onNews: (front, id, attemptId) => this.#running.set(`${front.serial} ${front.joins} ${id}`, attemptId),
        onEnd: (front, id, epoch) => {
          this.#ended.add(`${front.serial} ${id}`)
          if (epoch < front.highestEpoch)
            this.#wrong(`an outcome of term ${epoch} came after term ${front.highestEpoch}`)
        },
      },
      name,
      ++this.#incarnations,
    )
  }

  /** Every server that the leader knows to have a client for it has got the outcome. */
  #checkHeld(leader: SimulatedServer, plan: Plan, attemptId: string): void {
    const { nowMs } = this.world
    const isLate = nowMs - (this.#reported.get(attemptId) ?? nowMs) > ACKNOWLEDGED_WITHIN_MS
    if (isLate || this.#isSecretLost) return
    for (const { plan: wanted, front, name, outcome } of this.clients) {
      if (wanted !== plan || outcome !== undefined || name === undefined || front?.isUp !== true || front === leader)
        continue
      const id = idOfOperation(name)
      const running = this.#running.get(`${front.serial} ${front.joins} ${id}`)
      if (leader.sessions.get(front.process)?.isOpen !== true || running !== attemptId) continue
      if (!this.#ended.has(`${front.serial} ${id}`))
        this.#wrong(`${attemptId} was acknowledged, and a front has not got it`)
    }
  }

  #killed(server: SimulatedServer): void {
    if (!server.isUp) return
    this.#deaths += 1
    server.kill()
    this.#later(this.world.between(100, 9_000), () => this.#serve(server.process.name))
  }

  #paused(process: Process | undefined): void {
    if (process === undefined || process.isPaused) return
    process.isPaused = true
    this.#later(this.world.between(50, 12_000), () => {
      if (process.isPaused) process.resume()
    })
  }

  #replaced(at: number): void {
    this.#workerFaults += 1
    this.#workers[at]?.process.kill()
    this.#workers[at] = new SimulatedWorker(this.#parts, `w${at + 1}`)
  }

  #cut(one: Process, other: Process): void {
    const { cuts } = this.world
    this.#isEngineAway ||= one === this.#bucket.process
    const isBoth = this.world.random() < 0.5
    cuts.add(`${one.name}>${other.name}`)
    if (isBoth) cuts.add(`${other.name}>${one.name}`)
    this.#later(this.world.between(200, 12_000), () => this.world.mend())
  }
}

export const OPERATIONS = 8

export const runModel = async (seed: number, { faults = 16 } = {}): Promise<ModelRun> => {
  const restore = World.takeOver()
  try {
    const model = new Model(seed)
    const { world } = model
    const planned = new World(seed + 1_000_003)
    const startMs = world.nowMs
    const moments = [
      ...Array.from({ length: OPERATIONS }, (_, at) => ({
        atMs: planned.between(0, 30_000),
        work: () => model.begin(at),
      })),
      ...Array.from({ length: 3 }, () => ({ atMs: planned.between(2_000, 40_000), work: () => model.follow() })),
      ...Array.from({ length: faults }, () => ({ atMs: planned.between(1_000, FAULTS_MS), work: () => model.fault() })),
    ].sort((a, b) => a.atMs - b.atMs)
    for (const { atMs, work } of moments) {
      await world.run(startMs + atMs)
      work()
    }
    await world.run(startMs + FAULTS_MS + 15_000)
    model.mend()
    await world.run(world.nowMs + ENDS_WITHIN_MS, () => model.isOver)
    model.check()
    const outcomes = model.clients.map(({ outcome }) => outcome?.kind ?? 'none')
    return { outcomes, violations: [...new Set(model.violations)], terms: model.highestEpoch }
  } finally {
    restore()
  }
}
