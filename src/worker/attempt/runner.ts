import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import { isolatedView } from '../../store/view/isolated.js'
import { Attempt } from './attempt.js'
import { type ActionContext, type AttemptOutcome, type AttemptRequest, failedOutcome } from './request.js'
import { KnownSources } from './source.js'

const REMEMBERED_WRITERS = 1000
/** Number of isolated instances whose recently read sources are cached. */
const KNOWN_INSTANCES = 16

/** Runs actions. Never rejects, because a failure of an attempt is also an outcome. */
export class ActionRunner {
  readonly #context: ActionContext
  /** Keys of actions that wrote to their inputs. They get private copies from the start the next time. */
  readonly #writers = new Set<string>()
  readonly #known = new KnownSources()
  readonly #knownIsolated = new LruCache<KnownSources>(KNOWN_INSTANCES)

  constructor(context: ActionContext) {
    this.#context = context
  }

  async run(request: AttemptRequest): Promise<AttemptOutcome> {
    const attempt = new Attempt(contextOf(request, this.#context), request)
    let failure: StatusError | undefined
    try {
      return await attempt.run(this.#writers, this.#knownOf(request))
    } catch (thrown) {
      failure = StatusError.from(thrown)
      return failedOutcome(thrown, request, this.#context.log)
    } finally {
      attempt.end(failure)
      const [oldest] = this.#writers
      if (this.#writers.size > REMEMBERED_WRITERS && oldest !== undefined) this.#writers.delete(oldest)
    }
  }

  /**
   * Each isolated instance has its own cache, because a shared one would reveal which directories other instances have.
   */
  #knownOf({ isIsolated, instanceName }: AttemptRequest): KnownSources {
    if (!isIsolated) return this.#known
    const known = this.#knownIsolated.get(instanceName) ?? new KnownSources()
    this.#knownIsolated.set(instanceName, known, 1)
    return known
  }
}

/** With the stores as this instance sees them. */
const contextOf = ({ isIsolated, instanceName }: AttemptRequest, context: ActionContext): ActionContext => {
  if (!isIsolated) return context
  const { store, results } = context
  const actionCache = results.actionCache && isolatedView(results.actionCache, instanceName)
  const history = isolatedView(results.history, instanceName)
  return { ...context, store: isolatedView(store, instanceName), results: { ...results, actionCache, history } }
}
