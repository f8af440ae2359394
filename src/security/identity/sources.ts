import type { Caller } from '../../base/gate.js'
import { StatusError } from '../../base/status-error.js'
import type { Certificates } from './certificate.js'
import { ANONYMOUS, type Identity } from './identity.js'
import type { JwtIssuers } from './jwt.js'
import type { Passwords } from './passwords.js'
import type { ProxyHeader } from './proxy-header.js'
import { hashOf, type Tokens } from './tokens.js'

export interface SourcesParts {
  readonly header: ProxyHeader | undefined
  /** Asked each time, because they change. */
  readonly tokens: () => readonly Tokens[]
  readonly jwt: JwtIssuers | undefined
  readonly passwords: Passwords | undefined
  readonly certificates: Certificates | undefined
}

/** Finds out who calls, by the first of these that is there: a header of a proxy, the authorization header, a certificate. */
export class IdentitySources {
  readonly #parts: SourcesParts

  constructor(parts: SourcesParts) {
    this.#parts = parts
  }

  /** UNAUTHENTICATED where what is shown is wrong: it never counts as nothing. */
  identify(caller: Caller): Identity | Promise<Identity> {
    const { header, certificates } = this.#parts
    const said = header?.identify(caller)
    if (said !== undefined) return said
    const authorization = caller.metadata.get('authorization')
    if (typeof authorization === 'string') return this.#byAuthorization(authorization)
    const { clientCertificate } = caller
    if (certificates === undefined || clientCertificate === undefined) return ANONYMOUS
    return certificates.identify(clientCertificate)
  }

  #byAuthorization(authorization: string): Identity | Promise<Identity> {
    const [, scheme = '', value = ''] = /^(bearer|basic) +(\S+) *$/i.exec(authorization) ?? []
    const { passwords } = this.#parts
    if (scheme.toLowerCase() === 'bearer') return this.#byToken(value)
    if (scheme !== '' && passwords !== undefined) return passwords.identify(value)
    throw new StatusError('UNAUTHENTICATED', 'the authorization header is of no kind that is known here')
  }

  #byToken(token: string): Identity | Promise<Identity> {
    const { tokens, jwt } = this.#parts
    const hash = hashOf(token)
    for (const some of tokens()) {
      const identity = some.get(hash)
      if (identity !== undefined) return identity
    }
    const identity = jwt?.identify(token)
    if (identity !== undefined) return identity
    throw new StatusError('UNAUTHENTICATED', 'the bearer token is not known here')
  }
}
