import type { Clock } from '../../base/clock.js'
import type { HealthProbe } from '../../base/health.js'
import { StatusError } from '../../base/status-error.js'
import type { Ledger } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import { instanceOfOperation, operationName } from '../../reapi/operation-name.js'
import type { PlatformProperty } from '../../reapi/platform.js'
import { inBackground } from '../../work/in-background.js'
import type { SchedulingStream } from '../fronts/session.js'
import { Way } from '../fronts/way.js'
import { Answered } from '../grpc/answered.js'
import { stateOf } from '../grpc/operation-state.js'
import type { RemoteExecution } from '../grpc/remote-execution.js'
import { RemoteQueue } from '../grpc/remote-queue.js'
import { toldBy } from '../grpc/told-state.js'
import {
  type ActionResults,
  type ExecutionRequest,
  type HandedOperation,
  type ListedOperation,
  type OperationState,
  type Peer,
  type PeerDoor,
  type QueueElsewhere,
  type Scheduler,
  type SchedulerOperator,
  WORKER_IDENTITY,
  type WorkerLink,
  type WorkerOffer,
  type WorkerPast,
  type WorkerPool,
  type WorkerSession,
  type WorkerUpstream,
} from '../scheduler.js'
import type { HostOffice, SchedulerHost } from '../simple/host.js'
import type { ElectionFacts, SchedulerActivity } from '../simple/meter.js'
import { Candidacy } from './candidacy.js'
import type { Candidate, Engine, Term } from './engine.js'
import { electedHealth } from './health.js'
import { Office } from './office.js'
import type { Spread } from './spread.js'
import { TermKeys } from './term-keys.js'

export interface ElectedSchedulerOptions {
  /** The scheduler's name in the configuration. */
  readonly name: string
  readonly engine: Engine
  readonly candidate: Candidate
  readonly leaseMs: number
  readonly whenEngineAway: 'continue' | 'stop'
  readonly spread: Spread
  /** How long operations and their clients wait for a leader. */
  readonly waitMs: number
  /** How long a new leader waits for the servers that were there. */
  readonly rebuildMs: number
  readonly keepAliveIntervalMs: number
  readonly checkPlatform: (properties: readonly PlatformProperty[]) => void
  /** The queue for a term in office. */
  readonly newHost: (office: HostOffice) => SchedulerHost
  /** The way to another server of the queue. */
  readonly remoteAt: (address: string) => RemoteExecution
  readonly results: ActionResults
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly newId: () => string
  /** Milliseconds of a clock that nobody sets. */
  readonly nowMs?: () => number
}

const STRUCT_NAME = 'SimpleScheduler'
const NOTHING: SchedulerActivity = { executions: [], oldestQueuedMs: 0, workers: [], demand: [] }

/** Another server leads. */
interface Followed {
  readonly term: Term
  readonly remote: RemoteExecution
  readonly queue: RemoteQueue
}

/**
 * The kind `simple` where several servers have one queue. One of them is elected and has it (`office.ts`); every server, the leader
 * too, keeps the streams of its own clients and hands their operations in (`fronts/`). Whoever leads next is told by the servers what
 * their clients wait for, and by the workers what they run: nothing is stored, and clients notice a pause of seconds.
 */
export class ElectedScheduler implements Scheduler, WorkerPool {
  readonly keepAliveIntervalMs: number
  readonly probe: HealthProbe
  readonly #options: ElectedSchedulerOptions
  readonly #candidacy: Candidacy
  readonly #keys = new TermKeys(() => this.#candidacy.secret)
  readonly #way: Way
  readonly #answered: Answered
  readonly #stopped = new AbortController()
  #office: Office | undefined
  #followed: Followed | undefined
  #unledMs: number
  #offices = 0
  #refused = 0
  #isDraining = false

  constructor(options: ElectedSchedulerOptions) {
    const { name, engine, candidate, clock, log, leaseMs, whenEngineAway } = options
    this.#options = options
    this.keepAliveIntervalMs = options.keepAliveIntervalMs
    this.#unledMs = clock.now()
    this.#answered = new Answered(clock)
    this.#candidacy = new Candidacy({
      ...{ engine, candidate, leaseMs, whenEngineAway, log, spread: options.spread },
      ...(options.nowMs && { nowMs: options.nowMs }),
      onTerm: (term, memberIds) => this.#changed(term, memberIds),
      askFronts: async () => this.#office?.askFronts() ?? 0,
    })
    this.#way = new Way({
      ...{ backend: `the server that leads ${name}`, clock, log, ledger: options.ledger },
      ...{ waitMs: options.waitMs, waitKey: 'peers.leader_wait_s' },
      shownAs: `a server that leads ${name}`,
      open: (signal) => this.#open(signal),
      failureOf: (thrown) => this.#followed?.remote.failureOf(thrown) ?? StatusError.from(thrown),
      nameOf: (instanceName, id) => this.nameOf(instanceName, id),
      onAway: () => this.#candidacy.hurry(),
      amongPeers: {
        hello: () => this.#hello(),
        accept: ({ epoch, leaderId }) => this.#accept(epoch, leaderId),
      },
    })
    this.probe = {
      namespace: `/schedulers/${name}`,
      component: `scheduler/${name}`,
      structName: STRUCT_NAME,
      check: (signal) => {
        const { trouble } = this.#candidacy
        const unledForMs = clock.now() - this.#unledMs
        return electedHealth({ office: this.#office, followed: this.#followed, unledForMs, trouble }, signal)
      },
    }
  }

  start(): void {
    const { engine, log } = this.#options
    this.#candidacy.start()
    const warned = engine.warning(AbortSignal.timeout(ENGINE_MS)).then((warning) => {
      if (warning !== undefined) log.warn(`${engine.name}: ${warning}`)
    })
    // Whoever may not read the settings of the engine learns nothing.
    warned.catch((error: unknown) => log.debug('the settings of the engine are not known', { error }))
  }

  get workers(): WorkerPool {
    return this
  }

  get operator(): SchedulerOperator | undefined {
    return this.#office?.host.operator
  }

  get elsewhere(): QueueElsewhere | undefined {
    return this.#followed?.queue
  }

  get peers(): PeerDoor {
    return { name: this.#options.name, join: (peer) => this.#join(peer) }
  }

  get term(): { readonly epoch: number; readonly termKey: string } | undefined {
    const epoch = this.#office?.epoch
    return epoch === undefined ? undefined : { epoch, termKey: this.#keys.of(epoch) }
  }

  activity(): SchedulerActivity {
    return this.#office?.host.activity() ?? NOTHING
  }

  election(): ElectionFacts {
    const office = this.#office
    const { term, engineSilentMs } = this.#candidacy
    const { handedInAgain } = this.#way.operations
    return {
      ...{ scheduler: this.#options.name, leads: office !== undefined, term: term?.epoch ?? 0, engineSilentMs },
      ...{ servers: office?.frontCount ?? 0, rebuildMs: office?.rebuildMs },
      ...{ offices: this.#offices, refused: this.#refused, handedInAgain },
    }
  }

  async checkPlatform(properties: readonly PlatformProperty[]): Promise<void> {
    this.#options.checkPlatform(properties)
  }

  nameOf(instanceName: string, id: string): string {
    return operationName(instanceName, `${encodeURIComponent(this.#options.name)}/${id}`)
  }

  async execute(request: ExecutionRequest, handed?: HandedOperation): Promise<string> {
    const { results, newId } = this.#options
    const { instanceName, refusal, doNotCache, skipCacheLookup } = request
    const id = handed?.id ?? newId()
    const name = this.nameOf(instanceName, id)
    if (refusal !== undefined) return this.#answered.add(name, request, { error: refusal })
    const isLookedUp = !doNotCache && !skipCacheLookup
    const found = isLookedUp ? await results.find(request) : undefined
    if (found !== undefined) return this.#answered.addHit(name, request, found)
    if (this.#isDraining) throw new StatusError('UNAVAILABLE', 'the server is shutting down and takes no actions')
    const operations = await this.#held()
    return operations.begin({ id, past: handed?.past, wasLookedUp: isLookedUp }, request)
  }

  async *watch(name: string, signal: AbortSignal): AsyncGenerator<OperationState> {
    const answered = this.#answered.get(name)
    if (answered !== undefined) {
      yield answered
      return
    }
    const operations = await this.#held()
    yield* operations.watch(name, AbortSignal.any([signal, this.#stopped.signal]))
    if (this.#stopped.signal.aborted) throw new StatusError('UNAVAILABLE', 'the scheduler has stopped')
  }

  async get(name: string): Promise<OperationState | undefined> {
    const answered = this.#answered.get(name)
    if (answered !== undefined) return answered
    if (this.#office !== undefined) return this.#office.host.get(name)
    const operation = await this.#followed?.remote.get(name)
    if (operation === undefined) return this.#way.operations.stateOf(name)
    return stateOf(operation, { name, instanceName: instanceOfOperation(name) })
  }

  async *operations(instanceName: string, after: string): AsyncIterable<ListedOperation> {
    const leader = this.#leader()
    if (leader instanceof Office) yield* leader.host.operations(instanceName, after)
    else yield* leader.remote.listed(instanceName, after, ({ name }) => name)
  }

  async cancel(name: string): Promise<boolean> {
    if (this.#answered.get(name) !== undefined) return true
    const there = this.#office?.host.cancel(name) ?? this.#followed?.remote.cancel(name)
    const isKnown = (await there) === true
    // There may be no leader, or it does not have it yet.
    const isHeld = this.#way.operations.end(name, new StatusError('CANCELLED', `${name} was cancelled`))
    return isHeld || isKnown
  }

  async delete(name: string): Promise<boolean> {
    if (this.#answered.delete(name)) return true
    const leader = this.#leader()
    return leader instanceof Office ? leader.host.delete(name) : leader.remote.delete(name)
  }

  connectWorker(offer: WorkerOffer, previous: WorkerPast, link: WorkerLink): WorkerSession {
    const { highestEpoch = 0, termKey } = previous
    this.#claimed(highestEpoch, termKey)
    if (this.#office === undefined) throw this.#noLeader()
    return this.#office.host.connectWorker(offer, previous, link)
  }

  upstream(identity: string | undefined, signal: AbortSignal): Promise<WorkerUpstream> | undefined {
    if (this.#office !== undefined) return undefined
    const headers = new Map(identity === undefined ? [] : [[WORKER_IDENTITY, Buffer.from(identity).toString('base64')]])
    return this.#followed?.remote.relayWorker(headers, signal) ?? Promise.reject(this.#noLeader())
  }

  /** With other servers there, the queue goes to one of them; else its actions may end here. */
  drain(): void {
    this.#isDraining = true
    if (this.#office === undefined || this.#office.frontCount > 1) this.#leave()
    else this.#office.host.drain()
  }

  /** Until the clients of this server have what they wait for. */
  async idle(limitMs: number): Promise<void> {
    if (this.#office !== undefined) await this.#office.host.idle(limitMs)
    else await this.#way.operations.idle(limitMs)
  }

  close(): void {
    this.#stopped.abort()
    this.#way.close()
    this.#answered.close()
    const { engine, candidate, log } = this.#options
    const left = this.#isDraining && this.#office === undefined ? Promise.resolve() : this.#candidacy.leave()
    this.#candidacy.close()
    this.#office?.close()
    this.#followed?.remote.close()
    inBackground(
      left.then(() => engine.close()),
      log,
      `leaving the servers of a queue as ${candidate.id}`,
    )
  }

  #changed(term: Term | undefined, memberIds: readonly string[]): void {
    const { candidate, log, clock, name } = this.#options
    const [office, followed] = [this.#office, this.#followed]
    this.#office = undefined
    this.#followed = undefined
    office?.close()
    followed?.remote.close()
    if (term === undefined) {
      this.#unledMs = clock.now()
      log.info('nobody is known to lead the queue', { scheduler: name })
    } else if (term.leader.id === candidate.id) this.#office = this.#newOffice(term, memberIds)
    else this.#followed = this.#follow(term)
    if (term !== undefined) this.#way.again()
  }

  #leave(): void {
    inBackground(this.#candidacy.leave(), this.#options.log, 'leaving the servers of a queue')
  }

  #newOffice(term: Term, memberIds: readonly string[]): Office {
    const { newHost, rebuildMs, ledger, clock, log, name } = this.#options
    log.info('this server leads the queue', { scheduler: name, term: term.epoch, servers: memberIds.length })
    this.#offices++
    const { secret } = this.#candidacy
    const host = newHost({ epoch: term.epoch, secret, mayAct: () => this.#candidacy.mayAct })
    const onTermSeen = (epoch: number): void => this.#candidacy.heard(epoch)
    const isKeyOf = (epoch: number, termKey: string): boolean => this.#keys.isOf(epoch, termKey)
    return new Office({ term, host, memberIds, rebuildMs, ledger, clock, log, onTermSeen, isKeyOf })
  }

  #follow(term: Term): Followed {
    const { remoteAt, clock, log, name } = this.#options
    log.info('another server leads the queue', { scheduler: name, term: term.epoch, address: term.leader.address })
    const remote = remoteAt(term.leader.address)
    const queue = new RemoteQueue({
      backend: remote.backend,
      clock,
      ask: async (signal) => toldBy(await remote.state(signal), clock.now()),
      tellsPrinted: () => true,
      printed: (asked, signal) => remote.printed(asked, signal),
      failureOf: (thrown) => remote.failureOf(thrown),
    })
    return { term, remote, queue }
  }

  async #open(signal: AbortSignal): Promise<SchedulingStream> {
    if (this.#office !== undefined) return this.#office.own()
    if (this.#followed !== undefined) return this.#followed.remote.join(signal)
    throw this.#noLeader()
  }

  /** Throws ABORTED for a leader of an earlier term, or another one of this term. */
  #accept(epoch: number, leaderId: string): void {
    const { highestEpoch, term } = this.#candidacy
    const isOther = term !== undefined && epoch === term.epoch && leaderId !== term.leader.id
    if (epoch < highestEpoch || isOther) {
      this.#refused++
      throw new StatusError(
        'ABORTED',
        `a leader of term ${epoch} has no say any more, the highest one is ${highestEpoch}`,
      )
    }
    if (epoch > highestEpoch) this.#candidacy.heard(epoch)
  }

  async #held() {
    const operations = await this.#way.held()
    if (operations === undefined) throw this.#noLeader()
    return operations
  }

  async #join(peer: Peer): Promise<void> {
    const { highestEpoch, termKey } = peer.hello
    this.#claimed(highestEpoch, termKey)
    // There is another server now to take the queue over.
    if (this.#isDraining && this.#office !== undefined) this.#leave()
    if (this.#office === undefined || this.#isDraining) throw this.#noLeader()
    await this.#office.join(peer)
  }

  #hello() {
    const { name, candidate } = this.#options
    const { highestEpoch } = this.#candidacy
    return { scheduler: name, serverId: candidate.id, highestEpoch, termKey: this.#keys.of(highestEpoch) }
  }

  #claimed(epoch: number, termKey: string | undefined): void {
    if (this.#keys.isOf(epoch, termKey)) this.#candidacy.heard(epoch)
  }

  #leader(): Office | Followed {
    const leader = this.#office ?? this.#followed
    if (leader === undefined) throw this.#noLeader()
    return leader
  }

  #noLeader(): StatusError {
    const { name } = this.#options
    const why = this.#candidacy.trouble
    return new StatusError('UNAVAILABLE', `no server leads ${name} now${why === undefined ? '' : `: ${why}`}`)
  }
}

const ENGINE_MS = 5_000
