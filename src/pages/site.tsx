import type { Clock } from '../base/clock.js'
import { codeName, isStatus, StatusError } from '../base/status-error.js'
import { HttpError, jsonAnswer, statusOf } from '../http/answer.js'
import { type HttpAnswer, type HttpHandler, type HttpRequest, type Route, treeRoute } from '../http/request.js'
import { pageAnswer, type ReaderParts } from './layout.js'
import { localPath } from './local-path.js'
import { Login } from './login.js'
import type { LoginProvider } from './login-provider.js'
import { ANONYMOUS, isShown, type Page, type Shown, Visit } from './page.js'
import { Sessions } from './sessions.js'

export interface SiteParts {
  /** Of all pages; begins with a slash. */
  readonly path: string
  readonly menu: readonly SiteEntry[]
  /** Whether browsers reach the pages over TLS only. */
  readonly isSecure: boolean
  /** The scheme and host by which browsers reach the pages; undefined if nobody said it. */
  readonly origin: string | undefined
  /** Undefined if readers cannot log in with one. */
  readonly provider: () => LoginProvider | undefined
  /** Whether there are tokens or passwords to log in with. */
  readonly hasForm: boolean
  /** How long a reader stays logged in. */
  readonly sessionMs: number
  readonly version: string
  readonly clock: Clock
}

export interface SiteEntry {
  readonly title: string
  readonly address: string
  /** Whether only operators may see its page. */
  readonly isForOperators: boolean
}

/** Longer words of an error are cut. */
const MAX_WORDS = 2000

/** The pages of a server: one route for all of them, with their layout, their errors and the session of the reader. */
export class Site {
  readonly #parts: SiteParts
  readonly #root: string
  readonly #login: Login
  /** Those that answer while the server starts. */
  #early: readonly Page[] = []
  #pages: readonly Page[] | undefined

  constructor(parts: SiteParts) {
    this.#parts = parts
    this.#root = parts.path.endsWith('/') ? parts.path : `${parts.path}/`
    const sessions = new Sessions(parts.sessionMs, parts.clock)
    this.#login = new Login({ ...parts, sessions, root: this.#root })
  }

  /** Adds pages that answer from now on, while others are not ready. */
  serveEarly(pages: readonly Page[]): void {
    this.#early = pages
  }

  /** Begins to answer. Of the pages, the first whose address fits is taken. */
  serve(pages: readonly Page[]): void {
    this.#pages = pages
  }

  /** The link to an address below the path of the pages. */
  linkTo(address: string): string {
    return `${this.#root}${address}`
  }

  /** `open`: the site identifies its readers itself, because a browser that is refused needs the form. */
  routes(): readonly Route[] {
    return [treeRoute(this.#parts.path, (request) => this.#answer(request), 'open', ['GET', 'POST'])]
  }

  /** A handler of a page for operators, for readers who logged in by the form too. */
  forOperators({ handler, check }: Route): HttpHandler {
    return async (request) => {
      try {
        await request.identify('operator', this.#login.authorizationOf(request), check)
        return await handler(request)
      } catch (thrown) {
        return this.#failed(thrown, request, false)
      }
    }
  }

  async #answer(request: HttpRequest): Promise<HttpAnswer> {
    let hasSession = false
    try {
      if (request.method === 'POST') return await this.#post(request)
      const authorization = this.#login.authorizationOf(request)
      hasSession = authorization !== undefined
      await request.identify('caller', authorization)
      return await this.#get(request, authorization)
    } catch (thrown) {
      return this.#failed(thrown, request, hasSession)
    }
  }

  async #get(request: HttpRequest, authorization: string | undefined): Promise<HttpAnswer> {
    const hasSession = authorization !== undefined
    const { address, isForProgram } = askedFor(request)
    if (address === 'login')
      return this.#shown({ ...this.#login.form(request.query.get('back') ?? ''), status: 200 }, request, hasSession)
    if (address === 'login/provider') return this.#login.toProvider(request)
    if (address === 'login/callback') return this.#fromProvider(request)
    const found = this.#pageAt(address, this.#early) ?? this.#pageAt(address, this.#pages ?? [])
    if (found === undefined && this.#pages === undefined)
      throw new StatusError('UNAVAILABLE', 'the server is starting: load the page again')
    if (found === undefined) throw new StatusError('NOT_FOUND', 'there is no page at this address')
    const { page, groups } = found
    if (page.access === 'operator') await request.identify('operator', authorization)
    const [nowMs, origin] = [this.#parts.clock.now(), this.#origin(request)]
    const visit = new Visit(request, groups, { root: this.#root, nowMs, origin, isForProgram })
    const answer = await page.show(visit)
    if (!isShown(answer)) return answer
    return isForProgram ? jsonPage(answer) : this.#shown(answer, request, hasSession)
  }

  #origin({ host = 'localhost' }: HttpRequest): string {
    const { origin, isSecure } = this.#parts
    return origin ?? `${isSecure ? 'https' : 'http'}://${host}`
  }

  async #fromProvider(request: HttpRequest): Promise<HttpAnswer> {
    try {
      return this.#shown(await this.#login.fromProvider(request), request, true)
    } catch (thrown) {
      const error = StatusError.from(thrown)
      if (!isStatus(error, 'UNAUTHENTICATED')) throw error
      request.note({ reason: error.message })
      return this.#shown(this.#login.form('', error.message), request, false)
    }
  }

  #pageAt(address: string, pages: readonly Page[]) {
    for (const page of pages) {
      const match = page.address.exec(address)
      if (match !== null) return { page, groups: match.groups ?? {} }
    }
    return undefined
  }

  async #post(request: HttpRequest): Promise<HttpAnswer> {
    if (request.rest === 'logout') return this.#login.end(request)
    if (request.rest !== 'login') throw new HttpError(405, 'only GET and HEAD', { allow: 'GET, HEAD' })
    const begun = await this.#login.begin(request)
    return 'problem' in begun ? this.#shown(this.#login.form(begun.back, begun.problem), request, false) : begun
  }

  /** The words of an error as a page. What only the log may know is thrown on. */
  #failed(thrown: unknown, request: HttpRequest, hasSession: boolean): HttpAnswer {
    const error = StatusError.from(thrown)
    const status = statusOf(error)
    if (status === undefined || status === 499) throw error
    request.note({ reason: error.message })
    if (wantsJson(request)) return jsonFailure(error, status)
    if (status === 401) return this.#unauthenticated(error, request)
    const words = error.message.length > MAX_WORDS ? `${error.message.slice(0, MAX_WORDS)}…` : error.message
    const title = TITLES.get(status) ?? 'Not possible now'
    const body = (
      <>
        <h1>{title}</h1>
        <p>{words}</p>
        <p class="dim small">
          {status}, {codeName(error.code)}
        </p>
      </>
    )
    return this.#shown({ title, body, status }, request, hasSession)
  }

  #unauthenticated(error: StatusError, request: HttpRequest): HttpAnswer {
    // A link on another site: the browser keeps the cookie back. The second request is from this site.
    const isFollowed = request.headers.get('sec-fetch-site') === 'cross-site' && !this.#login.hasCookie(request)
    const back = localPath(request.method === 'GET' ? request.target : this.#root, this.#root)
    const form = this.#login.form(back, error.message)
    return this.#shown({ ...form, ...(isFollowed && { next: back }) }, request, false)
  }

  #shown(shown: Shown, request: HttpRequest, hasSession: boolean): HttpAnswer {
    const { status = 200, isLive, headers } = shown
    const { version } = this.#parts
    const isOperator = request.visitor?.isOperator ?? true
    const menu = this.#parts.menu
      .filter(({ isForOperators }) => isOperator || !isForOperators)
      .map(({ title, address }) => ({ title, link: this.linkTo(address) }))
    const reader = this.#readerOf(request, hasSession)
    const current = menu.find(({ link }) => link === request.path)?.link
    const live = isLive === undefined ? undefined : { isOn: isLive, link: liveLink(request, !isLive) }
    const challenge = status === 401 && CHALLENGE
    return pageAnswer(status, { ...shown, live, menu, current, reader, version }, { ...headers, ...challenge })
  }

  #readerOf({ visitor, target, method }: HttpRequest, hasSession: boolean): ReaderParts | undefined {
    if (visitor === undefined) return undefined
    const isAnonymous = visitor.identity === ANONYMOUS
    return {
      identity: visitor.identity,
      login: isAnonymous && method === 'GET' ? this.#login.linkTo(target) : undefined,
      logout: hasSession ? this.#login.logoutLink : undefined,
    }
  }
}

/** A live page is live unless its address says `live=off`. */
const liveLink = ({ path, query }: HttpRequest, isOn: boolean): string => {
  const changed = new URLSearchParams(query)
  changed.delete('live')
  if (!isOn) changed.set('live', 'off')
  return changed.size === 0 ? path : `${path}?${changed}`
}

const TITLES: ReadonlyMap<number, string> = new Map([
  [400, 'This address is not right'],
  [403, 'Not for you'],
  [404, 'Nothing is here'],
  [405, 'This cannot be done here'],
  [429, 'Too much at once'],
])

/** The address of a page, and whether a program wants its JSON: it says so by `accept`, or by `.json` behind the address. */
const askedFor = (request: HttpRequest): { readonly address: string; readonly isForProgram: boolean } => {
  const address = addressOf(request.rest)
  // The last part of the address of a file is its name.
  const isNamed = address.endsWith(JSON_ENDING) && !/(^|\/)blobs\/[^/]+\/file\//.test(address)
  return { address: isNamed ? address.slice(0, -JSON_ENDING.length) : address, isForProgram: wantsJson(request) }
}

const JSON_ENDING = '.json'

const wantsJson = ({ rest, headers }: HttpRequest): boolean =>
  rest.endsWith(JSON_ENDING) || /^\s*application\/json\b/i.test(headers.get('accept') ?? '')

const JSON_HEADERS = { 'x-content-type-options': 'nosniff', 'cache-control': 'private, no-store', vary: 'accept' }

const jsonPage = ({ data, status = 200 }: Shown): HttpAnswer => {
  if (data === undefined) throw new HttpError(406, 'this page has no JSON')
  return jsonAnswer(status, data, JSON_HEADERS)
}

const jsonFailure = (error: StatusError, status: number): HttpAnswer =>
  jsonAnswer(
    status,
    { error: error.message.slice(0, MAX_WORDS), code: codeName(error.code) },
    { ...JSON_HEADERS, ...(status === 401 && CHALLENGE) },
  )

const CHALLENGE = { 'www-authenticate': 'Bearer realm="remexec"' }

const addressOf = (rest: string): string => {
  try {
    return decodeURIComponent(rest)
  } catch {
    throw new StatusError('INVALID_ARGUMENT', 'the address has a % that encodes nothing')
  }
}
