import { randomUUID } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { isStatus, StatusError } from '../../base/status-error.js'
import type { VersionedBucket } from '../../store/objects/bucket.js'
import type { Campaign, Candidate, Decision, Engine } from './engine.js'

export interface ObjectEngineOptions {
  readonly bucket: VersionedBucket
  readonly keyPrefix: string
  /** Servers with the same name and prefix have one queue. */
  readonly schedulerName: string
  /** Milliseconds of a clock that nobody sets. */
  readonly nowMs?: () => number
}

/** What the object holds, as JSON. */
interface Stored {
  /** That of the last term. */
  readonly epoch: number
  /** Null after it has resigned. */
  readonly leader: Candidate | null
  /** For how long after each renewal the leader may lead. */
  readonly leaseMs: number
  /** Grows with each renewal. */
  readonly renewals: number
  /** By id: numbers that grow as long as the member is there. */
  readonly members: Readonly<Record<string, number>>
  readonly secret: string
}

interface Found {
  readonly stored: Stored
  readonly version: string
}

/** Something that was seen to change, and the time by this process's clock after it was seen. */
interface Sight {
  readonly mark: string | number
  readonly sinceMs: number
}

/** Servers that follow say so once in a lease: the third of their rounds. */
const MEMBER_LEASES = 0.9
/** After so many leases without a word a member is gone. */
const SILENT_LEASES = 2.5
/** Whoever loses so many races in a row tries again in its next round. */
const MAX_TRIES = 5
/** A few hundred servers come to a tenth of it. */
const MAX_BYTES = 1024 * 1024

/**
 * Who leads, by one object of a bucket and writes that hold only for the version that was read. The bucket has no clock that is
 * asked: a leader counts its lease from before its write, another candidate from after it has seen that write, so a lease has ended
 * for its leader before it ends for anybody else.
 *
 * A leader writes in each of its three rounds of a lease, and reads if another server has written in between. A server that follows
 * reads in each round, and writes once in a lease.
 */
export class ObjectEngine implements Engine {
  readonly name: string
  readonly #options: ObjectEngineOptions
  readonly #key: string
  readonly #nowMs: () => number
  #heedsConditions = false
  /** What this server wrote last, as leader. */
  #written: Found | undefined
  #lease: Sight = { mark: '', sinceMs: Number.NEGATIVE_INFINITY }
  #members = new Map<string, Sight>()

  constructor(options: ObjectEngineOptions) {
    const { bucket, keyPrefix, schedulerName, nowMs = () => performance.now() } = options
    this.#options = options
    this.#key = `${keyPrefix}remexec/${encodeURIComponent(schedulerName)}/lease`
    this.#nowMs = nowMs
    this.name = `the object ${this.#key} of ${bucket.name}`
  }

  /**
   * Whether the server refuses a write whose condition does not hold. Some that speak the protocol of S3 do not. Asked by four
   * writes of an object that is removed again, until it has been found so once: somebody else may have removed the object in between.
   */
  async heedsConditions(signal: AbortSignal): Promise<boolean> {
    this.#heedsConditions ||= await this.#probe(signal)
    return this.#heedsConditions
  }

  async campaign(campaign: Campaign, signal: AbortSignal): Promise<Decision> {
    if (!(await this.heedsConditions(signal))) throw this.refusal()
    let found = this.#written
    this.#written = undefined
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      found ??= await this.#read(signal)
      const next = this.#next(found?.stored, campaign)
      if (next === undefined && found !== undefined) return this.#decision(found.stored)
      if (next === undefined) return { term: undefined, memberIds: [], secret: campaign.secret }
      const version = await this.#write(next, found?.version, signal)
      const isElected = version !== undefined && next.renewals === 0 && next.epoch !== found?.stored.epoch
      // Some compatible servers check in one step and write in another, so that two candidates win: the last one is in the object.
      found = isElected ? await this.#read(signal) : undefined
      if (version === undefined || (isElected && found?.version !== version)) continue
      this.#saw(next)
      if (next.leader?.id === campaign.candidate.id) this.#written = { stored: next, version }
      return this.#decision(next)
    }
    throw new StatusError('ABORTED', `${this.name} was written ${MAX_TRIES} times by others meanwhile`)
  }

  async resign(candidateId: string, signal: AbortSignal): Promise<void> {
    this.#written = undefined
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const found = await this.#read(signal)
      if (found === undefined) return
      const { leader, members } = found.stored
      const isLeader = leader?.id === candidateId
      if (!isLeader && members[candidateId] === undefined) return
      const { [candidateId]: _, ...others } = members
      const next = { ...found.stored, leader: isLeader ? null : leader, members: others }
      if ((await this.#write(next, found.version, signal)) !== undefined) return
    }
    throw new StatusError('ABORTED', `${this.name} was written ${MAX_TRIES} times by others meanwhile`)
  }

  async warning(): Promise<undefined> {}

  async close(): Promise<void> {
    this.#options.bucket.close()
  }

  refusal(): StatusError {
    const expected = 'expected a server that refuses writes by If-Match and If-None-Match, or a redis_store'
    return new StatusError(
      'FAILED_PRECONDITION',
      `${this.#options.bucket.name} writes an object although its condition does not hold, so two servers would lead: ${expected}`,
    )
  }

  /** What to write; undefined if nothing. */
  #next(stored: Stored | undefined, campaign: Campaign): Stored | undefined {
    const { candidate, highestEpoch, leaseMs, mayLead, secret } = campaign
    const epoch = stored?.epoch ?? 0
    const isLeader = stored?.leader?.id === candidate.id
    const own = { leader: candidate, leaseMs, secret: stored?.secret ?? secret }
    if (isLeader && !mayLead) return { ...stored, leader: null, members: this.#membersWith(stored, candidate.id) }
    if (isLeader && epoch >= highestEpoch)
      return { ...stored, ...own, renewals: stored.renewals + 1, members: this.#membersWith(stored, candidate.id) }
    if (mayLead && this.#isFree(stored, highestEpoch)) {
      const members = this.#membersWith(stored, candidate.id, stored?.leader?.id)
      return { ...own, epoch: Math.max(epoch, highestEpoch) + 1, renewals: 0, members }
    }
    const said = this.#members.get(candidate.id)
    const isSilent = said === undefined || this.#nowMs() - said.sinceMs >= leaseMs * MEMBER_LEASES
    if (stored === undefined || !isSilent) return undefined
    return { ...stored, members: this.#membersWith(stored, candidate.id) }
  }

  /**
   * Nobody leads: it is said, or the lease was seen unchanged for as long as it lasts. A term below the highest that a candidate has
   * heard of, which an object that was lost and made anew may have, is void.
   */
  #isFree(stored: Stored | undefined, highestEpoch: number): boolean {
    if (stored === undefined || stored.leader === null || stored.epoch < highestEpoch) return true
    return this.#nowMs() - this.#lease.sinceMs >= stored.leaseMs
  }

  #membersWith(stored: Stored | undefined, id: string, formerLeaderId?: string): Stored['members'] {
    const { members = {}, leaseMs = 0 } = stored ?? {}
    const nowMs = this.#nowMs()
    const alive = Object.entries(members).filter(([member]) => {
      const { sinceMs = nowMs } = this.#members.get(member) ?? {}
      return member !== formerLeaderId && nowMs - sinceMs < leaseMs * SILENT_LEASES
    })
    return { ...Object.fromEntries(alive), [id]: (members[id] ?? 0) + 1 }
  }

  #decision({ leader, epoch, members, secret }: Stored): Decision {
    return { term: leader === null ? undefined : { epoch, leader }, memberIds: Object.keys(members), secret }
  }

  /** Remembers since when each thing is as it is. */
  #saw({ epoch, leader, renewals, members }: Stored): void {
    const nowMs = this.#nowMs()
    const mark = JSON.stringify([epoch, leader?.id, renewals])
    if (mark !== this.#lease.mark) this.#lease = { mark, sinceMs: nowMs }
    const sights = Object.entries(members).map(([id, said]) => {
      const before = this.#members.get(id)
      return [id, before?.mark === said ? before : { mark: said, sinceMs: nowMs }] as const
    })
    this.#members = new Map(sights)
  }

  async #read(signal: AbortSignal): Promise<Found | undefined> {
    const { bucket } = this.#options
    let text: string
    let version: string
    try {
      const opened = await bucket.read(this.#key, WHOLE, signal)
      if (opened === undefined) return undefined
      if (opened.sizeBytes > MAX_BYTES) {
        opened.body.destroy()
        throw this.#odd(`${opened.sizeBytes} bytes`)
      }
      version = opened.version
      text = (await buffer(opened.body)).toString()
    } catch (error) {
      throw bucket.failureOf(error)
    }
    const stored = storedOf(text)
    if (stored === undefined) throw this.#odd(text.slice(0, SHOWN_CHARACTERS))
    this.#saw(stored)
    return { stored, version }
  }

  /** Undefined if another version is there. */
  async #write(stored: Stored, version: string | undefined, signal: AbortSignal): Promise<string | undefined> {
    const { bucket } = this.#options
    try {
      return await bucket.writeIf(this.#key, Buffer.from(JSON.stringify(stored)), version, signal)
    } catch (error) {
      throw bucket.failureOf(error)
    }
  }

  async #probe(signal: AbortSignal): Promise<boolean> {
    const { bucket } = this.#options
    const key = `${this.#key}-probe-${randomUUID()}`
    const write = (text: string, version: string | undefined): Promise<string | undefined> =>
      bucket.writeIf(key, Buffer.from(text), version, signal)
    try {
      const first = await write('1', undefined)
      if (first === undefined || (await write('2', undefined)) !== undefined) return false
      const second = await write('3', first)
      return second !== undefined && second !== first && (await write('4', first)) === undefined
    } catch (thrown) {
      const error = bucket.failureOf(thrown)
      if (isStatus(error, 'UNIMPLEMENTED')) return false
      throw error
    } finally {
      // What is left of it if the credentials may not delete harms nobody.
      await bucket.remove(key, signal).catch(() => {})
    }
  }

  #odd(found: string): StatusError {
    return new StatusError('INTERNAL', `${this.name} is ${JSON.stringify(found)}, which no server wrote`)
  }
}

const WHOLE = { offset: 0, end: Number.POSITIVE_INFINITY, version: undefined }
const SHOWN_CHARACTERS = 200

/** Undefined if no server wrote it. */
const storedOf = (text: string): Stored | undefined => {
  try {
    const stored = JSON.parse(text) as Stored
    const { epoch, leader, leaseMs, renewals, members, secret } = stored
    const areNumbers = [epoch, leaseMs, renewals, ...Object.values(members)].every(Number.isSafeInteger)
    const isKnown = leader === null || typeof leader.id === 'string'
    return areNumbers && isKnown && typeof secret === 'string' ? stored : undefined
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return undefined
    throw error
  }
}
