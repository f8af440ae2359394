import type { StatusError } from '../../base/status-error.js'
import type { Access, AnswerRules, HttpCheck, HttpRequest } from '../../http/request.js'
import type { HeldFor } from '../../ledger/ledger.js'
import type { Log, LogFields } from '../../log/log.js'
import { REQUEST_METADATA } from '../../proto/request-metadata.js'
import type { Call } from '../../rpc/call.js'
import type { Caller, Gate, Visitor } from '../../rpc/gate.js'
import type { ActionOutcome, RequestRecords } from '../../rpc/request-records.js'
import type { Span } from '../../rpc/trace.js'
import { Blob } from '../../stream/blob/blob.js'
import type { Exchange } from './exchange.js'

const MAX_SHOWN_PATH = 200

interface RequestParts {
  readonly log: Log
  readonly gate: Gate | undefined
  /** Receives what became of requests about actions. */
  readonly records: RequestRecords | undefined
}

/** Without the query. A request may name the whole address (RFC 9112, 3.2.2). */
export const pathOf = (target: string): string => {
  const path = target.includes('?') || target.includes('#') ? target.replace(/[?#].*$/s, '') : target
  return path.startsWith('/') ? path : path.replace(/^https?:\/\/[^/]*/i, '') || '/'
}

/** A request as handlers see it. */
export class Request implements HttpRequest {
  readonly path: string
  readonly log: Log
  rest = ''
  /** The path of the route that answers it; undefined if there is none. */
  route: string | undefined
  /** Those of its route. */
  answers: AnswerRules | undefined
  span: Span | undefined
  instanceName = ''
  visitor: Visitor | undefined
  readonly #exchange: Exchange
  readonly #gate: Gate | undefined
  readonly #records: RequestRecords | undefined
  #body: Blob | undefined
  #query: URLSearchParams | undefined
  #notes: LogFields | undefined

  constructor(exchange: Exchange, { log, gate, records }: RequestParts) {
    this.#exchange = exchange
    this.path = pathOf(exchange.target)
    this.log = log
    this.#gate = gate
    this.#records = records
  }

  identify(
    access: Exclude<Access, 'open'>,
    authorization?: string,
    check?: HttpCheck,
  ): Visitor | undefined | Promise<Visitor | undefined> {
    if (this.#gate === undefined) return check?.(this, undefined).then(() => undefined)
    const { caller, method, target } = this.#exchange
    const checked = check && ((identity: string | undefined) => check(this, identity))
    const asking = authorization === undefined ? caller : withAuthorization(caller, authorization)
    const asked = { method, target }
    const admitted =
      access === 'operator' ? this.#gate.admitOperator(asking, asked, checked) : this.#gate.admitCaller(asking, asked)
    if (admitted instanceof Promise) return admitted.then((visitor) => this.#admit(visitor))
    return this.#admit(admitted)
  }

  #admit(visitor: Visitor): Visitor {
    this.visitor = visitor
    return visitor
  }

  get method(): string {
    return this.#exchange.method
  }

  get target(): string {
    return this.#exchange.target
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }

  whyCancelled(): StatusError | undefined {
    return this.#exchange.whyCancelled()
  }

  get peer(): string {
    return this.#exchange.caller.peer
  }

  get metadata(): Call['metadata'] {
    return this.#exchange.caller.metadata
  }

  get held(): HeldFor | undefined {
    return this.#exchange.held
  }

  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.target.replace(/^[^?]*\??/s, '').replace(/#.*$/s, ''))
    return this.#query
  }

  get headers(): ReadonlyMap<string, string> {
    return this.#exchange.headers
  }

  get body(): Blob {
    this.#body ??= this.#newBody()
    return this.#body
  }

  #newBody(): Blob {
    const { bodyBytes: sizeBytes } = this.#exchange
    if (sizeBytes === 0) return Blob.ofBytes(NOTHING)
    const bytes = this.#exchange.bodyAtHand()
    if (bytes !== undefined) return Blob.ofBytes(bytes).immutable()
    return Blob.ofFeed(this.#exchange.body(), { sizeBytes })
  }

  /** Only what an address may consist of, because a client may send anything. */
  get host(): string | undefined {
    const host = this.#exchange.headers.get('host')
    return host !== undefined && /^[\w.:[\]-]{1,255}$/.test(host) ? host : undefined
  }

  isFor(instanceName: string): void {
    this.instanceName = instanceName
  }

  record(outcome: ActionOutcome): void {
    this.#records?.add(this.instanceName, this.#exchange.headers.get(REQUEST_METADATA), {
      ...outcome,
      via: this.route ?? '',
      scope: this.visitor?.scopeIn(this.instanceName)?.name,
    })
  }

  note(fields: LogFields): void {
    this.#notes = this.#notes === undefined ? fields : { ...this.#notes, ...fields }
  }

  /** For the log. */
  get line(): LogFields {
    const { path, bodyBytes } = { path: this.path, bodyBytes: this.#exchange.bodyBytes }
    return {
      method: `${this.method} ${path.length > MAX_SHOWN_PATH ? `${path.slice(0, MAX_SHOWN_PATH)}...` : path}`,
      peer: this.peer,
      ...(this.instanceName !== '' && { instance: this.instanceName }),
      ...(bodyBytes !== 0 && { receivedBytes: bodyBytes }),
      ...(this.visitor && { identity: this.visitor.identity }),
      ...this.#notes,
    }
  }
}

const withAuthorization = ({ metadata, repeats, peer, clientCertificate }: Caller, authorization: string): Caller => ({
  metadata: new Map([...metadata, ['authorization', authorization]]),
  repeats,
  peer,
  clientCertificate,
})

const NOTHING = Buffer.alloc(0)
