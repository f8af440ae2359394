import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HttpError } from '../http/answer.js'
import { formOf, refuseOtherSites } from '../http/forms.js'
import { type HttpAnswer, type HttpRequest, pageRoute, type Route } from '../http/request.js'

/** A form of a page: where it is sent, and the token that it needs to carry. */
export interface OperatorForm {
  readonly target: string
  readonly token: string
}

const CHANGES = ['drain', 'undrain', 'drop-scope'] as const

export type OperatorChange = (typeof CHANGES)[number]

/** Makes the change, and says in the log who asked for it. Throws NOT_FOUND. Returns the address of the page to show then. */
export type MakeChange = (change: OperatorChange, request: HttpRequest) => Promise<string>

/** A token and its name, with room for what a browser's extension adds. */
const MAX_FORM_BYTES = 1024

/**
 * Changes by people: drain, undrain, drop what a scope keeps. POST, which another site can make a browser send, with the credentials that the browser
 * keeps. A form is therefore only accepted from the page of this process: with a token that belongs to the one who was
 * shown the page and to this one change.
 */
export class OperatorForms {
  readonly #path: string
  readonly #change: MakeChange
  readonly #key = randomBytes(32)

  /** `path` is that of the admin service, without a slash at its end. */
  constructor(path: string, change: MakeChange) {
    this.#path = path
    this.#change = change
  }

  /** `identity` is that of the reader of the page; undefined if access is not restricted. */
  form(change: OperatorChange, about: Readonly<Record<string, string>>, identity: string | undefined): OperatorForm {
    const target = `${this.#pathOf(change)}?${new URLSearchParams(about)}`
    return { target, token: this.#tokenOf(target, identity).toString('base64url') }
  }

  routes(): readonly Route[] {
    return CHANGES.map((change) => ({
      ...pageRoute(this.#pathOf(change), (request) => this.#answer(change, request), 'operator', ['POST']),
      check: (request, identity) => this.#check(request, identity),
    }))
  }

  #pathOf(change: OperatorChange): string {
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

  async #answer(change: OperatorChange, request: HttpRequest): Promise<HttpAnswer> {
    const location = await this.#change(change, request)
    return { status: 303, headers: { location } }
  }

  #tokenOf(target: string, identity = ''): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([target, identity]))
      .digest()
  }
}

const refused = (why: string): HttpError =>
  new HttpError(403, `the form was refused: ${why}; expected one of the status page: load it again and press there`)
