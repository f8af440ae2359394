import { type CodeName, codeName, StatusError } from '../../../base/status-error.js'
import type { SimpleSettings } from '../settings.js'
import { Deadline } from './deadlines.js'

const MAX_BACKOFF_STEPS = 5

type Bounds = Pick<SimpleSettings, 'workerFailuresInARow' | 'workerBackoffMs'>

/**
 * Whether a worker can be trusted with actions: what it says of itself, and what became of the actions that it took. After
 * several failures in a row that were not the fault of the action, it is set aside, and then tried with one action.
 */
export class Standing {
  /** Why the worker says that it can run nothing; empty while it is fine. */
  sick = ''
  /** Why it is set aside; empty while it is trusted. */
  aside = ''
  /** It may take one action, to show whether it works again. */
  isOnTrial = false
  readonly backoff = new Deadline()
  /** When it is tried again, if it is set aside. */
  untilMs = 0
  #inRow = 0
  #lastExecution = ''
  #steps = 0

  /** The number of actions that it may have at a time, of those that its slots allow. */
  mayHave(slots: number): number {
    if (this.sick !== '') return 0
    if (this.aside === '') return slots
    return this.isOnTrial ? Math.min(1, slots) : 0
  }

  /** Whether it takes actions at all. */
  get takesActions(): boolean {
    return this.mayHave(1) > 0
  }

  /** Nothing failed there since an action ran there last. */
  get isClean(): boolean {
    return this.#inRow === 0 && this.aside === ''
  }

  /** Undefined while the worker is trusted. */
  get state(): 'sick' | 'set_aside' | undefined {
    if (this.sick !== '') return 'sick'
    return this.aside === '' ? undefined : 'set_aside'
  }

  /** In words; empty if the worker is trusted. */
  get trouble(): string {
    if (this.sick !== '') return `sick: ${this.sick}`
    return this.aside
  }

  /** Returns whether that changes anything. */
  proved(): boolean {
    this.#inRow = 0
    this.#steps = 0
    const wasAside = this.aside !== ''
    this.aside = ''
    this.isOnTrial = false
    return wasAside
  }

  /**
   * Counts a failure that was not the action's. Returns for how long the worker is set aside, undefined if it is not. The same action
   * counts once: it may be what breaks workers.
   */
  failed(executionId: string, error: StatusError, settings: Bounds): number | undefined {
    const { workerFailuresInARow: most, workerBackoffMs } = settings
    if (most === 0) return undefined
    if (this.#lastExecution !== executionId) this.#inRow += 1
    this.#lastExecution = executionId
    const isFirst = this.aside === ''
    if (isFirst ? this.#inRow < most : !this.isOnTrial) return undefined
    this.isOnTrial = false
    this.aside = `set aside after ${this.#inRow} failures in a row that were its own, the last one: ${error.message}`
    return workerBackoffMs * 2 ** Math.min(this.#steps++, MAX_BACKOFF_STEPS)
  }
}

/** Codes that say whose failure it is as they stand: the server's. */
const OWN: ReadonlySet<string> = new Set<CodeName>([
  'UNAVAILABLE',
  'RESOURCE_EXHAUSTED',
  'DEADLINE_EXCEEDED',
  'DATA_LOSS',
])

/** A worker's failure as clients may see it. A worker without a right is not a client without one. */
export const workerFailure = (workerId: string, error: StatusError): StatusError => {
  const name = codeName(error.code)
  if (OWN.has(name) || name === 'INTERNAL' || name === 'ABORTED') return error.withPrefix(`worker ${workerId}`)
  return new StatusError('INTERNAL', `worker ${workerId}: ${name}: ${error.message}`, { cause: error })
}
