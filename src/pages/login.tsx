import { StatusError } from '../base/status-error.js'
import { HttpError } from '../http/answer.js'
import { formOf, refuseOtherSites } from '../http/forms.js'
import type { HttpAnswer, HttpRequest } from '../http/request.js'
import { type LocalPath, localPath } from './local-path.js'
import type { LoginProvider } from './login-provider.js'
import type { Shown } from './page.js'
import type { Sessions } from './sessions.js'

/** A JWT with many groups has some thousand characters. */
const MAX_FORM_BYTES = 32 * 1024
/** How long a reader may take at the identity provider. */
const PROVIDER_S = 600

export interface LoginParts {
  readonly sessions: Sessions
  /** Of the pages, with a slash at its end. */
  readonly root: string
  /** Whether browsers reach the pages over TLS only. */
  readonly isSecure: boolean
  /** The scheme and host by which browsers reach the pages; undefined if nobody said it. */
  readonly origin: string | undefined
  /** Undefined if there is none. */
  readonly provider: () => LoginProvider | undefined
  /** Whether there are tokens or passwords to type. */
  readonly hasForm: boolean
  readonly sessionMs: number
}

/** How a reader gets a session: by a form that takes a token or a password, or by an identity provider. */
export class Login {
  readonly #parts: LoginParts
  readonly #cookie: string

  constructor(parts: LoginParts) {
    this.#parts = parts
    // Browsers take this prefix over TLS only, and no other host can set such a cookie.
    this.#cookie = parts.isSecure ? '__Host-remexec' : 'remexec'
  }

  /** The authorization that the cookie of a request stands for. A header of the request itself goes before it. */
  authorizationOf({ headers }: HttpRequest): string | undefined {
    const id = headers.has('authorization') ? undefined : cookieIn(headers.get('cookie'), this.#cookie)
    return id === undefined ? undefined : this.#parts.sessions.find(id)
  }

  /** Whether the browser sent the cookie of a session, which it keeps back if another site led here. */
  hasCookie({ headers }: HttpRequest): boolean {
    return cookieIn(headers.get('cookie'), this.#cookie) !== undefined
  }

  linkTo(back: string): string {
    return `${this.#parts.root}login?${new URLSearchParams({ back })}`
  }

  get logoutLink(): string {
    return `${this.#parts.root}logout`
  }

  /** The form, and the link to the identity provider. `back` is where the reader wanted to go. */
  form(back: string, problem?: string): Shown {
    const { root, hasForm } = this.#parts
    const provider = this.#provider
    const body = (
      <div class="doors">
        <h1>Log in</h1>
        {problem !== undefined && (
          <div class="note warn" role="alert">
            {problem}
          </div>
        )}
        {provider !== undefined && (
          <a class="button" href={`${root}login/provider?${new URLSearchParams({ back: this.#pathIn(back) })}`}>
            {`Log in with ${provider.label}`}
          </a>
        )}
        {provider !== undefined && hasForm && <p class="or">or</p>}
        {(hasForm || provider === undefined) && (
          <>
            <form class="login" method="post" action={`${root}login`}>
              <input type="hidden" name="back" value={this.#pathIn(back)} />
              <label>
                Name (leave it empty for a token)
                <input name="name" autocomplete="username" autocapitalize="none" spellcheck={false} />
              </label>
              <label>
                Password or token
                <input name="secret" type="password" autocomplete="current-password" required />
              </label>
              <button type="submit">Log in</button>
            </form>
            <p class="dim small">
              Programs send the same in the header authorization: a token as Bearer, a name and a password as Basic.
            </p>
          </>
        )}
      </div>
    )
    return { title: 'Log in', body, status: 401 }
  }

  /** Checks what the form says, with the same rules and the same limit of guesses as a header. */
  async begin(request: HttpRequest): Promise<HttpAnswer | { readonly problem: string; readonly back: string }> {
    refuseOtherSites(request, refused)
    const form = await formOf(request, MAX_FORM_BYTES)
    const [name = '', secret = ''] = [form.get('name'), form.get('secret')].map((text) => (text ?? '').trim())
    const back = this.#pathIn(form.get('back') ?? '')
    if (secret === '' || /[\s:]/.test(name)) return { problem: 'Type a token, or a name and a password.', back }
    const authorization =
      name === '' ? `Bearer ${secret}` : `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`
    await request.identify('caller', authorization)
    const id = this.#parts.sessions.begin(authorization)
    return { status: 303, headers: { location: back, 'set-cookie': this.#setCookie(id), 'cache-control': 'no-store' } }
  }

  /** Sends the browser to the identity provider. */
  async toProvider({ query }: HttpRequest): Promise<HttpAnswer> {
    const back = this.#pathIn(query.get('back') ?? '')
    const { location, sealed } = await this.#existing.begin({ back, redirectUri: this.#redirectUri })
    // Lax: the provider's answer comes from another site.
    const cookie = `${this.#cookie}-login=${sealed}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${PROVIDER_S}${this.#secure}`
    return { status: 303, headers: { location, 'set-cookie': cookie, 'cache-control': 'no-store' } }
  }

  /** Takes the answer of the identity provider. */
  async fromProvider(request: HttpRequest): Promise<Shown> {
    const { authorization, back } = await this.#existing.complete({
      redirectUri: this.#redirectUri,
      answer: request.query,
      sealed: cookieIn(request.headers.get('cookie'), `${this.#cookie}-login`),
      lastsMs: this.#parts.sessionMs,
    })
    await request.identify('caller', authorization)
    const id = this.#parts.sessions.begin(authorization)
    // A redirect would still count as one of the provider's site, and the browser would keep the new cookie back.
    const next = this.#pathIn(back)
    const body = (
      <div class="doors">
        <h1>You are logged in</h1>
        <p>
          <a href={next}>Go on</a>
        </p>
      </div>
    )
    return { title: 'Logged in', body, next, headers: { 'set-cookie': this.#setCookie(id) } }
  }

  end(request: HttpRequest): HttpAnswer {
    refuseOtherSites(request, refused)
    const id = cookieIn(request.headers.get('cookie'), this.#cookie)
    if (id !== undefined) this.#parts.sessions.end(id)
    return { status: 303, headers: { location: this.#parts.root, 'set-cookie': `${this.#setCookie('')}; Max-Age=0` } }
  }

  get #provider(): LoginProvider | undefined {
    return this.#parts.origin === undefined ? undefined : this.#parts.provider()
  }

  get #existing(): LoginProvider {
    const provider = this.#provider
    if (provider === undefined) throw new StatusError('NOT_FOUND', 'there is no identity provider to log in with')
    return provider
  }

  get #redirectUri(): string {
    return `${this.#parts.origin}${this.#parts.root}login/callback`
  }

  get #secure(): string {
    return this.#parts.isSecure ? '; Secure' : ''
  }

  #setCookie(id: string): string {
    return `${this.#cookie}=${id}; Path=/; HttpOnly; SameSite=Strict${this.#secure}`
  }

  #pathIn(back: string): LocalPath {
    return localPath(back, this.#parts.root)
  }
}

const cookieIn = (header: string | undefined, name: string): string | undefined =>
  header
    ?.split(';')
    .map((one) => one.trim())
    .find((one) => one.startsWith(`${name}=`))
    ?.slice(name.length + 1)

const refused = (why: string): HttpError =>
  new HttpError(403, `the form was refused: ${why}; expected the form of this server: load the page again`)
