import { StatusError } from '../base/status-error.js'
import type { Log } from '../log/log.js'
import type { Scheduler, SchedulerOverview } from '../scheduler/scheduler.js'

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
 *   GET    {path}                                   workers, queue and failed actions of every scheduler
 *   PUT    {path}/drain?scheduler=S&worker=W        drain: the workers get no new actions
 *   DELETE {path}/drain?scheduler=S&worker=W        end the drain
 *   DELETE {path}/operation?name=NAME               cancel an operation
 *
 * W is the id of a worker, its name, or a pattern of one of them with `*`.
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

  /** Of the schedulers that have their queue in this process, by name. */
  overviews(): ReadonlyMap<string, SchedulerOverview> {
    const all = [...this.schedulers].flatMap(([name, { operator }]) =>
      operator === undefined ? [] : [[name, operator.overview()] as const],
    )
    return new Map(all)
  }

  async #overview(): Promise<object> {
    return { schedulers: withTimes(Object.fromEntries(this.overviews())) }
  }

  async #drain(query: URLSearchParams, { method, by }: AdminRequest): Promise<object> {
    const isDrained = method === 'PUT'
    const scheduler = of(query, 'scheduler')
    const wanted = of(query, 'worker')
    const operator = this.schedulers.get(scheduler)?.operator
    if (operator === undefined) throw notFound(`scheduler ${scheduler}`, [...this.schedulers.keys()])
    const known = operator.overview().workers
    const workers = known
      .filter(({ id, name }) => matches(wanted, id) || matches(wanted, name))
      .map(({ id }) => id)
      .filter((id) => (isDrained ? operator.drainWorker(id) : operator.undrainWorker(id)))
    if (workers.length === 0) {
      const names = known.map(({ id }) => id)
      throw notFound(`worker ${wanted}${isDrained ? '' : ' that was drained here'}`, names)
    }
    const what = `an operator ${isDrained ? 'drained a worker' : 'ended the drain of a worker'}`
    for (const worker of workers) this.#log.info(what, { scheduler, worker, ...by })
    return { workers, isDrained }
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

/** `*` in a pattern stands for any characters. */
const matches = (pattern: string, text: string): boolean => {
  const [head = '', ...rest] = pattern.split('*')
  const tail = rest.pop()
  if (tail === undefined) return text === pattern
  if (!text.startsWith(head) || text.length < head.length + tail.length || !text.endsWith(tail)) return false
  let at = head.length
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0 || found + part.length > text.length - tail.length) return false
    at = found + part.length
  }
  return true
}

/** Points in time, which people read as text: `queuedAt` in place of `queuedMs`. */
const TIMES = new Map([
  ['queuedMs', 'queuedAt'],
  ['startedMs', 'startedAt'],
  ['endedMs', 'endedAt'],
  ['heardMs', 'heardAt'],
])

const withTimes = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withTimes)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => {
      const name = TIMES.get(key)
      return name !== undefined && typeof inner === 'number'
        ? [name, new Date(inner).toISOString()]
        : [key, withTimes(inner)]
    }),
  )
}

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
