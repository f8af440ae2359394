import { HttpError } from '../http/answer.js'
import { formOf, refuseOtherSites } from '../http/forms.js'
import type { HttpAnswer, HttpRequest } from '../http/request.js'
import type { Shown } from './page.js'
import type { Sessions } from './sessions.js'

/** A JWT with many groups has some thousand characters. */
const MAX_FORM_BYTES = 32 * 1024
const MAX_BACK = 2000

export interface LoginParts {
  readonly sessions: Sessions
  /** Of the pages, with a slash at its end. */
  readonly root: string
  /** Whether browsers reach the pages over TLS only. */
  readonly isSecure: boolean
}

/** How a reader gets a session: a form takes a token, or a name and a password, and a cookie stands for it. */
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

  linkTo(back: string): string {
    return `${this.#parts.root}login?${new URLSearchParams({ back })}`
  }

  get logoutLink(): string {
    return `${this.#parts.root}logout`
  }

  /** The form. `back` is where the reader wanted to go. */
  form(back: string, problem?: string): Shown {
    const body = (
      <>
        <h1>Log in</h1>
        {problem !== undefined && (
          <div class="note warn" role="alert">
            {problem}
          </div>
        )}
        <form class="login" method="post" action={`${this.#parts.root}login`}>
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

  end(request: HttpRequest): HttpAnswer {
    refuseOtherSites(request, refused)
    const id = cookieIn(request.headers.get('cookie'), this.#cookie)
    if (id !== undefined) this.#parts.sessions.end(id)
    return { status: 303, headers: { location: this.#parts.root, 'set-cookie': `${this.#setCookie('')}; Max-Age=0` } }
  }

  #setCookie(id: string): string {
    return `${this.#cookie}=${id}; Path=/; HttpOnly; SameSite=Strict${this.#parts.isSecure ? '; Secure' : ''}`
  }

  /** Only addresses of this server: an address that begins with two slashes is of another one. */
  #pathIn(back: string): string {
    return back.length <= MAX_BACK && /^\/(?![/\\])[!-~]*$/.test(back) ? back : this.#parts.root
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
