import { readFile } from 'node:fs/promises'
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  decodeJwt,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose'
import type { Clock } from '../../base/clock.js'
import { startFailure } from '../../base/errno.js'
import { StatusError } from '../../base/status-error.js'
import type { JwtIssuer } from '../../config/config.js'
import type { Credential } from './credential.js'
import type { Identity } from './identity.js'
import { VerifiedCredentials } from './verified-credentials.js'

/** Asymmetric algorithms only: with a shared secret, this server could sign tokens itself. */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
]

/** Bound on the cache of verified tokens. */
const MAX_KNOWN = 10_000
const DISCOVERY_MS = 5_000

/** Finds the key for a token. */
export type Keys = () => JWTVerifyGetKey

/** Verifies the tokens of the configured issuers. */
export class JwtIssuers {
  /** Clear them after the keys of an issuer have changed. */
  readonly verified: VerifiedCredentials
  readonly #issuers: ReadonlyMap<string, { readonly issuer: JwtIssuer; readonly keys: Keys }>
  readonly #clock: Clock

  constructor(issuers: readonly { readonly issuer: JwtIssuer; readonly keys: Keys }[], clock: Clock) {
    this.#issuers = new Map(issuers.map((one) => [one.issuer.issuer, one]))
    this.#clock = clock
    this.verified = new VerifiedCredentials(MAX_KNOWN, clock)
  }

  /**
   * The identity of a token; undefined if no configured issuer issued it. UNAUTHENTICATED says what is wrong with a
   * token.
   */
  identify(credential: Credential): Identity | Promise<Identity> | undefined {
    const known = this.verified.identify(credential)
    if (known !== undefined) return known
    const found = this.#issuers.get(issuerOf(credential.text) ?? '')
    return found && this.#verify(credential, found.issuer, found.keys)
  }

  async #verify({ text: token, hash }: Credential, issuer: JwtIssuer, keys: Keys): Promise<Identity> {
    const add = this.verified.adding()
    const payload = await verified(token, issuer, keys(), this.#clock)
    const name = payload[issuer.name_claim]
    if (typeof name !== 'string' || name === '') throw refused(`its claim ${issuer.name_claim} is not a text`)
    const groups = groupsOf(payload[issuer.groups_claim])
    const identity: Identity = { kind: 'jwt', name, groups, claims: payload }
    const untilMs = ((payload.exp ?? 0) + issuer.clock_skew_s) * 1000
    add({ hash, identity, untilMs })
    return identity
  }
}

const verified = async (
  token: string,
  { issuer, audiences, clock_skew_s: clockTolerance }: JwtIssuer,
  keys: JWTVerifyGetKey,
  clock: Clock,
): Promise<JWTPayload> => {
  try {
    const audience = [...audiences]
    const options = { issuer, audience, clockTolerance, algorithms: ALGORITHMS, currentDate: new Date(clock.now()) }
    const { payload } = await jwtVerify(token, keys, { ...options, requiredClaims: ['exp'] })
    return payload
  } catch (error) {
    if (error instanceof StatusError) throw error
    if (error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout)) throw refused(error.message)
    throw new StatusError('UNAVAILABLE', 'the keys of the issuer of the token cannot be fetched now', { cause: error })
  }
}

const refused = (reason: string): StatusError =>
  new StatusError('UNAUTHENTICATED', `the bearer token is not accepted: ${reason}`)

const issuerOf = (token: string): string | undefined => {
  try {
    return decodeJwt(token).iss
  } catch (error) {
    if (error instanceof errors.JWTInvalid) return undefined
    throw error
  }
}

export const groupsOf = (claim: unknown): readonly string[] => {
  if (typeof claim === 'string') return claim.split(' ').filter((group) => group !== '')
  return Array.isArray(claim) ? claim.filter((group) => typeof group === 'string') : []
}

/** Reads the keys in a file. INVALID_ARGUMENT if it is not a JSON Web Key Set. */
export const readKeys = async (path: string): Promise<JWTVerifyGetKey> => {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw startFailure('jwks_file', error)
  })
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet)
  } catch (cause) {
    throw new StatusError('INVALID_ARGUMENT', `jwks_file ${path} is not a JSON Web Key Set`, { cause })
  }
}

/** How often the keys of an issuer are fetched, because a key may leave at any time. */
export const KEYS_PERIOD_MS = 5 * 60_000

/** The keys at a URL. They are cached, and fetched again when a token names another key, and from time to time. */
export class RemoteKeys {
  /** Called when keys are no longer what they were. */
  onChange = (): void => {}
  readonly #keys: ReturnType<typeof createRemoteJWKSet>
  #seen: string | undefined

  constructor(uri: string) {
    this.#keys = createRemoteJWKSet(new URL(uri))
  }

  readonly find: JWTVerifyGetKey = async (header, token) => {
    try {
      return await this.#keys(header, token)
    } finally {
      this.#compare()
    }
  }

  /** Fetches them again if they were fetched before. */
  async renew(): Promise<void> {
    if (this.#seen === undefined) return
    await this.#keys.reload()
    this.#compare()
  }

  #compare(): void {
    const keys = this.#keys.jwks()?.keys
    if (keys === undefined) return
    const now = JSON.stringify(keys)
    const hasChanged = this.#seen !== undefined && this.#seen !== now
    this.#seen = now
    if (hasChanged) this.onChange()
  }
}

/**
 * The keys at the URL in the discovery document of an issuer. Fetched at the first token, and again after a failure.
 */
export const discoveredKeys = (issuer: string, keysAt: (uri: string) => RemoteKeys): JWTVerifyGetKey => {
  let found: Promise<RemoteKeys> | undefined
  return async (header, token) => {
    found ??= discover(issuer, keysAt).catch((error: unknown) => {
      found = undefined
      throw error
    })
    return (await found).find(header, token)
  }
}

const discover = async (issuer: string, keysAt: (uri: string) => RemoteKeys): Promise<RemoteKeys> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(DISCOVERY_MS), redirect: 'error' })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const document: unknown = await response.json()
  const isObject = typeof document === 'object' && document !== null
  const uri = isObject && 'jwks_uri' in document ? document.jwks_uri : undefined
  if (typeof uri !== 'string' || !URL.canParse(uri)) throw new Error(`${url} names no jwks_uri`)
  return keysAt(uri)
}
