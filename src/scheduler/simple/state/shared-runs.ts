import type { ExecutionRequest } from '../../request.js'
import type { RunFacts } from '../../scheduler.js'
import type { Execution } from './state.js'

/** Runs that equal actions may join: of each action one for each scope. */
export class SharedRuns {
  readonly #byAction = new Map<string, Map<string, Execution>>()

  add(execution: Execution): void {
    const { sharingKey, scope } = execution
    if (sharingKey === undefined) return
    const runs = this.#byAction.get(sharingKey) ?? new Map<string, Execution>()
    this.#byAction.set(sharingKey, runs.set(scope, execution))
  }

  remove(execution: Execution): void {
    const { sharingKey = '', scope } = execution
    const runs = this.#byAction.get(sharingKey)
    if (runs?.get(scope) !== execution) return
    runs.delete(scope)
    if (runs.size === 0) this.#byAction.delete(sharingKey)
  }

  /**
   * The run that an action may join: one of its own scope, one of a trusted caller, or any one if all workers confine their
   * actions (`areConfined`).
   */
  joinable(execution: Execution, areConfined: boolean): Execution | undefined {
    const runs = this.#byAction.get(execution.sharingKey ?? '')
    if (runs === undefined) return undefined
    const found = [runs.get(execution.scope), runs.get(''), ...(areConfined ? runs.values() : [])]
    return found.find((run) => run !== undefined && mayJoin(execution, run))
  }

  /** The same among those of its own scope: whose result it is must not change under an attempt that runs already. */
  ofScope(execution: Execution): Execution | undefined {
    const run = this.#byAction.get(execution.sharingKey ?? '')?.get(execution.scope)
    return run !== undefined && mayJoin(execution, run) ? run : undefined
  }
}

/** With `skipCacheLookup` a run that is already settling is excluded. */
const mayJoin = ({ request }: Execution, run: Execution): boolean =>
  !(request.skipCacheLookup && run.state === 'settling')

/** Whether the outcome of a run is one for a client that joined it. Everybody may have what a trusted caller may have. */
export const isFor = (
  request: ExecutionRequest | undefined,
  { scope }: Execution,
  run: RunFacts | undefined,
): boolean => request === undefined || scope === '' || (request.scope ?? '') === scope || run?.isConfined === true
