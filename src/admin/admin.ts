import { StatusError } from '../base/status-error.js'
import type { Log } from '../log/log.js'
import type { Scheduler } from '../scheduler/scheduler.js'

export interface AdminAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string
}

export interface AdminRequest {
  readonly method: string
  /** With its query. */
  readonly target: string
  /** Who asks, for the log. */
  readonly by: Readonly<Record<string, string>>
}

export interface AdminHandler {
  (signal: AbortSignal, request: AdminRequest): Promise<AdminAnswer>
  readonly methods: readonly string[]
}

/**
 * The operator's interface: JSON over plain HTTP. Changes need PUT or DELETE, because another site's page
 * cannot make a browser send these.
 *
 *   GET    {path}                                   workers and queue of every scheduler
 *   PUT    {path}/drain?scheduler=S&worker=ID       drain: the worker gets no new actions
 *   DELETE {path}/drain?scheduler=S&worker=ID       end the drain
 *   DELETE {path}/operation?name=NAME               cancel an operation
 */
export class Admin {
  /** Set once they are built, which is after the listener has started. */
  schedulers: ReadonlyMap<string, Scheduler> = new Map()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  pages(path: string): ReadonlyMap<string, AdminHandler> {
    const below = path.replace(/\/$/, '')
    return new Map([
      [path, handler(['GET', 'HEAD'], () => this.#overview())],
      [`${below}/drain`, handler(['PUT', 'DELETE'], (query, asked) => this.#drain(query, asked))],
      [`${below}/operation`, handler(['DELETE'], (query, asked) => this.#cancel(query, asked))],
    ])
  }

  async #overview(): Promise<object> {
    const all = [...this.schedulers].flatMap(([name, { operator }]) =>
      operator === undefined ? [] : [[name, operator.overview()] as const],
    )
    return { schedulers: Object.fromEntries(all) }
  }

  async #drain(query: URLSearchParams, { method, by }: AdminRequest): Promise<object> {
    const isDrained = method === 'PUT'
    const scheduler = of(query, 'scheduler')
    const worker = of(query, 'worker')
    const operator = this.schedulers.get(scheduler)?.operator
    if (operator === undefined) throw notFound(`scheduler ${scheduler}`, [...this.schedulers.keys()])
    if (isDrained ? operator.drainWorker(worker) : operator.undrainWorker(worker)) {
      this.#log.info(`an operator ${isDrained ? 'drained a worker' : 'ended the drain of a worker'}`, {
        ...{ scheduler, worker },
        ...by,
      })
      return { worker, isDrained }
    }
    const known = operator.overview().workers.map(({ id }) => id)
    throw notFound(`worker ${worker}${isDrained ? '' : ' that was drained here'}`, known)
  }

  async #cancel(query: URLSearchParams, { by }: AdminRequest): Promise<object> {
    const name = of(query, 'name')
    for (const scheduler of this.schedulers.values()) {
      const isKnown = await scheduler.cancel(name).catch((error: unknown) => {
        if (error instanceof StatusError) return false
        throw error
      })
      if (!isKnown) continue
      this.#log.info('an operator cancelled an operation', { operation: name, ...by })
      return { cancelled: name }
    }
    throw new StatusError('NOT_FOUND', `there is no operation ${name}`)
  }
}

const handler = (
  methods: readonly string[],
  work: (query: URLSearchParams, request: AdminRequest) => Promise<object>,
): AdminHandler =>
  Object.assign(
    async (_: AbortSignal, request: AdminRequest): Promise<AdminAnswer> => {
      try {
        return json(200, await work(new URL(request.target, 'http://admin').searchParams, request))
      } catch (error) {
        if (!(error instanceof StatusError)) throw error
        return json(error.code === 5 ? 404 : 400, { error: error.message })
      }
    },
    { methods },
  )

const json = (status: number, content: object): AdminAnswer => ({
  status,
  contentType: 'application/json; charset=utf-8',
  body: `${JSON.stringify(content, null, 1)}\n`,
})

const of = (query: URLSearchParams, key: string): string => {
  const value = query.get(key) ?? ''
  if (value === '') throw new StatusError('INVALID_ARGUMENT', `expected ?${key}=...`)
  return value
}

const notFound = (what: string, known: readonly string[]): StatusError =>
  new StatusError('NOT_FOUND', `there is no ${what}, expected one of ${known.slice(0, 50).join(', ') || 'none'}`)
