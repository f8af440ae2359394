import type { Readable } from 'node:stream'
import { codeName, StatusError } from '../base/status-error.js'
import { askedBy } from '../http/answer.js'
import type { Log } from '../log/log.js'
import type { Scheduler, SchedulerOverview } from '../scheduler/scheduler.js'
import { Diagnostics } from './diagnostics.js'
import { WorkerForms } from './worker-forms.js'

export interface AdminAnswer {
  readonly status: number
  readonly contentType: string
  readonly body: string | Readable
  readonly headers?: Readonly<Record<string, string>>
}

export interface AdminRequest {
  readonly method: string
  /** With its query. */
  readonly target: string
  /** Who asks, for the log. */
  readonly by: Readonly<Record<string, string>>
}

export interface AdminHandler {
  readonly methods: readonly string[]
  readonly work: (signal: AbortSignal, request: AdminRequest) => Promise<AdminAnswer>
}

/**
 * The operator's interface: JSON over plain HTTP. Changes need PUT or DELETE, because another site's page
 * cannot make a browser send these.
 *
 *   GET    {path}                                   workers, queue and failed actions of every scheduler, also of those elsewhere
 *   PUT    {path}/drain?scheduler=S&worker=W        drain: the workers get no new actions
 *   DELETE {path}/drain?scheduler=S&worker=W        end the drain
 *   DELETE {path}/operation?name=NAME               cancel an operation
 *   POST   {path}/form/drain, {path}/form/undrain   the same from the status page, with its token
 *   PUT    {path}/profile?seconds=10                a CPU profile of this process
 *   PUT    {path}/heap                              a snapshot of its heap
 *
 * W is the id of a worker, its name, or a pattern of one of them with `*`.
 */
export class Admin {
  /** Set once they are built, which is after the listener has started. */
  schedulers: ReadonlyMap<string, Scheduler> = new Map()
  readonly #log: Log
  readonly #diagnostics = new Diagnostics()

  constructor(log: Log) {
    this.#log = log
  }

  pages(path: string): ReadonlyMap<string, AdminHandler> {
    const below = path.replace(/\/$/, '')
    return new Map([
      [path, handler(['GET', 'HEAD'], () => this.#overview())],
      [
        `${below}/drain`,
        handler(['PUT', 'DELETE'], async (query, { method, by }) => this.#drain(query, method === 'PUT', by)),
      ],
      [`${below}/operation`, handler(['DELETE'], (query, asked) => this.#cancel(query, asked))],
      [
        `${below}/profile`,
        file('cpuprofile', async (query, asked, signal) => {
          const taken = await this.#diagnostics.profile(query, signal)
          this.#log.info('an operator took a CPU profile', { bytes: taken.sizeBytes, ...asked.by })
          return taken.body
        }),
      ],
      [
        `${below}/heap`,
        file('heapsnapshot', async (_, { by }) => {
          const { body, sizeBytes, pausedMs } = await this.#diagnostics.heap()
          this.#log.warn('an operator took a heap snapshot; it has the secrets of this process', {
            ...{ bytes: sizeBytes, pausedMs },
            ...by,
          })
          return body
        }),
      ],
    ])
  }

  /** The buttons of the status page, which is at `home`. */
  forms(path: string, home: string): WorkerForms {
    return new WorkerForms(path.replace(/\/$/, ''), home, (change, request) => {
      this.#drain(request.query, change === 'drain', askedBy(request))
    })
  }

  /** By the names of the schedulers; of those whose queue is in another process what that told last. */
  overviews(): ReadonlyMap<string, SchedulerOverview> {
    const all = [...this.schedulers].flatMap(([name, { operator, elsewhere }]) => {
      const overview = (operator ?? elsewhere)?.overview()
      return overview === undefined ? [] : [[name, overview] as const]
    })
    return new Map(all)
  }

  /** Waits a moment for what other processes tell of their queues. */
  async refresh(): Promise<void> {
    await Promise.all([...this.schedulers.values()].map(({ elsewhere }) => elsewhere?.refresh()))
  }

  async #overview(): Promise<object> {
    await this.refresh()
    return { schedulers: withTimes(Object.fromEntries(this.overviews())) }
  }

  #drain(query: URLSearchParams, isDrained: boolean, by: AdminRequest['by']): object {
    const scheduler = of(query, 'scheduler')
    const wanted = of(query, 'worker')
    const operator = this.schedulers.get(scheduler)?.operator
    if (operator === undefined && this.schedulers.has(scheduler))
      throw new StatusError('NOT_FOUND', `scheduler ${scheduler} has no workers here, ask the server that has`)
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

type Work<Answer> = (query: URLSearchParams, request: AdminRequest, signal: AbortSignal) => Promise<Answer>

const handler = (methods: readonly string[], work: Work<object>): AdminHandler =>
  answering(methods, async (...asked) => json(200, await work(...asked)))

/** A page whose answer a browser saves. PUT, because it costs the server something. */
const file = (extension: string, work: Work<string | Readable>): AdminHandler =>
  answering(['PUT'], async (...asked) => ({
    status: 200,
    contentType: 'application/json; charset=utf-8',
    body: await work(...asked),
    headers: { 'content-disposition': `attachment; filename="remexec.${extension}"` },
  }))

const answering = (methods: readonly string[], work: Work<AdminAnswer>): AdminHandler => ({
  methods,
  work: async (signal, request) => {
    try {
      return await work(new URL(request.target, 'http://admin').searchParams, request, signal)
    } catch (error) {
      if (!(error instanceof StatusError)) throw error
      return json(HTTP_STATUS.get(codeName(error.code)) ?? 400, { error: error.message })
    }
  },
})

const HTTP_STATUS: ReadonlyMap<string, number> = new Map([
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['FAILED_PRECONDITION', 503],
])

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
  ['sinceMs', 'since'],
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
