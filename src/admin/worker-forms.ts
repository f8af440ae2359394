import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HttpError } from '../http/answer.js'
import { formOf, refuseOtherSites } from '../http/forms.js'
import { type HttpAnswer, type HttpRequest, pageRoute, type Route } from '../http/request.js'

/** A form of the status page: where it is sent, and the token that it needs to carry. */
export interface WorkerForm {
  readonly target: string
  readonly token: string
}

export type WorkerChange = 'drain' | 'undrain'

/** Makes the change, and says in the log who asked for it. Throws NOT_FOUND. */
export type ChangeWorker = (change: WorkerChange, request: HttpRequest) => void

/** A token and its name, with room for what a browser's extension adds. */
const MAX_FORM_BYTES = 1024

/**
 * Drain and undrain for people: POST, which another site can make a browser send, with the credentials that the browser
 * keeps. A form is therefore only accepted from the page of this process: with a token that belongs to the one who was
 * shown the page and to this one change.
 */
export class WorkerForms {
  readonly #path: string
  readonly #home: string
  readonly #change: ChangeWorker
  readonly #key = randomBytes(32)

  /** `path` is that of the admin service, without a slash at its end; `home` that of the page with the forms. */
  constructor(path: string, home: string, change: ChangeWorker) {
    this.#path = path
    this.#home = home
    this.#change = change
  }

  /** `identity` is that of the reader of the page; undefined if access is not restricted. */
  form(change: WorkerChange, scheduler: string, worker: string, identity: string | undefined): WorkerForm {
    const target = `${this.#pathOf(change)}?${new URLSearchParams({ scheduler, worker })}`
    return { target, token: this.#tokenOf(target, identity).toString('base64url') }
  }

  routes(): readonly Route[] {
    return (['drain', 'undrain'] as const).map((change) => ({
      ...pageRoute(this.#pathOf(change), (request) => this.#answer(change, request), 'operator', ['POST']),
      check: (request, identity) => this.#check(request, identity),
    }))
  }

  #pathOf(change: WorkerChange): string {
    return `${this.#path}/form/${change}`
  }

  async #check(request: HttpRequest, identity: string | undefined): Promise<void> {
    refuseOtherSites(request, refused)
    const form = await formOf(request, MAX_FORM_BYTES)
    const token = Buffer.from(form.get('token') ?? '', 'base64url')
    const expected = this.#tokenOf(request.target, identity)
    if (token.length !== expected.length || !timingSafeEqual(token, expected)) {
      throw refused('its token is missing, from before the last start, or of another page')
    }
  }

  async #answer(change: WorkerChange, request: HttpRequest): Promise<HttpAnswer> {
    this.#change(change, request)
    return { status: 303, headers: { location: this.#home } }
  }

  #tokenOf(target: string, identity = ''): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([target, identity]))
      .digest()
  }
}

const refused = (why: string): HttpError =>
  new HttpError(403, `the form was refused: ${why}; expected one of the status page: load it again and press there`)
