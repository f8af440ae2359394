import type { ComponentChildren } from 'preact'
import { StatusError } from '../base/status-error.js'
import type { HttpAnswer, HttpRequest } from '../http/request.js'
import type { Permission } from '../rpc/gate.js'
import type { LocalPath } from './local-path.js'

/** One kind of page. */
export interface Page {
  /** Matched against the decoded address below the path of the pages, without its first slash. */
  readonly address: RegExp
  /** Who is let in: identified callers if left out; `operator` is for pages about the process. */
  readonly access?: 'caller' | 'operator'
  /**
   * Answers with a page, or with an answer of its own, for example a download. Throws a StatusError if it cannot; the
   * reader sees its words. It has to check the permissions of the reader itself.
   */
  readonly show: (visit: Visit) => Promise<Shown | HttpAnswer>
}

/** The content of a page; the layout is added. */
export interface Shown {
  readonly title: string
  readonly body: ComponentChildren
  /** The same for programs, as a value of JSON; `docs/pages.schema.json` describes it. Absent for forms. */
  readonly data?: object
  /** 200 if left out. */
  readonly status?: number
  /** The content is brought up to date while the page is open, until the reader stops that. */
  readonly isLive?: boolean | undefined
  /** Where the browser goes on at once. */
  readonly next?: LocalPath | undefined
  readonly headers?: HttpAnswer['headers']
}

/** How the gate calls a caller without credentials. */
export const ANONYMOUS = 'anonymous'

export const isShown = (answer: Shown | HttpAnswer): answer is Shown => 'title' in answer

interface VisitParts {
  /** Of all pages; ends with a slash. */
  readonly root: string
  readonly nowMs: number
  readonly origin: string
  readonly isForProgram?: boolean
}

/** One request for a page. */
export class Visit {
  readonly request: HttpRequest
  /** The named groups of the address. */
  readonly named: Readonly<Record<string, string | undefined>>
  readonly nowMs: number
  /** The scheme and host by which the reader reaches the pages. */
  readonly origin: string
  /** Whether the answer is the JSON of the page: its body is not shown then. */
  readonly isForProgram: boolean
  readonly #root: string

  constructor(request: HttpRequest, named: Visit['named'], parts: VisitParts) {
    const { root, nowMs, origin, isForProgram = false } = parts
    this.request = request
    this.named = named
    this.nowMs = nowMs
    this.origin = origin
    this.isForProgram = isForProgram
    this.#root = root
  }

  get query(): URLSearchParams {
    return this.request.query
  }

  /** The link to a page: its address, which this encodes, with a query. */
  to(address: string, query: Query = {}): string {
    const path = address.split('/').map(encodeURIComponent).join('/')
    return `${this.#root}${path}${queryText(query)}`
  }

  /** The link to this page with parts of its query changed; undefined removes one. */
  here(changes: Query): string {
    const { path, query } = this.request
    return `${path}${queryText({ ...Object.fromEntries(query), ...changes })}`
  }

  /** Whether the reader may see the pages about the process. */
  get isOperator(): boolean {
    return this.request.visitor?.isOperator ?? true
  }

  /** Whether the reader has a permission in an instance. For lists; it leaves no trace in the audit log. */
  may(permission: Permission, instance: string): boolean {
    const { visitor } = this.request
    return visitor === undefined || visitor.may(permission, instance)
  }

  /** Throws UNAUTHENTICATED or PERMISSION_DENIED unless the reader has a permission in an instance. */
  demand(permission: Permission, instance: string): void {
    const { visitor, method, target, peer } = this.request
    visitor?.demand(permission, instance, { method, target }, peer)
  }

  /**
   * The error for what is not there, or not for this reader: both look alike. A reader who has not logged in is asked
   * to do so.
   */
  absent(what: string): StatusError {
    const { visitor } = this.request
    if (visitor?.identity === ANONYMOUS) return new StatusError('UNAUTHENTICATED', `${what} may need that you log in`)
    return new StatusError('NOT_FOUND', `there is no ${what}, or it is not for you`)
  }
}

type Query = Readonly<Record<string, string | number | undefined>>

const queryText = (query: Query): string => {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, String(value)] as [string, string]],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`
}
