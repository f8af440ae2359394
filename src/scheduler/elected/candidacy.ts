import { randomBytes } from 'node:crypto'
import { isStatus, StatusError } from '../../base/status-error.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Log } from '../../log/log.js'
import type { Candidate, Decision, Engine, Term } from './engine.js'
import { type Seat, Spread } from './spread.js'

export interface CandidacyOptions {
  readonly engine: Engine
  readonly candidate: Candidate
  readonly leaseMs: number
  /** What a leader does that cannot reach the engine when its lease ends. */
  readonly whenEngineAway: 'continue' | 'stop'
  readonly log: Log
  /** Of all schedulers of this process. */
  readonly spread?: Spread
  /** Another term, or none is known. `memberIds`: who was there when this server was elected. */
  readonly onTerm: (term: Term | undefined, memberIds: readonly string[]) => void
  /**
   * Asks all servers that are joined to this leader for the highest term that they have heard of. Rejects if one does not answer
   * in time.
   */
  readonly askFronts: () => Promise<number>
  /** Milliseconds of a clock that nobody sets. */
  readonly nowMs?: () => number
}

/** Calls in a lease: two may fail before it ends. */
const ROUNDS = 3
/** A leader stops so long before the end of its lease, which others count from a later moment. */
const MARGIN = 1 / 6
/** Without a leader, or without a way to it, the engine is asked so often. */
const HURRY_MS = 100
const RESIGN_MS = 2_000
/** What an engine that does not answer looks like. All else is an answer. */
const AWAY = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'CANCELLED', 'UNKNOWN'] as const
/** No number of elections comes near it, and all above it can still be counted. */
const MAX_EPOCH = 2 ** 48

/**
 * One server's part in the election of a leader. It asks the engine three times in a lease, and counts its own lease from the
 * moment before it asked, by a clock that nobody sets. Whoever hears of a higher term leads no more, whatever the engine says.
 */
export class Candidacy {
  readonly #options: CandidacyOptions
  readonly #nowMs: () => number
  readonly #spread: Spread
  readonly #seat: Seat
  #secret = randomBytes(32).toString('base64url')
  #term: Term | undefined
  #highestEpoch = 0
  #leaseUntilMs = Number.NEGATIVE_INFINITY
  #answeredMs: number
  /** Servers that were there in the last round, this one among them. */
  #servers = 1
  /** Since when the engine says that nobody leads. */
  #unledSinceMs: number | undefined
  /** Why the engine does not answer. */
  #trouble: StatusError | undefined
  /** Fields in which this server differs from the leader. */
  #differs: readonly string[] = []
  #isInHurry = false
  #isLeaving = false
  #isClosed = false
  #round: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: CandidacyOptions) {
    this.#options = options
    this.#nowMs = options.nowMs ?? (() => performance.now())
    this.#answeredMs = this.#nowMs()
    this.#spread = options.spread ?? new Spread()
    this.#seat = this.#spread.join()
  }

  start(): void {
    this.#run()
  }

  get term(): Term | undefined {
    return this.#term
  }

  get highestEpoch(): number {
    return this.#highestEpoch
  }

  get secret(): string {
    return this.#secret
  }

  get isLeader(): boolean {
    return this.#term?.leader.id === this.#options.candidate.id
  }

  /** Whether this server may give out work now: it leads, and nobody else can have been elected meanwhile. */
  get mayAct(): boolean {
    return this.isLeader && this.#nowMs() < this.#leaseUntilMs - this.#options.leaseMs * MARGIN
  }

  /** Since the engine was asked for its latest answer; at first since the start. */
  get engineSilentMs(): number {
    return this.#nowMs() - this.#answeredMs
  }

  /** What operators should know; undefined if all is well. */
  get trouble(): string | undefined {
    const { engine } = this.#options
    if (this.#differs.length > 0)
      return `the leader ${this.#leaderText} has another ${this.#differs.join(', ')}: expected the same settings in all servers of one queue`
    if (this.#trouble === undefined) return undefined
    const what = AWAY.some((code) => isStatus(this.#trouble, code)) ? 'cannot be reached' : 'is of no use'
    return `${engine.name} ${what}, so no other server can lead: ${this.#trouble.message}`
  }

  /** A higher term was told by another server or a worker. */
  heard(epoch: number): void {
    if (epoch <= this.#highestEpoch || epoch > MAX_EPOCH) return
    this.#highestEpoch = epoch
    if (this.isLeader) this.#options.log.warn('another server leads', { term: epoch })
    this.#become(undefined)
    this.hurry()
  }

  /** The leader does not answer: perhaps there is another one. */
  hurry(): void {
    this.#isInHurry = true
    if (this.#round === undefined) this.#run()
  }

  /** Leads no more, and takes part no more. Another server can be elected at once. */
  async leave(): Promise<void> {
    this.#isLeaving = true
    await this.#round
    if (this.isLeader) this.#become(undefined)
    await this.#resign()
    this.hurry()
  }

  close(): void {
    this.#isClosed = true
    this.#seat.leave()
    clearTimeout(this.#timer)
  }

  get #leaderText(): string {
    return this.#term?.leader.address ?? 'of this queue'
  }

  #run(): void {
    clearTimeout(this.#timer)
    if (this.#isClosed || this.#round !== undefined) return
    this.#round = this.#ask().finally(() => {
      this.#round = undefined
      if (this.#isClosed) return
      const isQuick = this.#isInHurry || this.#term === undefined
      this.#isInHurry = false
      const { leaseMs } = this.#options
      const waitMs = isQuick ? Math.min(HURRY_MS, leaseMs / ROUNDS) : leaseMs / ROUNDS
      this.#timer = guardedTimeout(() => this.#run(), waitMs).unref()
    })
  }

  /** One round. Never rejects. */
  async #ask(): Promise<void> {
    const { engine, candidate, leaseMs } = this.#options
    const askedMs = this.#nowMs()
    let decision: Decision
    try {
      const campaign = { candidate, leaseMs, secret: this.#secret, mayLead: this.#mayLead }
      const limit = AbortSignal.timeout(Math.ceil(leaseMs / ROUNDS))
      decision = await engine.campaign({ ...campaign, highestEpoch: this.#highestEpoch }, limit)
    } catch (error) {
      await this.#away(StatusError.from(error))
      return
    }
    if (this.#trouble !== undefined) this.#options.log.info('the engine answers again', { engine: engine.name })
    this.#trouble = undefined
    this.#answeredMs = askedMs
    this.#secret = decision.secret
    await this.#decided(decision, askedMs)
  }

  /** Others take what nobody leads if this server has its share, unless none of them does within a lease. */
  get #mayLead(): boolean {
    if (this.#isLeaving) return false
    if (this.isLeader || !this.#spread.hasShare(this.#servers)) return true
    return this.#unledSinceMs !== undefined && this.#nowMs() - this.#unledSinceMs >= this.#options.leaseMs
  }

  /** To a server that leads less. Its clients notice what they notice of a leader that is stopped. */
  async #handOver(): Promise<void> {
    const { log } = this.#options
    log.info('this server leads more than its share, and hands this queue over', { servers: this.#servers })
    this.#become(undefined)
    await this.#resign()
  }

  /** Gives the lease back. Never rejects. */
  async #resign(): Promise<void> {
    const { engine, candidate, log } = this.#options
    await engine.resign(candidate.id, AbortSignal.timeout(RESIGN_MS)).catch((error: unknown) => {
      log.warn('the lease ends by itself, because the engine did not take it back', { error })
    })
  }

  async #decided({ term, memberIds }: Decision, askedMs: number): Promise<void> {
    const { candidate, leaseMs } = this.#options
    if (this.#isClosed) return
    this.#servers = memberIds.length
    this.#unledSinceMs = term === undefined ? (this.#unledSinceMs ?? askedMs) : undefined
    // An engine that forgot its counter, or a leader that has not heard yet that it leads no more.
    if (term !== undefined && term.epoch < this.#highestEpoch) {
      this.#become(undefined)
      return
    }
    this.#differs = term === undefined ? [] : differences(term.leader.settings, candidate.settings)
    if (term?.leader.id === candidate.id) this.#leaseUntilMs = askedMs + leaseMs
    this.#become(this.#differs.length > 0 ? undefined : term, memberIds)
    if (!this.isLeader || this.#isLeaving) return
    const times = { nowMs: this.#nowMs(), leaseMs }
    if (this.#spread.handsOver(this.#servers, times)) await this.#handOver()
  }

  #become(term: Term | undefined, memberIds: readonly string[] = []): void {
    const before = this.#term
    if (before?.epoch === term?.epoch && before?.leader.id === term?.leader.id) return
    this.#term = term
    this.#seat.leads = this.isLeader
    this.#highestEpoch = Math.max(this.#highestEpoch, term?.epoch ?? 0)
    if (term === undefined) this.#leaseUntilMs = Number.NEGATIVE_INFINITY
    this.#options.onTerm(term, memberIds)
  }

  /** Others cannot be elected without the engine either, but it may be away for this server alone. */
  async #away(error: StatusError): Promise<void> {
    const { log, engine, whenEngineAway, askFronts, leaseMs } = this.#options
    if (this.#trouble === undefined) log.warn('the engine does not say who leads', { engine: engine.name, error })
    this.#trouble = error
    if (!this.isLeader || this.#nowMs() + leaseMs / ROUNDS < this.#leaseUntilMs) return
    if (whenEngineAway === 'stop') {
      if (this.#nowMs() >= this.#leaseUntilMs) this.#become(undefined)
      return
    }
    const askedMs = this.#nowMs()
    try {
      const highest = await askFronts()
      if (highest > this.#highestEpoch) this.heard(highest)
      else if (this.isLeader) this.#leaseUntilMs = askedMs + leaseMs
    } catch (silent) {
      // Does nothing until all have answered: one may know of another leader.
      log.warn('a server of this queue does not answer, and the engine neither', { error: silent })
    }
  }
}

/** The names of the settings that are not equal. */
const differences = (one: Candidate['settings'], other: Candidate['settings']): readonly string[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].filter((name) => one[name] !== other[name])
