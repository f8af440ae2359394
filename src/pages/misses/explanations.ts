import { setTimeout as pause } from 'node:timers/promises'
import type { Evidence } from '../../misses/explain.js'
import { explain } from '../../misses/explain.js'
import { type FoldedMiss, Folder } from '../../misses/grouped.js'
import type { RequestRecord } from '../../rpc/request-records.js'
import { boundedMap, LANES } from '../../work/bounded-map.js'
import { TimeSlices } from '../../work/time-slices.js'

const SLICE_MS = 5
/** How long a reader waits for all of it; longer work goes on, and the page shows what there is. */
const PATIENCE_MS = 1000
/** Builds whose misses are explained, or were lately. Of each at most some ten MB are kept. */
const MAX_JOBS = 4
/** The misses of a running build grow, and logs come later; they are explained again at most this often. */
const FRESH_MS = 15_000

/** The misses of a build and why they were, while this is found out. */
export class Job {
  readonly #folded: (FoldedMiss | undefined)[]
  isDone = false
  readonly beganMs: number
  readonly #done: Promise<void>

  constructor(
    readonly misses: readonly RequestRecord[],
    nowMs: number,
    evidence: () => Promise<{ readonly evidence: Evidence; readonly end: () => void }>,
  ) {
    this.beganMs = nowMs
    this.#folded = new Array<FoldedMiss | undefined>(misses.length)
    this.#done = this.#run(evidence)
    // Each reader that waits for it gets the failure.
    this.#done.catch(() => {})
  }

  /** Those explained so far, in the order of their requests. */
  get folded(): readonly FoldedMiss[] {
    return this.#folded.filter((one) => one !== undefined)
  }

  /** Resolves when it has ended, or after some time. Rejects if it failed. */
  async wait(): Promise<void> {
    const patience = new AbortController()
    await Promise.race([this.#done, pause(PATIENCE_MS, undefined, { signal: patience.signal })]).finally(() =>
      patience.abort(),
    )
  }

  async #run(begin: () => Promise<{ readonly evidence: Evidence; readonly end: () => void }>): Promise<void> {
    const { evidence, end } = await begin()
    try {
      const [folder, slices] = [new Folder(), new TimeSlices(SLICE_MS)]
      await boundedMap(this.misses, LANES, async (miss, at) => {
        this.#folded[at] = folder.fold(await explain(miss, evidence))
        await slices.step()
      })
    } finally {
      this.isDone = true
      end()
    }
  }
}

/** The explanations of builds that readers look at, shared by those who may see the same. */
export class Explanations {
  readonly #jobs = new Map<string, Job>()

  /** `key` is of the build and the reader. */
  of(
    key: string,
    misses: readonly RequestRecord[],
    nowMs: number,
    evidence: ConstructorParameters<typeof Job>[2],
  ): Job {
    const known = this.#jobs.get(key)
    this.#jobs.delete(key)
    const isEnough = known !== undefined && (!known.isDone || nowMs - known.beganMs < FRESH_MS)
    const job = isEnough ? known : new Job(misses, nowMs, evidence)
    this.#jobs.set(key, job)
    const [oldest] = this.#jobs.keys()
    if (this.#jobs.size > MAX_JOBS && oldest !== undefined) this.#jobs.delete(oldest)
    return job
  }

  /** After a failure: the next reader begins anew. */
  forget(key: string): void {
    this.#jobs.delete(key)
  }
}
