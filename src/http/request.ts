import type { LogFields } from '../log/log.js'
import type { Call } from '../rpc/call.js'
import type { Visitor } from '../rpc/gate.js'
import type { ActionOutcome } from '../rpc/request-records.js'
import type { Blob } from '../stream/blob/blob.js'

/** A request over any version of HTTP. It is also the Call of its work. */
export interface HttpRequest extends Call {
  /** In upper case. */
  readonly method: string
  /** As the client sent it, percent-encoded, with the query. */
  readonly target: string
  /** The path of the target, percent-encoded. */
  readonly path: string
  /** What follows the path of the route: empty, or a path that begins without a slash. */
  readonly rest: string
  readonly query: URLSearchParams
  /** Names in lower case. A repeated name has its first value. */
  readonly headers: ReadonlyMap<string, string>
  /**
   * Not read before it is taken: a client that waits for `100 Continue` gets it then. A handler that answers without
   * taking it need not discard it.
   */
  readonly body: Blob
  /** `host:port` of the client, or `unix`. */
  readonly peer: string
  /** The address that the client used, as it says. */
  readonly host: string | undefined
  /** Undefined if access is not restricted, and on open routes. */
  readonly visitor: Visitor | undefined
  /** The instance that the request is for, for logs and stores. */
  instanceName: string
  /**
   * Identifies the caller on an open route, which sets `visitor`, as a route with this access does. `authorization` goes in
   * place of the header that the caller did not send. `check` runs for operators.
   */
  identify(
    access: Exclude<Access, 'open'>,
    authorization?: string,
    check?: HttpCheck,
  ): Visitor | undefined | Promise<Visitor | undefined>
  /** Records what became of a request about an action, in the instance that the request is for. */
  record(outcome: ActionOutcome): void
  /** Adds fields to the log line of this request. */
  note(fields: LogFields): void
}

export interface HttpAnswer {
  readonly status: number
  /** Names in lower case. `content-length` is added if the length is known. */
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as fast as the client reads. The answer to HEAD has its length and not its bytes. */
  readonly body?: Blob
}

/** Throws a StatusError, or rejects with it, if it cannot answer; `answerOf` makes it an answer. */
export type HttpHandler = (request: HttpRequest) => Promise<HttpAnswer>

/** Throws if it refuses a request. `identity` is that of the caller; undefined if access is not restricted. */
export type HttpCheck = (request: HttpRequest, identity: string | undefined) => Promise<void>

/**
 * Who may use a route. `open`: everybody, without being identified. `operator`: callers with the permission
 * `administer`. `caller`: identified callers; the handler asks `visitor` for permissions.
 */
export type Access = 'open' | 'operator' | 'caller'

/** What holds for all answers of a route, errors too, whatever its handler says. */
export interface AnswerRules {
  /** In place of those of the handler. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** Types that a handler may give, without parameters. Any other is sent as bytes: `application/octet-stream`. */
  readonly contentTypes: ReadonlySet<string>
}

export interface Route {
  /** GET answers HEAD too. Undefined for all methods. */
  readonly methods: readonly string[] | undefined
  /** Begins with a slash. */
  readonly path: string
  /** Whether the route also has all paths below `path`. The longest route wins. */
  readonly isTree: boolean
  readonly access: Access
  readonly handler: HttpHandler
  /** For operators: refuses requests that did not come from where they should. The audit log has its errors as refusals. */
  readonly check?: HttpCheck
  readonly answers?: AnswerRules
  /**
   * Of a tree whose path other trees have too: it takes requests whose `rest` matches, and those whose method the others do not take.
   * Without it a tree takes all requests.
   */
  readonly claims?: RegExp
}

/** A route for one path. */
export const pageRoute = (path: string, handler: HttpHandler, access: Access, methods = ['GET']): Route => ({
  ...{ methods, path, access, handler },
  isTree: false,
})

/** A route for a path and everything below it. */
export const treeRoute = (path: string, handler: HttpHandler, access: Access, methods?: readonly string[]): Route => ({
  ...{ methods, path, access, handler },
  isTree: true,
})
