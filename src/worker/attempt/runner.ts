import { StatusError } from '../../base/status-error.js'
import { Attempt } from './attempt.js'
import { type ActionContext, type AttemptOutcome, type AttemptRequest, failedOutcome } from './request.js'
import { KnownSources } from './source.js'

const REMEMBERED_WRITERS = 1000

/** Runs actions. Never rejects: whatever happens to an attempt is its outcome. */
export class ActionRunner {
  readonly #context: ActionContext
  /** Actions that wrote to their inputs, by key: they get private copies from the start when they come again. */
  readonly #writers = new Set<string>()
  readonly #known = new KnownSources()

  constructor(context: ActionContext) {
    this.#context = context
  }

  async run(request: AttemptRequest): Promise<AttemptOutcome> {
    const attempt = new Attempt(this.#context, request)
    let failure: StatusError | undefined
    try {
      return await attempt.run(this.#writers, this.#known)
    } catch (thrown) {
      failure = StatusError.from(thrown)
      return failedOutcome(thrown, request, this.#context.log)
    } finally {
      attempt.end(failure)
      const [oldest] = this.#writers
      if (this.#writers.size > REMEMBERED_WRITERS && oldest !== undefined) this.#writers.delete(oldest)
    }
  }
}
