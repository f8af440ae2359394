import type { EventRecord } from '../log/record.js'
import { decodeOwn, type OwnCounts, type OwnExecution } from './record.js'

/** Where the time of executions went, summed up. */
export interface StepSums {
  readonly queueMs: number
  readonly fetchMs: number
  readonly runMs: number
  readonly uploadMs: number
}

/** What this server knows of a build itself. */
export interface OwnFacts {
  /** Undefined if nobody counted. */
  readonly counts: OwnCounts | undefined
  /** In the order of their ends. */
  readonly executions: readonly OwnExecution[]
  /** Of all executions, also those beyond the bound of `executions`. */
  readonly executionCount: number
  readonly failedCount: number
  readonly sums: StepSums
}

/** Further executions are counted only. */
const MAX_EXECUTIONS = 50_000
const MAX_PROCESSES = 64

/** Adds up the records of a server about one build. */
export class OwnFactsReader {
  readonly #executions: OwnExecution[] = []
  readonly #counts = new OwnCounter()
  #executionCount = 0
  #failedCount = 0
  readonly #sums = { queueMs: 0, fetchMs: 0, runMs: 0, uploadMs: 0 }

  take({ event }: EventRecord): void {
    const { executions = [], counts } = decodeOwn(event)
    if (counts !== undefined) this.#counts.take(counts)
    for (const execution of executions) {
      this.#executionCount += 1
      if (hasFailed(execution)) this.#failedCount += 1
      for (const step of STEPS) this.#sums[step] += execution[step] ?? 0
      if (this.#executions.length < MAX_EXECUTIONS) this.#executions.push(execution)
    }
  }

  facts(): OwnFacts {
    return {
      counts: this.#counts.sum,
      executions: this.#executions,
      executionCount: this.#executionCount,
      failedCount: this.#failedCount,
      sums: { ...this.#sums },
    }
  }
}

/** The requests that several processes counted, one after the other. */
export class OwnCounter {
  readonly #byProcess = new Map<string, OwnCounts>()

  take({ process, hits, misses }: OwnCounts & { readonly process: string }): void {
    if (this.#byProcess.size < MAX_PROCESSES || this.#byProcess.has(process))
      this.#byProcess.set(process, { hits, misses })
  }

  get sum(): OwnCounts | undefined {
    if (this.#byProcess.size === 0) return undefined
    let [hits, misses] = [0, 0]
    for (const counts of this.#byProcess.values()) {
      hits += counts.hits
      misses += counts.misses
    }
    return { hits, misses }
  }
}

export const STEPS = ['queueMs', 'fetchMs', 'runMs', 'uploadMs'] as const

/** Of all its steps. */
export const wholeMs = (one: { readonly [Step in keyof StepSums]?: number | undefined }): number =>
  STEPS.reduce((sum, step) => sum + (one[step] ?? 0), 0)

export const hasFailed = ({ outcome, exitCode }: Pick<OwnExecution, 'outcome' | 'exitCode'>): boolean =>
  outcome === 'failed' || (exitCode !== undefined && exitCode !== 0)
