import type { PlatformProperty } from '../../../reapi/platform.js'
import type { PlatformDemand } from '../../scheduler.js'
import { type Requirement, withoutAmounts } from '../state/requirement.js'

/** What waits and runs of one class of requirements: those that differ only in amounts. */
class Class {
  readonly exact: readonly PlatformProperty[]
  readonly present: readonly string[]
  queued = 0
  running = 0
  /** Sums, by the names of `minimum` properties. */
  readonly amounts = new Map<string, { queued: number; running: number }>()

  constructor({ exact, present }: Requirement) {
    this.exact = exact
    this.present = present
  }

  get isIdle(): boolean {
    return this.queued + this.running === 0
  }

  count(stage: 'queued' | 'running', { minimum }: Requirement, by: 1 | -1): void {
    this[stage] += by
    for (const [name, amount] of minimum) {
      const sums = this.amounts.get(name) ?? { queued: 0, running: 0 }
      sums[stage] += by * amount
      this.amounts.set(name, sums)
    }
  }
}

/**
 * How many actions wait and run, by what they ask of a worker, whether or not there is such a worker: by this a fleet grows and
 * shrinks. Counted as they come and go, so that reading it does not cost a walk over the queue.
 */
export class Demand {
  readonly #classes = new Map<string, Class>()

  /** `signature`: of the requirement without amounts, if it is known. */
  count(stage: 'queued' | 'running', by: 1 | -1, requirement: Requirement, signature?: string): void {
    const key = signature ?? withoutAmounts(requirement)
    const known = this.#classes.get(key)
    const one = known ?? new Class(requirement)
    if (known === undefined) this.#classes.set(key, one)
    one.count(stage, requirement, by)
    if (one.isIdle) this.#classes.delete(key)
  }

  /** Those that came first, at most MAX_PLATFORMS: a client may ask for something else with every action. */
  platforms(): PlatformDemand[] {
    const platforms: PlatformDemand[] = []
    for (const { exact, present, queued, running, amounts } of this.#classes.values()) {
      if (platforms.length === MAX_PLATFORMS) break
      const named = exact.map(({ name, value }) => [name, value] as const)
      const properties = [...named, ...present.map((name) => [name, ANY] as const)]
      const sums = [...amounts].map(([name, sum]) => [name, told(sum)] as const)
      platforms.push({ properties, queued, running, amounts: new Map(sums) })
    }
    return platforms
  }
}

/** Clients choose amounts: sums that no message holds are told as the most that one does. */
const told = ({ queued, running }: { readonly queued: number; readonly running: number }) => ({
  queued: Math.min(queued, Number.MAX_SAFE_INTEGER),
  running: Math.min(running, Number.MAX_SAFE_INTEGER),
})

/** The value of a property that is asked for with any value. */
const ANY = '*'
const MAX_PLATFORMS = 1_000
