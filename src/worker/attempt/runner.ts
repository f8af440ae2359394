import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import { keptApart } from '../../store/view/apart.js'
import { Attempt } from './attempt.js'
import { type ActionContext, type AttemptOutcome, type AttemptRequest, failedOutcome } from './request.js'
import { KnownSources } from './source.js'

const REMEMBERED_WRITERS = 1000
/** Isolated instances of which a worker knows lately read sources. */
const KNOWN_INSTANCES = 16

/** Runs actions. Never rejects: whatever happens to an attempt is its outcome. */
export class ActionRunner {
  readonly #context: ActionContext
  /** Actions that wrote to their inputs, by key: they get private copies from the start when they come again. */
  readonly #writers = new Set<string>()
  readonly #known = new KnownSources()
  readonly #knownApart = new LruCache<KnownSources>(KNOWN_INSTANCES)

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

  /** What is known of directories would tell an instance that is kept apart what others have. */
  #knownOf({ isIsolated, instanceName }: AttemptRequest): KnownSources {
    if (!isIsolated) return this.#known
    const known = this.#knownApart.get(instanceName) ?? new KnownSources()
    this.#knownApart.set(instanceName, known, 1)
    return known
  }
}

/** With the stores as the instance has them. */
const contextOf = ({ isIsolated, instanceName }: AttemptRequest, context: ActionContext): ActionContext => {
  if (!isIsolated) return context
  const { store, results } = context
  const actionCache = results.actionCache && keptApart(results.actionCache, instanceName)
  const history = keptApart(results.history, instanceName)
  return { ...context, store: keptApart(store, instanceName), results: { ...results, actionCache, history } }
}
