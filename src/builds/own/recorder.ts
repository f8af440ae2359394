import { randomUUID } from 'node:crypto'
import { guardedTimeout } from '../../base/timers.js'
import type { Invocations } from '../../rpc/invocations.js'
import type { RequestRecord, RequestRecords } from '../../rpc/request-records.js'
import type { Builds } from '../builds.js'
import { encodeOwn, type OwnExecution } from './record.js'

/** Executions are written together: at the latest after this time, or when there are this many. */
const WAIT_MS = 50
const AT_ONCE = 256

/**
 * Adds what this server knows of a build to the log of its events: its executions as they end, and the number of its hits and
 * misses when its stream ends.
 */
export class OwnRecorder {
  readonly #builds: Builds
  readonly #records: RequestRecords
  readonly #invocations: Invocations
  readonly #process = randomUUID()
  #numbers: number[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(builds: Builds, records: RequestRecords, invocations: Invocations) {
    this.#builds = builds
    this.#records = records
    this.#invocations = invocations
  }

  /** Returns what ends it. */
  start(): () => void {
    this.#records.onExecution = (number) => this.#executed(number)
    this.#builds.open.onLeave = (invocationId) => this.#leaves(invocationId)
    return () => {
      this.#records.onExecution = undefined
      this.#flush()
    }
  }

  #executed(number: number): void {
    if (this.#builds.open.isEmpty) return
    this.#numbers.push(number)
    if (this.#numbers.length >= AT_ONCE) this.#flush()
    else this.#timer ??= guardedTimeout(() => this.#flush(), WAIT_MS).unref()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const numbers = this.#numbers
    this.#numbers = []
    const byInvocation = new Map<string, { readonly scope: string | undefined; readonly execution: OwnExecution }[]>()
    for (const number of numbers) {
      const record = this.#records.get(number)
      const execution = record && ownExecution(record)
      if (record === undefined || execution === undefined) continue
      const known = byInvocation.get(record.invocation)
      const { invocation, scope } = record
      if (known === undefined) byInvocation.set(invocation, [{ scope, execution }])
      else known.push({ scope, execution })
    }
    for (const [invocationId, executions] of byInvocation)
      this.#builds.open.note(invocationId, ({ instance, identity, scope: ofBuild }) => {
        // Another caller may name the build too: it counts in the instance and the scope of the build only.
        const own = executions.filter(
          ({ scope, execution: one }) => scope === ofBuild && (one.identity === identity || one.instance === instance),
        )
        return own.length === 0 ? undefined : encodeOwn({ executions: own.map(({ execution }) => execution) })
      })
  }

  #leaves(invocationId: string): void {
    this.#flush()
    const counts = this.#invocations.countsOf(invocationId)
    if (counts === undefined) return
    const { hit: hits, miss: misses } = counts
    if (hits + misses === 0) return
    this.#builds.open.note(invocationId, () => encodeOwn({ counts: { process: this.#process, hits, misses } }))
  }
}

const ownExecution = (record: RequestRecord): OwnExecution | undefined => {
  const { execution, instance, action, target, mnemonic, outcome, reason = '', timeMs: atMs } = record
  return execution && { ...execution, instance, action, target, mnemonic, outcome, reason, atMs }
}
