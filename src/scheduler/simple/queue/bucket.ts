import { Deadline } from '../state/deadlines.js'
import { Heap } from '../state/heap.js'
import type { Requirement } from '../state/requirement.js'
import type { Execution, Worker } from '../state/state.js'
import type { WorkerClass } from '../workers/worker-index.js'
import { isSooner } from './fits.js'
import type { Share, Tenant } from './tenants.js'

/** Requirements that differ only in the amounts of their `minimum` properties. Removed with its last bucket. */
export class Group {
  readonly signature: string
  /** Names of the `minimum` properties, sorted. */
  readonly names: readonly string[]
  /** Requires the same with no amount: a class of workers that cannot run it can run nothing of the group. */
  readonly least: Requirement
  /** Classes of workers that can run its least. */
  readonly capable = new Set<WorkerClass>()
  buckets = 0

  constructor(signature: string, { exact, minimum, present, needsImages }: Requirement) {
    this.signature = signature
    this.names = [...minimum.keys()].sort()
    this.least = { signature, exact, present, needsImages, minimum: new Map(this.names.map((name) => [name, 0])) }
  }

  amountsOf({ minimum }: Requirement): number[] {
    return this.names.map((name) => minimum.get(name) ?? 0)
  }

  /** What a worker has left of each amount; -1 if it offers none. */
  roomOf({ left }: Worker): number[] {
    return this.names.map((name) => left.get(name) ?? -1)
  }
}

/** A heap has its smaller items in front. */
const MOST_LOOKED_AT = 32

/** Waiting executions of one requirement and one invocation. The first one runs first. */
export class Lane {
  node = -1
  readonly amounts: readonly number[]
  readonly #waiting = new Heap<Execution>(isSooner)

  constructor(amounts: readonly number[]) {
    this.amounts = amounts
  }

  get first(): Execution | undefined {
    return this.#waiting.first
  }

  /** The first ones, in no particular order. */
  get someFirst(): readonly Execution[] {
    return this.#waiting.items.slice(0, MOST_LOOKED_AT)
  }

  get size(): number {
    return this.#waiting.size
  }

  add(execution: Execution): void {
    this.#waiting.add(execution)
  }

  remove(execution: Execution): void {
    this.#waiting.remove(execution)
  }

  raised(execution: Execution): void {
    this.#waiting.moved(execution)
  }
}

/** Waiting executions of one requirement. A bucket is removed when it is empty. */
export class Bucket {
  readonly requirement: Requirement
  readonly group: Group
  readonly amounts: readonly number[]
  /** In order of arrival. */
  readonly arrivals = new Set<Execution>()
  /** Of these, those that only workers take which hold something warm for them. */
  expecting = 0
  /** The others by instance and invocation. */
  readonly lanes = new Map<Tenant, Map<Share, Lane>>()
  /** Classes of workers that could ever run them. */
  readonly capable = new Set<WorkerClass>()
  /** The worker that starts nothing else until it has room for this bucket. */
  heldWorker: Worker | undefined
  /** Start of the time without a capable worker. */
  unmatchedSinceMs: number | undefined
  readonly giveUp = new Deadline()
  /** When executions that name an image are refused because no worker runs actions in images. */
  readonly withoutImages = new Deadline()
  readonly logAgain = new Deadline()
  readonly hold = new Deadline()

  constructor(requirement: Requirement, group: Group) {
    this.requirement = requirement
    this.group = group
    this.amounts = group.amountsOf(requirement)
  }
}
