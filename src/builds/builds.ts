import { mkdir } from 'node:fs/promises'
import { fileFailure, inWords } from '../base/errno.js'
import { StatusError } from '../base/status-error.js'
import { guardedImmediate } from '../base/timers.js'
import { claimFormat } from '../files/folder-format.js'
import { lockFolder } from '../files/folder-lock.js'
import { boundedMap, LANES } from '../work/bounded-map.js'
import { inBackground } from '../work/in-background.js'
import { TimeSlices } from '../work/time-slices.js'
import { type About, encodeAbout, keyOf } from './about.js'
import type { BuildsOptions, Joined } from './builds-options.js'
import { Entry, type Kept, keptOf } from './entry.js'
import { FORMAT, Folder } from './folder.js'
import { TestHistory } from './history/test-history.js'
import { Invocation } from './invocation.js'
import { LogFile, type Room, readBlocks } from './log/log-file.js'
import type { EventRecord } from './log/record.js'
import { OpenInvocations } from './open-invocations.js'
import { Summariser, type Summary } from './summary.js'
import { Tenants } from './tenants.js'

export type { BuildsOptions, Joined } from './builds-options.js'

const CLEAN_EVERY_MS = 60_000
/** Removed in one turn of the event loop, because each is looked for among all of its tenant. */
const REMOVED_PER_TURN = 64
/** Of the event loop, for all logs that are read for their summaries. */
const SLICE_MS = 5
/** Of `maxBytes`, in quarters: the invocations of one tenant whose events come in now. */
const OPEN_QUARTERS = 3

/** The invocations whose build events are kept in a folder: one log and one small summary each. */
export class Builds {
  /** Those that are published to now. */
  readonly open = new OpenInvocations()
  /** Over builds. */
  readonly tests: TestHistory
  readonly #options: BuildsOptions
  readonly #folder: Folder
  readonly #unlock: () => Promise<void>
  readonly #entries = new Map<string, Entry>()
  readonly #tenants = new Tenants<Entry>()
  readonly #stopping = new AbortController()
  readonly #slices = new TimeSlices(SLICE_MS)
  readonly #removing = new Map<string, Promise<void>>()
  readonly #stopCleaning: () => void
  #sizeBytes = 0
  /** Those with a summary, the newest first; undefined if it has to be made anew. */
  #inOrder: readonly Entry[] | undefined
  #cleaningOn: NodeJS.Immediate | undefined
  /** Brings summaries up to date after a start. */
  #deriving = Promise.resolve()
  #isClosed = false

  private constructor(options: BuildsOptions, folder: Folder, unlock: () => Promise<void>) {
    this.#options = options
    this.#folder = folder
    this.tests = new TestHistory(folder.historyPath, options)
    this.#unlock = unlock
    this.#stopCleaning = options.clock.every(CLEAN_EVERY_MS, () => this.#clean())
  }

  /** Reads what is kept. Summaries that are missing or of another version are derived in the background. */
  static async open(options: BuildsOptions): Promise<Builds> {
    await mkdir(options.path, { recursive: true, mode: 0o700 })
    const unlock = await lockFolder(options.path, 'another server that keeps build events')
    try {
      await claimFormat(options.path, FORMAT)
      const builds = new Builds(options, new Folder(options.path), unlock)
      await builds.tests.open()
      await builds.#load()
      return builds
    } catch (error) {
      await unlock()
      throw error
    }
  }

  /** Aborts when streams should end, because the server stops. */
  get stopping(): AbortSignal {
    return this.#stopping.signal
  }

  /** Takes no further streams. Those that are open end; their clients resume them at the next server. */
  stop(): void {
    this.#isClosed = true
    this.#stopping.abort()
  }

  /** Of all kept invocations. */
  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** The kept invocations, the newest first. Those without a readable first record are left out. */
  list(): Kept[] {
    this.#inOrder ??= [...this.#entries.values()]
      .filter(({ summary }) => summary !== undefined)
      .sort((a, b) => b.startedMs - a.startedMs || (a.key < b.key ? -1 : 1))
    return this.#inOrder.map(keptOf).filter((one) => one !== undefined)
  }

  /** With the events that were synced until now. */
  async find(key: string): Promise<Kept | undefined> {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.isOpen || entry.summary === undefined) await this.#summarise(entry)
    return keptOf(entry)
  }

  /** The invocations with this id, one for each instance and scope that has it; those of trusted callers first. */
  withId(invocationId: string): Kept[] {
    const found = this.list().filter(({ summary: { about } }) => about.invocationId === invocationId)
    const isScoped = ({ summary: { about } }: Kept): boolean => about.scope !== undefined
    return [...found.filter((one) => !isScoped(one)), ...found.filter(isScoped)]
  }

  /** The records of an invocation that are on disk, in order. `room` is asked before each block, until the next is. */
  async *records(key: string, room?: Room): AsyncGenerator<Iterable<EventRecord>, void, undefined> {
    try {
      for await (const { records } of readBlocks(this.#folder.logOf(key), 0, undefined, room)) yield records
    } catch (error) {
      throw fileFailure(error, 'could not read the events of the invocation')
    }
  }

  /**
   * Begins or resumes the log of an invocation. Rejects with PERMISSION_DENIED if another caller began it. Whoever joins
   * must leave.
   */
  async join(about: About): Promise<Joined> {
    if (this.#isClosed) throw new StatusError('UNAVAILABLE', 'the server stops: publish the events again later')
    const key = keyOf(about.instance, about.invocationId, about.scope)
    const entry = this.#entryOf(key)
    this.#use(entry, 1)
    let isLeft = false
    const leave = async (): Promise<void> => {
      if (isLeft) return
      isLeft = true
      if (entry.users === 1) this.open.left(entry, about.invocationId)
      this.#use(entry, -1)
      if (entry.users === 0) await this.#end(entry)
    }
    try {
      entry.live ??= this.#openLog(entry)
      const invocation = await entry.live
      if (invocation.isNew) this.#begin(entry, invocation, about)
      else if (entry.summary !== undefined && entry.summary.about.identity !== about.identity)
        throw new StatusError('PERMISSION_DENIED', 'the invocation was begun by another caller')
      this.open.opened(entry, about.invocationId)
      return { invocation, invocationId: about.invocationId, leave }
    } catch (error) {
      await leave()
      throw error
    }
  }

  async close(): Promise<void> {
    this.stop()
    this.#stopCleaning()
    clearImmediate(this.#cleaningOn)
    await Promise.all([...this.#entries.values()].map((entry) => this.#end(entry)))
    await this.#deriving.catch(() => {})
    await this.tests.close()
    await this.#unlock()
  }

  #entryOf(key: string): Entry {
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    return this.#addEntry(key, this.#options.clock.now())
  }

  #addEntry(key: string, changedMs: number): Entry {
    const entry = new Entry(key, changedMs)
    this.#entries.set(key, entry)
    this.#tenants.put(entry, UNKNOWN)
    return entry
  }

  #use(entry: Entry, by: 1 | -1): void {
    const wasOpen = entry.isOpen
    entry.users += by
    if (entry.isOpen !== wasOpen) this.#tenants.open(entry, by * entry.sizeBytes)
  }

  #describe(entry: Entry, summary: Summary): void {
    if (entry.summary === undefined) this.#inOrder = undefined
    entry.summary = summary
    if (entry.isOpen) this.#tenants.open(entry, -entry.sizeBytes)
    if (summary.logBytes >= entry.sizeBytes) entry.changedMs = 0
    this.#tenants.put(entry, summary.about)
    if (entry.isOpen) this.#tenants.open(entry, entry.sizeBytes)
  }

  async #openLog(entry: Entry): Promise<Invocation> {
    try {
      await entry.closing
      await this.#removing.get(entry.key)
      const file = await LogFile.open(await this.#folder.prepare(entry.key))
      this.#grown(entry, file.sizeBytes - entry.sizeBytes)
      const { maxInvocationBytes, clock } = this.#options
      const invocation = new Invocation({
        file,
        maxEventBytes: maxInvocationBytes,
        nowMs: () => clock.now(),
        refusal: () => this.#refusal(entry),
        grown: (byBytes) => this.#grown(entry, byBytes),
        failed: (error) => this.#failed(entry, error),
      })
      // A log from before a crash may be newer than its summary.
      if (file.sizeBytes > (entry.summary?.logBytes ?? 0)) await this.#summarise(entry)
      entry.invocation = invocation
      return invocation
    } catch (error) {
      entry.live = undefined
      throw fileFailure(error, 'could not open the log of the invocation')
    }
  }

  /** The first record. The summary exists from now on, so that the build is in lists before its first group is synced. */
  #begin(entry: Entry, invocation: Invocation, about: About): void {
    const bytes = encodeAbout(about)
    const summariser = new Summariser()
    summariser.take({ stream: 0, number: 0, receivedMs: about.startedMs, event: bytes })
    const summary = summariser.summary(0, false)
    if (summary !== undefined) this.#describe(entry, summary)
    entry.summariser = undefined
    invocation.describe(bytes)
    this.#clean()
  }

  /** A file whose write failed is opened anew for the next stream, which cuts off what was not written completely. */
  #failed(entry: Entry, error: unknown): StatusError {
    this.#options.log.error('could not write build events', { error: inWords(error) })
    inBackground(this.#end(entry), this.#options.log, 'closing the log of an invocation')
    return fileFailure(error, 'could not write the events')
  }

  /** Closes the log of an entry that nobody publishes to. */
  #end(entry: Entry): Promise<void> {
    const { live } = entry
    if (live === undefined) return entry.closing ?? Promise.resolve()
    entry.live = undefined
    entry.invocation = undefined
    entry.closing = this.#closeLog(entry, live).finally(() => {
      entry.closing = undefined
      this.#clean()
    })
    return entry.closing
  }

  async #closeLog(entry: Entry, live: Promise<Invocation>): Promise<void> {
    const invocation = await live.catch(() => undefined)
    if (invocation === undefined) return
    await invocation.close()
    await this.#keepSummary(entry)
  }

  /** Brings the summary up to the end of the log. */
  #summarise(entry: Entry): Promise<void> {
    entry.summarising ??= this.#readOn(entry).finally(() => {
      entry.summarising = undefined
    })
    return entry.summarising
  }

  async #readOn(entry: Entry): Promise<void> {
    const untilBytes = entry.sizeBytes
    const isGoingOn = entry.summariser !== undefined && entry.summary !== undefined
    const summariser = isGoingOn ? entry.summariser : new Summariser()
    let atBytes = isGoingOn ? (entry.summary?.logBytes ?? 0) : 0
    if (summariser === undefined || atBytes >= untilBytes) return
    let isFinished = isGoingOn && entry.summary?.isFinished === true
    for await (const block of readBlocks(this.#folder.logOf(entry.key), atBytes, untilBytes)) {
      for (const record of block.records) {
        summariser.take(record)
        const pause = this.#slices.step()
        if (pause !== undefined) await pause
      }
      atBytes = block.endBytes
      isFinished ||= block.isFinished
    }
    entry.summariser = summariser
    const summary = summariser.summary(atBytes, isFinished)
    if (summary !== undefined) this.#describe(entry, summary)
  }

  async #keepSummary(entry: Entry): Promise<void> {
    entry.isKeeping = true
    try {
      await this.#summarise(entry)
      if (entry.summary !== undefined) await this.#folder.writeSummary(entry.key, entry.summary)
      await this.tests.keep(entry.key, entry.summary, entry.summariser)
    } catch (error) {
      this.#options.log.warn('could not keep the summary of an invocation: the next start derives it again', {
        reason: inWords(error),
      })
    } finally {
      entry.isKeeping = false
    }
    if (!entry.isOpen) entry.summariser = undefined
  }

  async #load(): Promise<void> {
    const { log } = this.#options
    const stale: Entry[] = []
    await boundedMap(await this.#folder.list(), LANES, async (key) => {
      const found = await this.#folder.aboutLog(key).catch((error: unknown) => {
        log.warn('the log of an invocation cannot be looked at and is left out', { key, reason: inWords(error) })
        return undefined
      })
      if (found === undefined) return
      const entry = this.#addEntry(key, found.changedMs)
      this.#grown(entry, found.sizeBytes)
      const summary = await this.#folder.readSummary(key)
      if (summary !== undefined) this.#describe(entry, summary)
      if (summary?.logBytes !== found.sizeBytes || this.tests.lacks(key, summary)) stale.push(entry)
    })
    stale.sort((a, b) => b.changedMs - a.changedMs)
    this.#deriving = this.#deriveAll(stale)
    inBackground(this.#deriving, log, 'deriving summaries of invocations')
    this.#clean()
  }

  async #deriveAll(stale: readonly Entry[]): Promise<void> {
    for (const entry of stale) {
      if (this.#isClosed) return
      if (entry.isAtRest && this.#entries.get(entry.key) === entry) await this.#keepSummary(entry)
    }
  }

  #grown(entry: Entry, byBytes: number): void {
    this.#tenants.grow(entry, byBytes, entry.isOpen)
    entry.sizeBytes += byBytes
    this.#sizeBytes += byBytes
    if (this.#sizeBytes > this.#options.maxBytes) this.#clean()
  }

  #refusal(entry: Entry): StatusError | undefined {
    const { maxBytes } = this.#options
    const ofTenant = this.#tenants.openBytesOf(entry)
    if (this.#sizeBytes <= maxBytes && ofTenant <= (maxBytes * OPEN_QUARTERS) / 4) return undefined
    return new StatusError(
      'RESOURCE_EXHAUSTED',
      'the store of build events is full of builds that are still running (build_events.max_bytes): try again later',
    )
  }

  /**
   * Removes invocations that are too old, and those beyond the bounds: each time the oldest of the tenant that has most. One
   * whose events come in is never removed.
   */
  #clean(): void {
    const { maxAgeMs, maxBytes, maxInvocations, clock } = this.#options
    if (maxAgeMs > 0) {
      const bornAfterMs = clock.now() - maxAgeMs
      for (const entry of this.#entries.values())
        if (entry.lastEventMs < bornAfterMs && entry.isAtRest) this.#forget(entry)
    }
    for (let removed = 0; ; removed++) {
      const measure = this.#sizeBytes > maxBytes ? 'sizeBytes' : 'count'
      if (measure === 'count' && this.#entries.size <= maxInvocations) return
      if (removed === REMOVED_PER_TURN) break
      const entry = this.#tenants.next(measure, maxInvocations)
      if (entry === undefined) return
      this.#forget(entry)
    }
    this.#cleaningOn ??= guardedImmediate(() => {
      this.#cleaningOn = undefined
      if (!this.#isClosed) this.#clean()
    })
  }

  #forget(entry: Entry): void {
    this.#entries.delete(entry.key)
    this.#tenants.delete(entry)
    this.#inOrder = undefined
    this.tests.forget(entry.key)
    this.#sizeBytes -= entry.sizeBytes
    this.#remove(entry.key)
  }

  #remove(key: string): void {
    const removed = this.#folder.remove(key).finally(() => this.#removing.delete(key))
    this.#removing.set(key, removed)
    inBackground(removed, this.#options.log, 'removing an old invocation')
  }
}

/** Until its first record was read. */
const UNKNOWN = { identity: undefined, address: undefined, instance: '(not known yet)' }
