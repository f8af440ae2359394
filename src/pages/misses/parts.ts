import type { Builds } from '../../builds/builds.js'
import { evidenceOf } from '../../misses/evidence.js'
import type { ExecutionLog } from '../../misses/execution-log.js'
import type { Evidence } from '../../misses/explain.js'
import { History } from '../../misses/history.js'
import { type Call, internalCall } from '../../rpc/call.js'
import type { RequestRecord } from '../../rpc/request-records.js'
import { Semaphore } from '../../work/semaphore.js'
import { type PageStores, type StoresOf, seesResults, storesFor } from '../actions/stores.js'
import type { Visit } from '../page.js'
import { ExecutionLogs } from './execution-logs.js'
import { Explanations, type Job } from './explanations.js'

/** What the pages about misses read. */
export interface MissPagesParts {
  readonly storesOf: StoresOf
  /** The last requests about actions, the newest first. */
  readonly records: Iterable<RequestRecord>
  /** Undefined if no server takes build events. */
  readonly builds: Builds | undefined
}

/** Explanations at the same time; each reads thousands of small blobs. More readers wait. */
const TURNS = { permits: 2, maxWaiting: 100 }

/** Of the inputs of each miss of a build: enough for the first cause. */
const FOLDED_CHANGES = 50
/** Sixteen thousand misses whose Actions are in a bucket take minutes. */
const MAX_EXPLAINING_MS = 600_000

/** The requests and the stores of an instance, for a reader who may see both. */
export class MissSources {
  readonly #parts: MissPagesParts
  readonly #logs: ExecutionLogs
  readonly #turns = new Semaphore(TURNS)
  readonly #explanations = new Explanations()

  constructor(parts: MissPagesParts) {
    this.#parts = parts
    this.#logs = new ExecutionLogs(parts)
  }

  /** Runs `work` in its turn. */
  async inTurn<T>(visit: Visit, work: () => Promise<T>): Promise<T> {
    const end = await this.#turns.acquire('a turn to explain misses', visit.request.signal, undefined)
    try {
      return await work()
    } finally {
      end()
    }
  }

  stores(visit: Visit, instance: string): PageStores {
    if (!seesResults(visit, instance)) throw visit.absent(`instance ${JSON.stringify(instance)}`)
    return storesFor(visit, instance, this.#parts.storesOf)
  }

  /** Of trusted callers, and of the scope that the address names. */
  history(visit: Visit, instance: string): Promise<History> {
    const named = visit.query.get('scope')
    return History.read(instance, this.#parts.records, (scope) => scope === undefined || scope === named)
  }

  evidence(
    visit: Visit,
    stores: PageStores,
    history: History,
    maxChanges: number,
    call: Call = visit.request,
  ): Evidence {
    const logOf = (invocation: string): Promise<ExecutionLog | undefined> =>
      this.#logs.of(invocation, history.instance, visit, call)
    return evidenceOf(stores, history, call, { maxChanges, logOf })
  }

  /** Why a build missed: begun for the first reader, and gone on with when he has left. */
  async explanations(visit: Visit, stores: PageStores, history: History, invocation: string): Promise<Job> {
    const { instance } = history
    const { visitor, log } = visit.request
    const key = JSON.stringify([visitor?.identity, instance, invocation])
    const job = this.#explanations.of(key, history.missesOf(invocation), visit.nowMs, async () => {
      const call = internalCall({ instanceName: instance, log, signal: AbortSignal.timeout(MAX_EXPLAINING_MS) })
      const end = await this.#turns.acquire('a turn to explain misses', call.signal, undefined)
      return { evidence: this.evidence(visit, stores, history, FOLDED_CHANGES, call), end }
    })
    try {
      await job.wait()
    } catch (error) {
      this.#explanations.forget(key)
      throw error
    }
    return job
  }
}
