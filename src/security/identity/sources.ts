import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import type { Caller } from '../../rpc/gate.js'
import type { Certificates } from './certificate.js'
import { type Credential, readCredential, severalHeaders, unknownKind } from './credential.js'
import { ANONYMOUS, type Identity } from './identity.js'
import type { OidcLogin } from './oidc.js'
import type { ProxyHeader } from './proxy-header.js'
import type { Tokens } from './tokens.js'

/** Checks credentials of one kind. UNAUTHENTICATED for a wrong one; undefined for one of another origin. */
export interface Checker {
  identify(credential: Credential): Identity | Promise<Identity> | undefined
}

export interface SourcesParts {
  readonly header: ProxyHeader | undefined
  /** Read for each call, because the files are reloaded. */
  readonly tokens: () => readonly Tokens[]
  /** Readers who logged in with an identity provider. */
  readonly oidc: OidcLogin | undefined
  readonly jwt: Checker | undefined
  readonly passwords: Checker | undefined
  readonly certificates: Certificates | undefined
}

/** Total length of cached headers: some thousand JWTs, or many more tokens. */
const KNOWN_CHARACTERS = 4 * 1024 * 1024

/** Identifies a caller by the first of these that is present: proxy header, authorization header, certificate. */
export class IdentitySources {
  readonly #parts: SourcesParts
  /**
   * Parsed headers. A build sends the same header with each call, and hashing it costs more than the rest of the check.
   * The identity is still looked up each time. Only correct credentials are cached, so that guessing evicts no others.
   */
  readonly #credentials = new LruCache<Credential>(KNOWN_CHARACTERS)

  constructor(parts: SourcesParts) {
    this.#parts = parts
  }

  /** UNAUTHENTICATED for wrong credentials: they never count as none. */
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
    // Browsers and many tools can send a token only as a password, under any user name.
    const { passwords, tokens } = this.#parts
    const identity = this.#byKnownToken(credential) ?? passwords?.identify(credential)
    if (identity !== undefined) return identity
    if (tokens().length === 0) throw unknownKind()
    throw new StatusError('UNAUTHENTICATED', 'the password is no token that is known here')
  }

  #byKnownToken({ tokenHash }: Credential): Identity | undefined {
    for (const some of this.#parts.tokens()) {
      const identity = some.get(tokenHash)
      if (identity !== undefined) return identity
    }
    return this.#parts.oidc?.identityOf(tokenHash)
  }

  #byToken(credential: Credential): Identity | Promise<Identity> {
    const identity = this.#byKnownToken(credential) ?? this.#parts.jwt?.identify(credential)
    if (identity !== undefined) return identity
    throw new StatusError('UNAUTHENTICATED', 'the bearer token is not known here')
  }
}
