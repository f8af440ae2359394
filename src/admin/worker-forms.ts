import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { HttpError } from '../http/answer.js'
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
const TYPE = 'application/x-www-form-urlencoded'

/**
 * Drain and undrain for people: POST, which another site can make a browser send, with the credentials that the browser
 * keeps. A form is therefore only accepted from the page of this process: with a token that belongs to the one who was
 * shown the page and to this one change.
 */
export class WorkerForms {
  readonly #path: string
  readonly #change: ChangeWorker
  readonly #key = randomBytes(32)

  /** `path` is that of the admin service, without a slash at its end. */
  constructor(path: string, change: ChangeWorker) {
    this.#path = path
    this.#change = change
  }

  /** `identity` is that of the reader of the page; undefined if access is not restricted. */
  form(change: WorkerChange, scheduler: string, worker: string, identity: string | undefined): WorkerForm {
    const target = `${this.#pathOf(change)}?${new URLSearchParams({ scheduler, worker })}`
    return { target, token: this.#tokenOf(target, identity).toString('base64url') }
  }

  routes(): readonly Route[] {
    return (['drain', 'undrain'] as const).map((change) =>
      pageRoute(this.#pathOf(change), (request) => this.#answer(change, request), 'operator', ['POST']),
    )
  }

  #pathOf(change: WorkerChange): string {
    return `${this.#path}/form/${change}`
  }

  async #answer(change: WorkerChange, request: HttpRequest): Promise<HttpAnswer> {
    refuseOtherSites(request)
    const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
    if (type.trim().toLowerCase() !== TYPE) throw new HttpError(415, `content-type ${type}: expected ${TYPE}`)
    const bytes = await request.body.bytes(MAX_FORM_BYTES, request)
    const token = Buffer.from(new URLSearchParams(bytes.toString()).get('token') ?? '', 'base64url')
    const expected = this.#tokenOf(request.target, request.visitor?.identity)
    if (token.length !== expected.length || !timingSafeEqual(token, expected)) {
      throw refused('its token is missing, from before the last start, or of another page')
    }
    this.#change(change, request)
    return { status: 303, headers: { location: '/' } }
  }

  #tokenOf(target: string, identity = ''): Buffer {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([target, identity]))
      .digest()
  }
}

/** By what browsers say and pages cannot change. The address in `origin` is compared if there is nothing better. */
const refuseOtherSites = ({ headers, host }: HttpRequest): void => {
  const site = headers.get('sec-fetch-site')
  if (site !== undefined && site !== 'same-origin') throw refused(`the browser says that it is ${site}`)
  const origin = headers.get('origin')
  if (site !== undefined || origin === undefined) return
  const from = URL.canParse(origin) ? new URL(origin).host : origin
  if (host === undefined || from !== withoutDefaultPort(host, origin))
    throw refused(`it comes from ${from}, and this is ${host}`)
}

/** As URLs write it. */
const withoutDefaultPort = (host: string, origin: string): string => {
  const url = `${origin.replace(/:.*$/s, '')}://${host}`
  return URL.canParse(url) ? new URL(url).host : host
}

const refused = (why: string): HttpError =>
  new HttpError(403, `the form was refused: ${why}; expected one of the status page: load it again and press there`)
