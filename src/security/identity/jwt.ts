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
import { LruCache } from '../../base/lru-cache.js'
import { StatusError } from '../../base/status-error.js'
import type { JwtIssuer } from '../../config/config.js'
import type { Credential } from './credential.js'
import type { Identity } from './identity.js'

/** Those that prove who signed: with a secret that both sides know, this side could sign too. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519']

/** Tokens whose signature was checked are not checked again. */
const MAX_KNOWN = 10_000
const DISCOVERY_MS = 5_000

interface Known {
  readonly identity: Identity
  readonly untilMs: number
}

/** Finds the key that a token names. */
export type Keys = () => JWTVerifyGetKey

/** Checks the tokens of some issuers. */
export class JwtIssuers {
  readonly #issuers: ReadonlyMap<string, { readonly issuer: JwtIssuer; readonly keys: Keys }>
  readonly #clock: Clock
  readonly #known = new LruCache<Known>(MAX_KNOWN)

  constructor(issuers: readonly { readonly issuer: JwtIssuer; readonly keys: Keys }[], clock: Clock) {
    this.#issuers = new Map(issuers.map((one) => [one.issuer.issuer, one]))
    this.#clock = clock
  }

  /** Who has a token; undefined where it is none of these issuers'. UNAUTHENTICATED says what is wrong with one that is. */
  identify({ text: token, hash }: Credential): Identity | Promise<Identity> | undefined {
    const known = this.#known.get(hash)
    if (known !== undefined && known.untilMs > this.#clock.now()) return known.identity
    const found = this.#issuers.get(issuerOf(token) ?? '')
    return found && this.#verify(token, hash, found.issuer, found.keys)
  }

  /** Forgets what was checked with keys that are no longer those of their issuer. */
  forget(): void {
    this.#known.clear()
  }

  async #verify(token: string, hash: string, issuer: JwtIssuer, keys: Keys): Promise<Identity> {
    const payload = await verified(token, issuer, keys(), this.#clock)
    const name = payload[issuer.name_claim]
    if (typeof name !== 'string' || name === '') throw refused(`it has no text in the claim ${issuer.name_claim}`)
    const groups = groupsOf(payload[issuer.groups_claim])
    const identity: Identity = { kind: 'jwt', name, groups, claims: payload }
    const untilMs = ((payload.exp ?? 0) + issuer.clock_skew_s) * 1000
    this.#known.set(hash, { identity, untilMs }, 1)
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
    throw new StatusError('UNAVAILABLE', 'the keys of the issuer of the token cannot be had now', { cause: error })
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

const groupsOf = (claim: unknown): readonly string[] => {
  if (typeof claim === 'string') return claim.split(' ').filter((group) => group !== '')
  return Array.isArray(claim) ? claim.filter((group) => typeof group === 'string') : []
}

/** The keys that a file holds. INVALID_ARGUMENT where it holds none. */
export const readKeys = async (path: string): Promise<JWTVerifyGetKey> => {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw startFailure('jwks_file', error)
  })
  try {
    return createLocalJWKSet(JSON.parse(text) as JSONWebKeySet)
  } catch (cause) {
    throw new StatusError('INVALID_ARGUMENT', `jwks_file ${path} is no JSON Web Key Set`, { cause })
  }
}

/** The keys that are at an address. They are kept, and asked for again when a token names another. */
export const keysAt = (uri: string): JWTVerifyGetKey => createRemoteJWKSet(new URL(uri))

/** The keys of an issuer, wherever its discovery document says. It is asked when the first token comes, and again after a failure. */
export const discoveredKeys = (issuer: string): JWTVerifyGetKey => {
  let found: Promise<JWTVerifyGetKey> | undefined
  return async (header, token) => {
    found ??= discover(issuer).catch((error: unknown) => {
      found = undefined
      throw error
    })
    return (await found)(header, token)
  }
}

const discover = async (issuer: string): Promise<JWTVerifyGetKey> => {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(DISCOVERY_MS), redirect: 'error' })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  const document: unknown = await response.json()
  const isObject = typeof document === 'object' && document !== null
  const uri = isObject && 'jwks_uri' in document ? document.jwks_uri : undefined
  if (typeof uri !== 'string' || !URL.canParse(uri)) throw new Error(`${url} names no jwks_uri`)
  return keysAt(uri)
}
