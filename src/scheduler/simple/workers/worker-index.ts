import { Heap } from '../state/heap.js'
import type { Requirement } from '../state/requirement.js'
import type { Worker } from '../state/state.js'
import { couldRun, hasFreeSlot, hasRoom } from './pool.js'

/** Workers with equal properties: each can run the same actions. A class is removed when it is empty. */
export class WorkerClass {
  readonly properties: ReadonlyMap<string, readonly string[]>
  readonly total: ReadonlyMap<string, number>
  readonly workers = new Set<Worker>()
  /** Workers with a free slot, the preferred one in front. */
  readonly free: Heap<Worker>

  constructor({ offer, total }: Worker, isPreferred: (a: Worker, b: Worker) => boolean) {
    this.properties = offer.properties
    this.total = total
    this.free = new Heap<Worker>(isPreferred)
  }

  isCapable(requirement: Requirement): boolean {
    return couldRun(this, requirement)
  }
}

/**
 * Indexes the workers that accept attempts by what they offer. A search starts at the rarest required
 * property, and takes the front of the heap of each capable class. No search looks at every worker.
 */
export class WorkerIndex {
  readonly #classes = new Map<string, WorkerClass>()
  readonly #classOf = new Map<Worker, WorkerClass>()
  readonly #offering = new Map<string, Set<WorkerClass>>()
  #added = 0
  /** Whether the first one is to be used before the second. */
  readonly isPreferred: (a: Worker, b: Worker) => boolean

  constructor(strategy: 'least_recently_used' | 'most_recently_used') {
    this.isPreferred =
      strategy === 'least_recently_used'
        ? (a, b) => (a.lastUsed - b.lastUsed || a.ordinal - b.ordinal) < 0
        : (a, b) => (b.lastUsed - a.lastUsed || a.ordinal - b.ordinal) < 0
  }

  get classes(): Iterable<WorkerClass> {
    return this.#classes.values()
  }

  /** Undefined if the worker accepts no attempts. */
  classOf(worker: Worker): WorkerClass | undefined {
    return this.#classOf.get(worker)
  }

  /** Returns the worker's class if the class is new. */
  add(worker: Worker): WorkerClass | undefined {
    const signature = JSON.stringify([...worker.offer.properties])
    const known = this.#classes.get(signature)
    const workerClass = known ?? new WorkerClass(worker, this.isPreferred)
    this.#classOf.set(worker, workerClass)
    workerClass.workers.add(worker)
    worker.ordinal = ++this.#added
    this.changed(worker)
    if (known !== undefined) return undefined
    this.#classes.set(signature, workerClass)
    for (const key of keysOf(workerClass))
      this.#offering.set(key, (this.#offering.get(key) ?? new Set()).add(workerClass))
    return workerClass
  }

  /** Returns the worker's class if the class is now empty. */
  remove(worker: Worker): WorkerClass | undefined {
    const workerClass = this.#classOf.get(worker)
    if (workerClass === undefined) return undefined
    this.#classOf.delete(worker)
    workerClass.workers.delete(worker)
    if (worker.heapIndex >= 0) workerClass.free.remove(worker)
    if (workerClass.workers.size > 0) return undefined
    this.#classes.delete(JSON.stringify([...worker.offer.properties]))
    for (const key of keysOf(workerClass)) {
      const offering = this.#offering.get(key)
      offering?.delete(workerClass)
      if (offering?.size === 0) this.#offering.delete(key)
    }
    return workerClass
  }

  /** Call this when the slots, the last use or the state of a worker changed. */
  changed(worker: Worker): void {
    const free = this.#classOf.get(worker)?.free
    if (free === undefined) return
    if (worker.heapIndex >= 0) free.remove(worker)
    if (hasFreeSlot(worker)) free.add(worker)
  }

  /** The classes that could ever satisfy `requirement`. */
  *capable(requirement: Requirement): Iterable<WorkerClass> {
    for (const one of this.#rarest(requirement)) if (one.isCapable(requirement)) yield one
  }

  /** The preferred worker that can run this now, if any. Workers where it failed before come last. */
  choose(requirement: Requirement, failedOn: ReadonlySet<string>): Worker | undefined {
    let best: Worker | undefined
    for (const { free } of this.capable(requirement)) {
      const { first } = free
      if (first === undefined) continue
      const isFine = hasRoom(first, requirement) && !failedOn.has(first.id)
      for (const worker of isFine ? [first] : free.items) {
        if (!hasRoom(worker, requirement)) continue
        if (best === undefined || this.#isBetter(worker, best, failedOn)) best = worker
      }
    }
    return best
  }

  #isBetter(a: Worker, b: Worker, failedOn: ReadonlySet<string>): boolean {
    const failures = Number(failedOn.has(a.id)) - Number(failedOn.has(b.id))
    return failures < 0 || (failures === 0 && this.isPreferred(a, b))
  }

  #rarest({ exact, minimum, present }: Requirement): Iterable<WorkerClass> {
    let rarest: Iterable<WorkerClass> = this.#classes.values()
    let count = this.#classes.size
    const keys = [...exact.map(({ name, value }) => keyOf(name, value)), ...[...minimum.keys(), ...present].map(keyOf1)]
    for (const key of keys) {
      const offering = this.#offering.get(key)
      if (offering === undefined) return []
      if (offering.size < count) [rarest, count] = [offering, offering.size]
    }
    return rarest
  }
}

const keyOf = (name: string, value: string): string => JSON.stringify([name, value])
const keyOf1 = (name: string): string => JSON.stringify(name)

const keysOf = ({ properties }: WorkerClass): string[] =>
  [...properties].flatMap(([name, values]) => [keyOf1(name), ...values.map((value) => keyOf(name, value))])
