/**
 * Logging in with an identity provider: OpenID Connect Core 1.0, authorization code with PKCE (RFC 7636), `state`, `nonce`
 * and, if the provider sends it, `iss` (RFC 9207).
 */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import {
  createRemoteJWKSet,
  EncryptJWT,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtDecrypt,
  jwtVerify,
} from 'jose'
import type { Clock } from '../../base/clock.js'
import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import type { OidcProvider as OidcOptions } from '../../config/config.js'
import { hashOf } from './credential.js'
import type { Identity } from './identity.js'
import { ALGORITHMS, groupsOf } from './jwt.js'
import { newToken } from './tokens.js'

const PATIENCE_MS = 10_000
const MAX_ANSWER_BYTES = 1024 * 1024
/** How long a reader may take at the provider. */
const PENDING_S = 600
/** Beyond it the reader who was idle for the longest time logs in again. */
const MAX_READERS = 10_000

/** What the provider says about itself (OpenID Connect Discovery 1.0). */
interface Discovered {
  readonly authorization: string
  readonly token: string
  readonly userinfo: string | undefined
  readonly takesBasic: boolean
  readonly keys: JWTVerifyGetKey
}

/** What the browser keeps while its reader is at the provider, encrypted. */
interface Pending {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly back: string
}

interface Reader {
  readonly identity: Identity
  readonly endsMs: number
}

export interface Answered {
  readonly redirectUri: string
  readonly answer: URLSearchParams
  readonly sealed: string | undefined
  readonly lastsMs: number
}

/** Readers of pages who logged in with one identity provider. Their tokens never leave the process, and end with it. */
export class OidcLogin {
  readonly #options: OidcOptions
  readonly #clock: Clock
  readonly #key = randomBytes(32)
  /** By the hash of the token that stands for the reader. */
  readonly #readers = new LruCache<Reader>(MAX_READERS)
  #discovered: Promise<Discovered> | undefined

  constructor(options: OidcOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  get label(): string {
    return this.#options.label
  }

  /** The identity that a token of a reader stands for. */
  identityOf(tokenHash: string): Identity | undefined {
    const reader = this.#readers.get(tokenHash)
    return reader !== undefined && reader.endsMs > this.#clock.now() ? reader.identity : undefined
  }

  async begin({ redirectUri, back }: { readonly redirectUri: string; readonly back: string }) {
    const { authorization } = await this.#provider()
    const pending: Pending = { state: random(), nonce: random(), verifier: random(), back }
    const location = new URL(authorization)
    const asked = {
      response_type: 'code',
      client_id: this.#options.client_id,
      redirect_uri: redirectUri,
      scope: [...new Set(['openid', ...this.#options.scopes])].join(' '),
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: createHash('sha256').update(pending.verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(asked)) location.searchParams.set(name, value)
    return { location: location.href, sealed: await this.#seal(pending) }
  }

  /** Rejects with UNAUTHENTICATED if the provider did not identify the reader, or if this browser did not ask. */
  async complete({ redirectUri, answer, sealed, lastsMs }: Answered) {
    const pending = sealed === undefined ? undefined : await this.#opened(sealed)
    const state = answer.get('state') ?? ''
    if (pending === undefined || !isSame(state, pending.state))
      throw refused('this browser did not begin it, or too long ago: log in again')
    const issuer = answer.get('iss')
    if (issuer !== null && issuer !== this.#options.issuer) throw refused('the answer is of another provider')
    const problem = answer.get('error')
    if (problem !== null) throw refused(`the provider says ${wordOf(problem)}`)
    const code = answer.get('code')
    if (code === null) throw refused('the answer of the provider has no code')
    const provider = await this.#provider()
    const tokens = await this.#exchange(provider, { code, redirectUri, verifier: pending.verifier })
    const claims = await this.#verified(provider, tokens.id_token, pending.nonce)
    const identity = this.#identityIn(await this.#completed(provider, claims, tokens.access_token))
    const token = newToken()
    this.#readers.set(hashOf(token), { identity, endsMs: this.#clock.now() + lastsMs }, 1)
    return { authorization: `Bearer ${token}`, back: pending.back }
  }

  #seal(pending: Pending): Promise<string> {
    const nowS = Math.floor(this.#clock.now() / 1000)
    return new EncryptJWT({ ...pending })
      .setProtectedHeader({ alg: 'dir', enc: 'A256GCM' })
      .setExpirationTime(nowS + PENDING_S)
      .encrypt(this.#key)
  }

  /** Undefined if it is not of this process, or too old. */
  async #opened(sealed: string): Promise<Pending | undefined> {
    try {
      const currentDate = new Date(this.#clock.now())
      const { payload } = await jwtDecrypt<Pending>(sealed, this.#key, {
        ...{ currentDate, keyManagementAlgorithms: ['dir'], contentEncryptionAlgorithms: ['A256GCM'] },
      })
      return payload
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined
      throw error
    }
  }

  #provider(): Promise<Discovered> {
    this.#discovered ??= this.#discover().catch((error: unknown) => {
      this.#discovered = undefined
      throw error
    })
    return this.#discovered
  }

  async #discover(): Promise<Discovered> {
    const { issuer } = this.#options
    const found = await asked(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, {})
    const url = (name: string): string => {
      const value = found[name]
      if (typeof value === 'string' && /^https?:/.test(value) && URL.canParse(value)) return value
      throw new StatusError('UNAVAILABLE', `the discovery document of the identity provider has no ${name}`)
    }
    if (found['issuer'] !== issuer)
      throw new StatusError('UNAVAILABLE', 'the discovery document of the identity provider names another issuer')
    const methods = found['token_endpoint_auth_methods_supported']
    return {
      authorization: url('authorization_endpoint'),
      token: url('token_endpoint'),
      userinfo: found['userinfo_endpoint'] === undefined ? undefined : url('userinfo_endpoint'),
      takesBasic: !Array.isArray(methods) || methods.includes('client_secret_basic'),
      keys: createRemoteJWKSet(new URL(url('jwks_uri'))),
    }
  }

  async #exchange(
    { token, takesBasic }: Discovered,
    { code, redirectUri, verifier }: Readonly<Record<'code' | 'redirectUri' | 'verifier', string>>,
  ) {
    const { client_id, client_secret } = this.#options
    const isBasic = client_secret !== undefined && takesBasic
    const secret = [client_id, client_secret ?? ''].map(encodeURIComponent).join(':')
    const found = await asked(token, {
      method: 'POST',
      headers: isBasic ? { authorization: `Basic ${Buffer.from(secret).toString('base64')}` } : {},
      body: new URLSearchParams({
        ...{ grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
        ...(!isBasic && { client_id }),
        ...(!isBasic && client_secret !== undefined && { client_secret }),
      }),
    })
    const { id_token, access_token } = found
    if (typeof id_token !== 'string') throw refused('the provider gave no ID token')
    return { id_token, access_token: typeof access_token === 'string' ? access_token : undefined }
  }

  /** The claims of an ID token (OpenID Connect Core 1.0, 3.1.3.7). */
  async #verified({ keys }: Discovered, token: string, nonce: string): Promise<JWTPayload> {
    const { issuer, client_id, clock_skew_s: clockTolerance } = this.#options
    try {
      const { payload } = await jwtVerify(token, keys, {
        ...{ issuer, audience: client_id, clockTolerance, algorithms: ALGORITHMS },
        ...{ requiredClaims: ['exp', 'iat', 'sub', 'nonce'], currentDate: new Date(this.#clock.now()) },
      })
      if (!isSame(String(payload['nonce']), nonce)) throw refused('its ID token is for another login')
      const party = payload['azp']
      if (party !== undefined && party !== client_id) throw refused('its ID token is for another client')
      return payload
    } catch (error) {
      if (error instanceof StatusError) throw error
      if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) throw refused(error.message)
      throw away(error)
    }
  }

  /** With what only the userinfo endpoint says, if the ID token lacks the name or the groups. */
  async #completed({ userinfo }: Discovered, claims: JWTPayload, accessToken: string | undefined): Promise<JWTPayload> {
    const { name_claim, groups_claim } = this.#options
    const isWhole = claims[name_claim] !== undefined && claims[groups_claim] !== undefined
    if (isWhole || userinfo === undefined || accessToken === undefined) return claims
    const more = await asked(userinfo, { headers: { authorization: `Bearer ${accessToken}` } })
    if (more['sub'] !== claims.sub) throw refused('the provider told about another reader')
    return { ...more, ...claims }
  }

  #identityIn(claims: JWTPayload): Identity {
    const { name_claim, groups_claim } = this.#options
    const name = claims[name_claim]
    if (typeof name !== 'string' || name === '') throw refused(`the claim ${name_claim} is not a text`)
    return { kind: 'jwt', name, groups: groupsOf(claims[groups_claim]), claims }
  }
}

const random = (): string => randomBytes(32).toString('base64url')

const isSame = (one: string, other: string): boolean =>
  timingSafeEqual(createHash('sha256').update(one).digest(), createHash('sha256').update(other).digest())

const refused = (why: string): StatusError => new StatusError('UNAUTHENTICATED', `the login did not succeed: ${why}`)

const away = (cause: unknown): StatusError =>
  new StatusError('UNAVAILABLE', 'the identity provider does not answer now', { cause })

/** A code of an error, as RFC 6749 writes them. */
const wordOf = (text: unknown): string =>
  typeof text === 'string' && /^[\x20-\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(text) ? text : 'no known error'

/** The JSON object that an address of the provider answers with. */
const asked = async (url: string, init: RequestInit): Promise<Readonly<Record<string, unknown>>> => {
  const headers = { accept: 'application/json', ...init.headers }
  let answer: Response
  let text: string
  try {
    answer = await fetch(url, { ...init, headers, redirect: 'error', signal: AbortSignal.timeout(PATIENCE_MS) })
    text = await boundedText(answer)
  } catch (error) {
    throw away(error)
  }
  const content = jsonIn(text)
  if (answer.ok && content !== undefined) return content
  if (answer.status >= 500 || content?.['error'] === undefined)
    throw away(new Error(`${url} answered ${answer.status}`))
  throw refused(`the provider says ${wordOf(content['error'])}`)
}

const boundedText = async ({ body }: Response): Promise<string> => {
  const parts: Uint8Array[] = []
  let sizeBytes = 0
  if (body === null) return ''
  for await (const part of body as unknown as AsyncIterable<Uint8Array>) {
    sizeBytes += part.length
    if (sizeBytes > MAX_ANSWER_BYTES) throw new Error(`its answer has more than ${MAX_ANSWER_BYTES} bytes`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

const jsonIn = (text: string): Readonly<Record<string, unknown>> | undefined => {
  try {
    const content: unknown = JSON.parse(text)
    return typeof content === 'object' && content !== null ? (content as Record<string, unknown>) : undefined
  } catch {
    return undefined
  }
}
