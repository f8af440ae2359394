import type { Readable } from 'node:stream'
import type { Clock } from '../base/clock.js'
import { codeName, StatusError } from '../base/status-error.js'
import { askedBy } from '../http/answer.js'
import type { Log } from '../log/log.js'
import type { Visitor } from '../rpc/gate.js'
import { listedOf } from '../scheduler/listed.js'
import type { Scheduler, SchedulerOperator, SchedulerOverview } from '../scheduler/scheduler.js'
import { demandOf } from './demand.js'
import { Diagnostics } from './diagnostics.js'
import { json, numberOf, of, withTimes } from './json.js'
import { placeText, wantedList } from './list-query.js'
import { OperatorForms } from './operator-forms.js'
import type { ListedScope, ProcessFacts, WantedResults } from './process-facts.js'

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
  /** Undefined if access is not restricted. */
  readonly visitor: Visitor | undefined
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
 *   GET    {path}/status                            version, health, stores and counts of this process
 *   GET    {path}/demand?property=NAME=VALUE         how many actions wait and run, by what they ask of a worker, for autoscalers
 *   GET    {path}/builds?limit=50                   the latest builds that the caller may see
 *   GET    {path}/blobs?kind=blobs&limit=50         what the stores of an instance keep: kinds blobs, results and http (entries of HTTP caches)
 *   GET    {path}/scopes?instance=NAME               the scopes that were used since the start
 *   PUT    {path}/drain?scheduler=S&worker=W        drain: the workers get no new actions; of all schedulers without S
 *   DELETE {path}/drain?scheduler=S&worker=W        end the drain
 *   DELETE {path}/operation?name=NAME               cancel an operation
 *   DELETE {path}/result?action=HASH-SIZE           delete the result of an action; in place of `action` also `target` or `build`, `scope`
 *                                                   for all that a scope keeps, `caller` for all that one wrote until now,
 *                                                   with `instance` if it has a name; `dry_run=true` only tells what it would delete
 *   POST   {path}/form/drain, {path}/form/undrain   the same from the status page, with its token
 *   PUT    {path}/profile?seconds=10                a CPU profile of this process
 *   PUT    {path}/heap                              a snapshot of its heap
 *
 * W is the id of a worker, its name, or a pattern of one of them with `*`.
 */
export class Admin {
  /** Set once they are built, which is after the listener has started. */
  schedulers: ReadonlyMap<string, Scheduler> = new Map()
  /** Set with them. */
  facts: ProcessFacts | undefined
  readonly #log: Log
  readonly #clock: Clock
  readonly #diagnostics = new Diagnostics()

  constructor(log: Log, clock: Clock) {
    this.#log = log
    this.#clock = clock
  }

  pages(path: string): ReadonlyMap<string, AdminHandler> {
    const below = path.replace(/\/$/, '')
    return new Map([
      [path, handler(['GET', 'HEAD'], () => this.#overview())],
      [`${below}/status`, handler(['GET', 'HEAD'], () => this.#status())],
      [`${below}/demand`, handler(['GET', 'HEAD'], (query) => this.#demand(query))],
      [`${below}/blobs`, handler(['GET', 'HEAD'], (query, _, signal) => this.#list(query, signal))],
      [`${below}/builds`, handler(['GET', 'HEAD'], (query, asked) => this.#builds(query, asked))],
      [
        `${below}/drain`,
        handler(['PUT', 'DELETE'], async (query, { method, by }) => this.#drain(query, method === 'PUT', by)),
      ],
      [`${below}/scopes`, handler(['GET', 'HEAD'], (query, asked) => this.#scopes(query, asked))],
      [`${below}/result`, handler(['DELETE'], (query, asked) => this.#deleteResults(query, asked))],
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

  /** The buttons of the pages of workers and of scopes, which are at these addresses. */
  forms(path: string, homes: { readonly workers: string; readonly scopes: string }): OperatorForms {
    return new OperatorForms(path.replace(/\/$/, ''), async (change, request) => {
      const by = askedBy(request)
      const { query, method, target, visitor } = request
      if (change === 'drop-scope') {
        await this.#deleteResults(query, { method, target, visitor, by })
        return homes.scopes
      }
      this.#drain(query, change === 'drain', by)
      return homes.workers
    })
  }

  /** Those of all instances that were used since the start. */
  scopes(): readonly ListedScope[] {
    return this.facts?.scopes() ?? []
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
    const schedulers: [string, object][] = []
    for (const [name, { queue, stuck, demand: _, learned: __, ...overview }] of this.overviews())
      schedulers.push([name, { ...overview, stuck: stuck(), queue: await listedOf(queue) }])
    return withTimes({ nowMs: this.#clock.now(), schedulers: Object.fromEntries(schedulers) }) as object
  }

  async #demand(query: URLSearchParams): Promise<object> {
    await this.refresh()
    const name = query.get('scheduler')
    if (name !== null && !this.schedulers.has(name)) throw notFound(`scheduler ${name}`, [...this.schedulers.keys()])
    return demandOf(query, this.schedulers)
  }

  async #status(): Promise<object> {
    const facts = this.#known()
    await this.refresh()
    const schedulers = Object.fromEntries([...this.overviews()].map(([name, overview]) => [name, countsOf(overview)]))
    return withTimes({ ...facts.status(), schedulers }) as object
  }

  async #builds(query: URLSearchParams, { visitor }: AdminRequest): Promise<object> {
    const limit = numberOf(query, 'limit', { least: 1, most: MAX_BUILDS, otherwise: DEFAULT_BUILDS })
    const all = await this.#known().builds((instance) => visitor === undefined || visitor.may('read_ac', instance))
    const builds = [...all].sort((a, b) => b.startedMs - a.startedMs).slice(0, limit)
    return withTimes({ count: all.length, builds }) as object
  }

  async #list(query: URLSearchParams, signal: AbortSignal): Promise<object> {
    const wanted = wantedList(query, this.#clock.now())
    const { blobs, stores, unlisted } = await this.#known().listKept(wanted, signal)
    const last = blobs.length === wanted.limit ? blobs.at(-1) : undefined
    return withTimes({ blobs, stores, unlisted, ...(last && { next: placeText(last) }) }) as object
  }

  async #deleteResults(query: URLSearchParams, { visitor, method, target, by }: AdminRequest): Promise<object> {
    const wanted = wantedResults(query)
    const { instance, isDryRun } = wanted
    visitor?.demand('administer', instance, { method, target }, by['peer'] ?? '')
    const answer = await this.#known().deleteResults(wanted)
    const about = { instance, [wanted.by]: wanted.value, ...by }
    if (!isDryRun) for (const deleted of answer.deleted) this.#log.info(DELETED[wanted.by], { ...about, deleted })
    return { ...answer, isDryRun }
  }

  async #scopes(query: URLSearchParams, { visitor, method, target, by }: AdminRequest): Promise<object> {
    const instance = query.get('instance') ?? ''
    visitor?.demand('administer', instance, { method, target }, by['peer'] ?? '')
    const scopes = this.#known()
      .scopes()
      .filter(({ instanceName }) => instanceName === instance)
    return withTimes({ scopes }) as object
  }

  #known(): ProcessFacts {
    if (this.facts === undefined) throw new StatusError('UNAVAILABLE', 'the server is starting: ask again soon')
    return this.facts
  }

  #drain(query: URLSearchParams, isDrained: boolean, by: AdminRequest['by']): object {
    const wanted = of(query, 'worker')
    const workers = this.#schedulersOf(query).flatMap(([scheduler, operator]) =>
      operator
        .overview()
        .workers.filter(({ id, name }) => matches(wanted, id) || matches(wanted, name))
        .filter(({ id }) => (isDrained ? operator.drainWorker(id) : operator.undrainWorker(id)))
        .map(({ id }) => ({ scheduler, worker: id })),
    )
    if (workers.length === 0) {
      const known = this.#schedulersOf(query).flatMap(([, operator]) => operator.overview().workers.map(({ id }) => id))
      throw notFound(`worker ${wanted}${isDrained ? '' : ' that was drained here'}`, known)
    }
    const what = `an operator ${isDrained ? 'drained a worker' : 'ended the drain of a worker'}`
    for (const drained of workers) this.#log.info(what, { ...drained, ...by })
    return { workers: workers.map(({ worker }) => worker), isDrained }
  }

  /** Those with workers here; only the named one if the query names one. */
  #schedulersOf(query: URLSearchParams): readonly (readonly [string, SchedulerOperator])[] {
    const name = query.get('scheduler') ?? ''
    if (name !== '' && !this.schedulers.has(name)) throw notFound(`scheduler ${name}`, [...this.schedulers.keys()])
    const asked = [...this.schedulers].filter(([one]) => name === '' || one === name)
    const found = asked.flatMap(([one, { operator }]) => (operator === undefined ? [] : [[one, operator] as const]))
    if (found.length > 0) return found
    const what = name === '' ? 'this server' : `scheduler ${name}`
    const elsewhere = asked.flatMap(([, scheduler]) => scheduler.elsewhere?.overview().elsewhere?.address ?? [])
    const where = elsewhere.length === 0 ? 'the server that has' : elsewhere.join(' or ')
    throw new StatusError('NOT_FOUND', `${what} has no workers here, ask ${where}`)
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

const WANTED = ['action', 'target', 'build', 'scope', 'caller'] as const

const wantedResults = (query: URLSearchParams): WantedResults => {
  const [by, ...more] = WANTED.filter((one) => query.has(one))
  if (by === undefined || more.length > 0)
    throw new StatusError('INVALID_ARGUMENT', `expected one of ?${WANTED.join('=..., ?')}=...`)
  const isDryRun = query.get('dry_run') === 'true'
  return { by, value: of(query, by), instance: query.get('instance') ?? '', isDryRun }
}

const DELETED: Readonly<Record<WantedResults['by'], string>> = {
  action: 'an operator deleted a result',
  target: 'an operator deleted a result',
  build: 'an operator deleted a result',
  scope: 'an operator deleted all that a scope keeps',
  caller: 'an operator revoked all that a caller wrote until now',
}

const DEFAULT_BUILDS = 50
const MAX_BUILDS = 10_000

const countsOf = ({ workers, queued, failed, elsewhere }: SchedulerOverview): object => {
  const sum = (count: (worker: SchedulerOverview['workers'][number]) => number): number =>
    workers.reduce((total, worker) => total + count(worker), 0)
  return {
    workers: workers.length,
    connected: workers.filter(({ state }) => state === 'connected').length,
    running: sum(({ running }) => running),
    places: workers.some(({ places }) => places === null) ? null : sum(({ places }) => places ?? 0),
    queued,
    failed: failed.length,
    ...(elsewhere && { elsewhere }),
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
  ['UNAUTHENTICATED', 401],
  ['PERMISSION_DENIED', 403],
  ['NOT_FOUND', 404],
  ['ABORTED', 409],
  ['FAILED_PRECONDITION', 503],
  ['UNAVAILABLE', 503],
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

const notFound = (what: string, known: readonly string[]): StatusError =>
  new StatusError('NOT_FOUND', `there is no ${what}, expected one of ${known.slice(0, 50).join(', ') || 'none'}`)
