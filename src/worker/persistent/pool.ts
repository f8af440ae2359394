import type { Clock } from '../../base/clock.js'
import { guardedTimeout } from '../../base/timers.js'
import type { Log } from '../../log/log.js'
import { inBackground } from '../../work/in-background.js'
import { type Counts, type EndReason, newCounts } from './counts.js'
import type { PersistentProcess } from './process.js'

export interface PoolOptions {
  /** Most processes, with those that have a request. */
  readonly maxProcesses: number
  /** How long one may be without a request. */
  readonly idleMs: number
  /** Requests that one process answers; 0 for no limit. */
  readonly maxRequests: number
  /** Most resident bytes of all of them. */
  readonly maxMemoryBytes: number
  readonly clock: Clock
  readonly log: Log
}

/** A process with a request, or one that was given back and is being looked at. */
interface Place {
  readonly process: PersistentProcess
  state: 'busy' | 'returning' | 'idle'
}

interface Waiting {
  readonly key: string
  /** With a process that is its own now, with a place to start one, or with neither. */
  readonly end: (got: PersistentProcess | 'place' | undefined) => void
}

const TICK_MS = 1_000
/** How long a request waits for a process, instead of starting another or running without one. */
const PATIENCE_MS = 200

/**
 * The persistent worker processes of one worker, at most `maxProcesses`. Of equal ones the last used is used first. For a new one the
 * least recently used ends; for memory the largest. One that has a request is never ended for others.
 */
export class Pool {
  readonly counts: Counts = newCounts()
  /** Called when something of what can be told may have changed. */
  onChange: () => void = () => {}
  readonly #options: PoolOptions
  /** By process id; least recently used first. */
  readonly #places = new Map<string, Place>()
  #starting = 0
  readonly #line: Waiting[] = []
  readonly #ending = new Set<Promise<void>>()
  readonly #returns = new Set<Promise<void>>()
  readonly #stop: () => void
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
    this.#stop = options.clock.every(TICK_MS, () => this.#look())
  }

  /**
   * A process of this key for one request, or the right to `start` one; undefined if there is no place now. What `start` returns is
   * owned by the caller until `giveBack` or `end`, like one that was there.
   */
  async take(
    key: string,
    { isFresh, signal }: { readonly isFresh: boolean; readonly signal: AbortSignal },
    start: () => Promise<PersistentProcess>,
  ): Promise<PersistentProcess | undefined> {
    if (this.#isClosed || signal.aborted) return undefined
    const idle = isFresh ? undefined : this.#idle().findLast(({ process }) => process.key === key)
    if (idle !== undefined) return this.#taken(idle)
    const isSoon = !isFresh && this.#comingOf(key) > this.#line.filter((waiting) => waiting.key === key).length
    let got: PersistentProcess | 'place' | undefined
    if (isSoon) got = await this.#wait(key)
    if (got === undefined && this.#makeRoom()) {
      this.#starting += 1
      got = 'place'
    }
    if (got === undefined && !isSoon) got = await this.#wait(isFresh ? '' : key)
    return got === 'place' ? this.#started(start) : got
  }

  /** Of the pool's memory in the next look. Only for a process that `take` returned. */
  giveBack(process: PersistentProcess): void {
    const place = this.#places.get(process.id)
    if (place === undefined) return
    place.state = 'returning'
    const returning = this.#return(place).finally(() => this.#returns.delete(returning))
    this.#returns.add(returning)
    inBackground(returning, this.#options.log, 'the return of a persistent worker')
  }

  /** The request is nearly over: others may wait for the process. */
  endsSoon(process: PersistentProcess): void {
    const place = this.#places.get(process.id)
    if (place !== undefined) place.state = 'returning'
  }

  /** Ends a process. Its directory is removed when it is gone. */
  end(process: PersistentProcess, reason: EndReason): void {
    if (!this.#places.delete(process.id)) return
    this.counts.ends[reason] += 1
    process.stop()
    const gone = process.ended.then(() => {
      process.root.discard()
      this.#ending.delete(gone)
    })
    this.#ending.add(gone)
    this.#offerPlace()
    this.#changed()
  }

  /** What actions ask for (`warmKeyOf`) that find a process here. */
  get warmKeys(): readonly string[] {
    return [...new Set(this.processes.map(({ warmKey }) => warmKey))]
  }

  get idleCount(): number {
    return this.#idle().length
  }

  get processes(): readonly PersistentProcess[] {
    return [...this.#places.values()].map(({ process }) => process)
  }

  get residentBytes(): number {
    return this.processes.reduce((sum, { residentBytes }) => sum + residentBytes, 0)
  }

  /** Resolves when what was given back is ready for others, or gone. */
  async settle(): Promise<void> {
    while (this.#returns.size > 0) await Promise.allSettled(this.#returns)
  }

  /** Ends all processes, also those that have a request, and resolves when they are gone. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#stop()
    for (const waiting of [...this.#line]) waiting.end(undefined)
    for (const process of this.processes) this.end(process, 'closed')
    while (this.#ending.size > 0) await Promise.all(this.#ending)
  }

  #idle(): Place[] {
    return [...this.#places.values()].filter(({ state }) => state === 'idle')
  }

  #comingOf(key: string): number {
    let coming = 0
    for (const { process, state } of this.#places.values())
      coming += Number(process.key === key && state === 'returning')
    return coming
  }

  #taken(place: Place): PersistentProcess {
    const { process } = place
    place.state = 'busy'
    this.#places.delete(process.id)
    this.#places.set(process.id, place)
    this.counts.reused += 1
    this.#changed()
    return process
  }

  /** Its place is taken already. */
  async #started(start: () => Promise<PersistentProcess>): Promise<PersistentProcess> {
    try {
      const process = await start()
      this.#places.set(process.id, { process, state: 'busy' })
      process.onFault = (fault) => {
        if (this.#places.get(process.id)?.state === 'idle') this.end(process, fault.reason)
      }
      this.counts.started += 1
      this.#changed()
      if (this.#isClosed) this.end(process, 'closed')
      return process
    } finally {
      this.#starting -= 1
      this.#offerPlace()
    }
  }

  get #hasRoom(): boolean {
    return this.#places.size + this.#starting < this.#options.maxProcesses
  }

  /** Ends the least recently used process if there is no room for another. */
  #makeRoom(): boolean {
    if (this.#hasRoom) return true
    const [oldest] = this.#idle()
    if (oldest !== undefined) this.end(oldest.process, 'room')
    return this.#hasRoom
  }

  /** Waits for a process of this key, or for room for another. */
  #wait(key: string): Promise<PersistentProcess | 'place' | undefined> {
    return new Promise((resolve) => {
      const timer = guardedTimeout(() => waiting.end(undefined), PATIENCE_MS)
      const waiting: Waiting = {
        key,
        end: (got) => {
          clearTimeout(timer)
          this.#line.splice(this.#line.indexOf(waiting), 1)
          resolve(got)
        },
      }
      this.#line.push(waiting)
    })
  }

  #offerPlace(): void {
    const [first] = this.#line
    if (first === undefined || !this.#hasRoom || this.#comingOf(first.key) > 0) return
    this.#starting += 1
    first.end('place')
  }

  async #return(place: Place): Promise<void> {
    const { process } = place
    const reason = await this.#whyNot(place)
    if (this.#places.get(process.id) !== place) return
    if (reason !== undefined) {
      this.end(process, reason)
      return
    }
    place.state = 'idle'
    process.idleSinceMs = this.#options.clock.now()
    const next = this.#line.find(({ key }) => key === process.key)
    if (next !== undefined) next.end(this.#taken(place))
    else this.#changed()
    this.#fitMemory()
  }

  /** Why a process serves no more requests. */
  async #whyNot({ process }: Place): Promise<EndReason | undefined> {
    const { maxRequests } = this.#options
    if (this.#isClosed) return 'closed'
    if (!(await process.root.restore(() => this.#isClosed))) return 'changed'
    if (process.hasEnded) return 'died'
    return maxRequests > 0 && process.requests >= maxRequests ? 'requests' : undefined
  }

  #look(): void {
    const { clock, idleMs } = this.#options
    for (const { process } of this.#idle()) {
      if (clock.now() - process.idleSinceMs >= idleMs) this.end(process, 'idle')
    }
    // Those without a request stand still.
    for (const { process, state } of this.#places.values()) if (state === 'busy') process.usage()
    this.#fitMemory()
  }

  #fitMemory(): void {
    const { maxMemoryBytes } = this.#options
    while (this.residentBytes > maxMemoryBytes) {
      const [largest] = this.#idle().sort((a, b) => b.process.residentBytes - a.process.residentBytes)
      if (largest === undefined) return
      this.end(largest.process, 'memory')
    }
  }

  #changed(): void {
    this.onChange()
  }
}
