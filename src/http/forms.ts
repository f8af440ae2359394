import { HttpError } from './answer.js'
import type { HttpRequest } from './request.js'

const TYPE = 'application/x-www-form-urlencoded'

/** The fields of a form that a browser sent. */
export const formOf = async (request: HttpRequest, maxBytes: number): Promise<URLSearchParams> => {
  const [type = ''] = (request.headers.get('content-type') ?? '').split(';')
  if (type.trim().toLowerCase() !== TYPE) throw new HttpError(415, `content-type ${type}: expected ${TYPE}`)
  const bytes = await request.body.bytes(maxBytes, request)
  return new URLSearchParams(bytes.toString())
}

/**
 * Refuses a form that another site's page sent, by what browsers say and pages cannot change. The address in `origin` is
 * compared if there is nothing better.
 */
export const refuseOtherSites = ({ headers, host }: HttpRequest, refused: (why: string) => HttpError): void => {
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
