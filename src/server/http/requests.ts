import { StatusError } from '../../base/status-error.js'
import { turnMs } from '../../base/turn-clock.js'
import { answerOf, HttpError, textAnswer } from '../../http/answer.js'
import type { AnswerRules, HttpAnswer, Route } from '../../http/request.js'
import { UPLOAD_BYTES } from '../../ledger/kinds.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Log } from '../../log/log.js'
import type { Gate } from '../../rpc/gate.js'
import type { RequestRecords } from '../../rpc/request-records.js'
import { type Span, type Tracer, traceContextOf } from '../../rpc/trace.js'
import type { InFlight } from '../../work/in-flight.js'
import type { Exchange } from './exchange.js'
import { CheckedAnswer } from './head.js'
import { type HttpMeters, UNCOUNTED_HTTP } from './meter.js'
import { pathOf, Request } from './request.js'
import { methodsOf, Router, takes } from './router.js'

/** A longer target is refused: no key of a build tool is longer. */
const MAX_TARGET = 4096
const ARRIVED = Promise.resolve()

export interface RequestsParts {
  readonly log: Log
  /** Counts the requests in progress. */
  readonly inFlight: InFlight
  /** The share of requests, 0 to 1, whose log line is at level info instead of debug. */
  readonly shownShare: number
  readonly gate: Gate | undefined
  readonly meters?: HttpMeters | undefined
  readonly tracer?: Tracer | undefined
  /** Receives what became of requests about actions. */
  readonly records?: RequestRecords | undefined
}

/** The requests of a listener other than gRPC, over all versions of HTTP. */
export class HttpRequests {
  readonly #router: Router
  readonly #parts: RequestsParts
  #gate: Gate | undefined

  constructor(routes: readonly Route[], parts: RequestsParts) {
    this.#router = new Router(routes)
    this.#parts = parts
    this.#gate = parts.gate
  }

  /** Adds routes, in place of those with the same paths. */
  serve(routes: readonly Route[], gate: Gate | undefined): void {
    this.#router.add(routes)
    this.#gate = gate
  }

  get routes(): readonly Route[] {
    return this.#router.routes
  }

  has(target: string): boolean {
    return this.#router.has(pathOf(target))
  }

  /** Answers a request: by its route, or with `refusal`. Resolves when the answer was sent; never rejects. */
  answer(exchange: Exchange, refusal?: HttpAnswer): Promise<void> {
    const answered = this.#answer(exchange, refusal)
    this.#parts.inFlight.during(answered)
    return answered
  }

  async #answer(exchange: Exchange, refusal: HttpAnswer | undefined): Promise<void> {
    const startedMs = turnMs()
    const { log, records, shownShare } = this.#parts
    const request = new Request(exchange, { log, gate: this.#gate, records })
    let answer: CheckedAnswer
    let failure: StatusError | undefined
    try {
      // The parser passes on a short body before anything that waits goes on. Then it is read in one piece.
      if (exchange.bodyBytes !== 0) await ARRIVED
      answer = CheckedAnswer.of(refusal ?? (await this.#handle(request, exchange)), request.answers)
    } catch (thrown) {
      failure = StatusError.from(thrown)
      answer = refusing(failure, request.answers)
    }
    let sentBytes = 0
    try {
      sentBytes = await exchange.send(answer)
    } catch (thrown) {
      failure ??= StatusError.from(thrown)
    }
    const { route } = request
    if (route !== undefined)
      (this.#parts.meters?.(route) ?? UNCOUNTED_HTTP).ended(exchange.method, answer.status, startedMs)
    request.span?.end(answer.status >= 500 ? failure : undefined, { 'http.response.status_code': answer.status })
    const line = () => ({
      ...request.line,
      ...{ status: answer.status, ms: Math.round((turnMs() - startedMs) * 10) / 10, sentBytes },
      ...(failure && { reason: failure.message }),
    })
    if (answer.status === 500) log.error('could not answer an HTTP request', { ...line(), error: failure })
    else if (shownShare > 0 && Math.random() < shownShare) log.info('call', { ...line(), share: shownShare })
    else log.debug('call', line)
  }

  #handle(request: Request, exchange: Exchange): HttpAnswer | Promise<HttpAnswer> {
    const { method, target } = exchange
    if (target.length > MAX_TARGET) return textAnswer(414, `the path is longer than ${MAX_TARGET} characters\n`)
    const found = this.#router.at(request.path)
    if (found === undefined) return textAnswer(404, 'not found\n')
    request.answers = found.routes[0].answers
    const fitting = found.routes.find((route) => takes(route, method))
    if (fitting === undefined) {
      const allowed = methodsOf(found)
      return textAnswer(405, `only ${allowed.join(' and ')}\n`, { allow: allowed.join(', ') })
    }
    const { path } = fitting
    request.route = path
    request.answers = fitting.answers
    request.rest = found.rest
    request.span = this.#parts.tracer && spanOf(this.#parts.tracer, path, exchange)
    const { held, bodyBytes } = exchange
    if (held === undefined || bodyBytes === 0) return admitted(request, fitting)
    return withUpload(held, () => admitted(request, fitting))
  }
}

/** An error may carry headers too. */
const refusing = (failure: StatusError, rules: AnswerRules | undefined): CheckedAnswer => {
  try {
    return CheckedAnswer.of(answerOf(failure), rules)
  } catch {
    return CheckedAnswer.of(textAnswer(500, 'internal error\n'), rules)
  }
}

/** Most callers are identified at once: a promise for them would cost each request two turns. */
const admitted = (request: Request, { access, check, handler }: Route): Promise<HttpAnswer> => {
  const identified = access === 'open' ? undefined : request.identify(access, undefined, check)
  return identified instanceof Promise ? identified.then(() => handler(request)) : handler(request)
}

/** Counts the memory of a request with a body. */
const withUpload = async ({ ledger, holder }: HeldFor, work: () => Promise<HttpAnswer>): Promise<HttpAnswer> => {
  const reservation = ledger.kinds.uploads.reserve(holder, UPLOAD_BYTES)
  if (reservation === undefined) throw new HttpError(503, 'the server has too many open uploads: try again later')
  try {
    return await work()
  } finally {
    reservation.release()
  }
}

/** Named by the convention of OpenTelemetry: method and route. */
const spanOf = (tracer: Tracer, route: string, { method, caller }: Exchange): Span | undefined => {
  const attributes = { 'http.request.method': method, 'http.route': route, 'client.address': caller.peer }
  return tracer.begin(`${method} ${route}`, { parent: traceContextOf(caller.metadata), isServer: true, attributes })
}
