/** Time, processes and a network that a test moves: code under test runs unchanged, and a seed repeats a run. */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setMaxListeners } from 'node:events'
import { StatusError } from '../../../../src/base/status-error.js'

interface Event {
  readonly atMs: number
  readonly order: number
  readonly process: Process
  readonly work: () => void
  isCancelled: boolean
}

const real = {
  setTimeout: globalThis.setTimeout,
  clearTimeout: globalThis.clearTimeout,
  setInterval: globalThis.setInterval,
  clearInterval: globalThis.clearInterval,
  timeout: AbortSignal.timeout,
  any: AbortSignal.any,
  random: Math.random,
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
const current = new AsyncLocalStorage<Process>()

/** What runs by itself, may be paused, and loses everything when it is killed. */
export class Process {
  isPaused = false
  isDead = false
  /** What was due while it was paused. */
  readonly held: Event[] = []
  readonly #onDeath: (() => void)[] = []

  constructor(
    readonly name: string,
    readonly world: World,
  ) {}

  run<T>(work: () => T): T {
    return current.run(this, work)
  }

  atDeath(work: () => void): void {
    this.#onDeath.push(work)
  }

  kill(): void {
    this.isDead = true
    for (const work of this.#onDeath) work()
  }

  resume(): void {
    this.isPaused = false
    for (const event of this.held.splice(0)) this.world.again(event)
  }
}

class SimulatedTimer {
  event: Event | undefined
  ref(): this {
    return this
  }
  unref(): this {
    return this
  }
  hasRef(): boolean {
    return false
  }
}

export class World {
  nowMs = 1_000_000
  #state: number
  #order = 0
  #events: Event[] = []
  /** Directed, `FROM>TO`. */
  readonly cuts = new Set<string>()
  readonly #mended: (() => void)[] = []
  /** Of processes, by their own fault. */
  readonly failures: unknown[] = []

  constructor(seed: number) {
    this.#state = seed + 0x6d2b79f5
  }

  /** 0 to 1, the same for a seed. */
  random(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  between(low: number, high: number): number {
    return low + Math.floor(this.random() * (high - low + 1))
  }

  pick<T>(all: readonly T[]): T | undefined {
    return all[Math.floor(this.random() * all.length)]
  }

  after(delayMs: number, process: Process, work: () => void): Event {
    const event = { atMs: this.nowMs + Math.max(0, delayMs), order: this.#order++, process, work, isCancelled: false }
    this.#insert(event)
    return event
  }

  again(event: Event): void {
    this.#insert({ ...event, atMs: this.nowMs, order: this.#order++ })
  }

  isCut(from: Process, to: Process): boolean {
    return this.cuts.has(`${from.name}>${to.name}`)
  }

  mend(): void {
    this.cuts.clear()
    for (const work of this.#mended) work()
  }

  whenMended(work: () => void): void {
    this.#mended.push(work)
  }

  /** Until that time, or until it is so. */
  async run(untilMs: number, isOver: () => boolean = () => false): Promise<void> {
    for (const event of this.#due(untilMs, isOver)) await this.#run(event)
    this.nowMs = Math.max(this.nowMs, Math.min(untilMs, this.#events.at(-1)?.atMs ?? untilMs))
  }

  /** Timers and luck of processes of a world are its own, those of others are real, until the returned function is called. */
  static takeOver(): () => void {
    globalThis.setTimeout = ((work: (...args: unknown[]) => void, delayMs?: number, ...args: unknown[]) => {
      const process = current.getStore()
      if (process === undefined) return real.setTimeout(work, delayMs, ...args)
      const timer = new SimulatedTimer()
      timer.event = process.world.after(delayMs ?? 0, process, () => work(...args))
      return timer
    }) as typeof setTimeout
    globalThis.setInterval = ((work: (...args: unknown[]) => void, delayMs = 1, ...args: unknown[]) => {
      const process = current.getStore()
      if (process === undefined) return real.setInterval(work, delayMs, ...args)
      const timer = new SimulatedTimer()
      const tick = (): void => {
        timer.event = process.world.after(delayMs, process, tick)
        work(...args)
      }
      timer.event = process.world.after(delayMs, process, tick)
      return timer
    }) as typeof setInterval
    const clear = (clearReal: (timer: never) => void) => (timer: unknown) => {
      if (!(timer instanceof SimulatedTimer)) return clearReal(timer as never)
      if (timer.event !== undefined) timer.event.isCancelled = true
    }
    globalThis.clearTimeout = clear(real.clearTimeout) as typeof clearTimeout
    globalThis.clearInterval = clear(real.clearInterval) as typeof clearInterval
    AbortSignal.timeout = (ms) => {
      const process = current.getStore()
      if (process === undefined) return real.timeout.call(AbortSignal, ms)
      const controller = new AbortController()
      process.world.after(ms, process, () => controller.abort(new StatusError('DEADLINE_EXCEEDED', `after ${ms} ms`)))
      return controller.signal
    }
    // A real one with listeners is never freed, and those of killed processes keep theirs.
    AbortSignal.any = (signals) => {
      if (current.getStore() === undefined) return real.any.call(AbortSignal, signals)
      const controller = new AbortController()
      for (const signal of signals) {
        setMaxListeners(0, signal)
        if (signal.aborted) controller.abort(signal.reason)
        else signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true })
      }
      return controller.signal
    }
    Math.random = () => current.getStore()?.world.random() ?? real.random()
    return () => {
      Math.random = real.random
      globalThis.setTimeout = real.setTimeout
      globalThis.clearTimeout = real.clearTimeout
      globalThis.setInterval = real.setInterval
      globalThis.clearInterval = real.clearInterval
      AbortSignal.timeout = real.timeout
      AbortSignal.any = real.any
    }
  }

  *#due(untilMs: number, isOver: () => boolean): Generator<Event> {
    for (let event = this.#events.at(-1); event !== undefined && event.atMs <= untilMs; event = this.#events.at(-1)) {
      if (isOver()) return
      this.#events.pop()
      yield event
    }
  }

  async #run(event: Event): Promise<void> {
    const { process, work, atMs } = event
    if (process.isDead || event.isCancelled) return
    this.nowMs = Math.max(this.nowMs, atMs)
    if (process.isPaused) {
      process.held.push(event)
      return
    }
    try {
      process.run(work)
    } catch (error) {
      this.failures.push(error)
    }
    await turn()
  }

  /** Latest first. */
  #insert(event: Event): void {
    let [low, high] = [0, this.#events.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#events[middle] as Event
      const isLater = other.atMs > event.atMs || (other.atMs === event.atMs && other.order > event.order)
      if (isLater) low = middle + 1
      else high = middle
    }
    this.#events.splice(low, 0, event)
  }
}

export interface End {
  readonly process: Process
  /** The other side has closed it, or it cannot be reached. */
  broken: (error: StatusError) => void
}

const LOST = () => new StatusError('UNAVAILABLE', 'the connection was lost')

/** A connection: messages arrive in order, late, or never. */
export class Link {
  readonly #ends: readonly [End, End]
  readonly #lastMs: [number, number] = [0, 0]
  readonly #waiting: [(() => void)[], (() => void)[]] = [[], []]
  readonly #isOver: [boolean, boolean] = [false, false]
  readonly #world: World

  constructor(world: World, one: End, other: End) {
    this.#world = world
    this.#ends = [one, other]
    for (const side of [0, 1] as const) {
      this.#ends[side].process.atDeath(() => this.#breakSoon(side === 0 ? 1 : 0, world.between(1, 50)))
    }
    world.whenMended(() => {
      for (const side of [0, 1] as const) for (const work of this.#waiting[side].splice(0)) this.#arrive(side, work)
    })
  }

  get isOpen(): boolean {
    return !this.#isOver[0] && !this.#isOver[1]
  }

  /** From the end with this number to the other one. */
  send(from: 0 | 1, work: () => void): void {
    const to = from === 0 ? 1 : 0
    if (this.#isOver[from] || this.#ends[from].process.isDead) return
    const { nowMs } = this.#world
    const atMs = Math.max(this.#lastMs[to], nowMs + this.#world.between(1, 12))
    this.#lastMs[to] = atMs
    this.#world.after(atMs - nowMs, this.#ends[to].process, () => this.#arrive(to, work))
  }

  /** By the end with this number. */
  close(from: 0 | 1, error: StatusError): void {
    if (this.#isOver[from]) return
    this.send(from, () => this.#break(from === 0 ? 1 : 0, error))
    this.#isOver[from] = true
  }

  #arrive(to: 0 | 1, work: () => void): void {
    const from = to === 0 ? 1 : 0
    if (this.#isOver[to]) {
      // As the answer of a machine that does not know the connection any more.
      const { process } = this.#ends[from]
      this.#world.after(this.#world.between(1, 50), process, () => this.#break(from, LOST()))
      return
    }
    if (this.#world.isCut(this.#ends[from].process, this.#ends[to].process) || this.#waiting[to].length > 0) {
      this.#waiting[to].push(work)
      // Keep-alives notice it on both sides.
      for (const side of [0, 1] as const) this.#breakSoon(side, this.#world.between(5_000, 20_000))
      return
    }
    this.#ends[to].process.run(work)
  }

  #breakSoon(side: 0 | 1, inMs: number): void {
    const other = side === 0 ? 1 : 0
    this.#world.after(inMs, this.#ends[side].process, () => {
      const isGone = this.#ends[other].process.isDead || this.#waiting[side].length + this.#waiting[other].length > 0
      if (isGone) this.#break(side, LOST())
    })
  }

  #break(side: 0 | 1, error: StatusError): void {
    if (this.#isOver[side]) return
    this.#isOver[side] = true
    const { process, broken } = this.#ends[side]
    process.run(() => broken(error))
  }
}
