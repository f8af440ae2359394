import type { Builds } from '../../builds/builds.js'
import { evidenceOf } from '../../misses/evidence.js'
import type { ExecutionLog } from '../../misses/execution-log.js'
import type { Evidence } from '../../misses/explain.js'
import { History } from '../../misses/history.js'
import type { RequestRecord } from '../../rpc/request-records.js'
import { Semaphore } from '../../work/semaphore.js'
import { type PageStores, type StoresOf, seesResults, storesFor } from '../actions/stores.js'
import type { Visit } from '../page.js'
import { ExecutionLogs } from './execution-logs.js'

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

/** The requests and the stores of an instance, for a reader who may see both. */
export class MissSources {
  readonly #parts: MissPagesParts
  readonly #logs: ExecutionLogs
  readonly #turns = new Semaphore(TURNS)

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

  history(instance: string): Promise<History> {
    return History.read(instance, this.#parts.records)
  }

  evidence(visit: Visit, stores: PageStores, history: History, maxChanges: number): Evidence {
    const logOf = (invocation: string): Promise<ExecutionLog | undefined> =>
      this.#logs.of(invocation, history.instance, visit)
    return evidenceOf(stores, history, visit.request, { maxChanges, logOf })
  }
}
