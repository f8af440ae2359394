import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import type { Caller } from '../../rpc/gate.js'
import type { Certificates } from './certificate.js'
import { type Credential, readCredential, severalHeaders, unknownKind } from './credential.js'
import { ANONYMOUS, type Identity } from './identity.js'
import type { JwtIssuers } from './jwt.js'
import type { Passwords } from './passwords.js'
import type { ProxyHeader } from './proxy-header.js'
import type { Tokens } from './tokens.js'

export interface SourcesParts {
  readonly header: ProxyHeader | undefined
  /** Asked each time, because they change. */
  readonly tokens: () => readonly Tokens[]
  readonly jwt: JwtIssuers | undefined
  readonly passwords: Passwords | undefined
  readonly certificates: Certificates | undefined
}

/** Of headers that are kept: some thousand JWTs, many more tokens. */
const KNOWN_CHARACTERS = 4 * 1024 * 1024

/** Finds out who calls, by the first of these that is there: a header of a proxy, the authorization header, a certificate. */
export class IdentitySources {
  readonly #parts: SourcesParts
  /**
   * By the header. A build sends one and the same with each call, and hashing it costs more than all else that is asked about
   * it; whose it is is asked each time. Only what was right is kept: whoever guesses drives out nobody's.
   */
  readonly #credentials = new LruCache<Credential>(KNOWN_CHARACTERS)

  constructor(parts: SourcesParts) {
    this.#parts = parts
  }

  /** UNAUTHENTICATED where what is shown is wrong: it never counts as nothing. */
  identify(caller: Caller): Identity | Promise<Identity> {
    const { header, certificates } = this.#parts
    const said = header?.identify(caller)
    if (said !== undefined) return said
    const authorization = caller.metadata.get('authorization')
    if (authorization !== undefined && caller.repeats('authorization')) throw severalHeaders('authorization')
    if (typeof authorization === 'string') return this.#byAuthorization(authorization)
    const { clientCertificate } = caller
    if (certificates === undefined || clientCertificate === undefined) return ANONYMOUS
    return certificates.identify(clientCertificate)
  }

  #byAuthorization(authorization: string): Identity | Promise<Identity> {
    const known = this.#credentials.get(authorization)
    const credential = known ?? readCredential(authorization)
    const identity = credential.scheme === 'bearer' ? this.#byToken(credential) : this.#byPassword(credential)
    if (known === undefined && !(identity instanceof Promise)) {
      this.#credentials.set(authorization, credential, authorization.length)
    }
    return identity
  }

  #byPassword(credential: Credential): Identity | Promise<Identity> {
    const { passwords } = this.#parts
    if (passwords !== undefined) return passwords.identify(credential)
    throw unknownKind()
  }

  #byToken(credential: Credential): Identity | Promise<Identity> {
    const { tokens, jwt } = this.#parts
    for (const some of tokens()) {
      const identity = some.get(credential.hash)
      if (identity !== undefined) return identity
    }
    const identity = jwt?.identify(credential)
    if (identity !== undefined) return identity
    throw new StatusError('UNAUTHENTICATED', 'the bearer token is not known here')
  }
}
