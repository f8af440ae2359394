import type { Clock } from '../base/clock.js'
import { startFailure } from '../base/errno.js'
import type { Gate } from '../base/gate.js'
import type { Log } from '../base/log.js'
import { ReloadedFiles } from '../base/reloaded-files.js'
import type { Resources } from '../base/resources.js'
import type { IdentitySources as IdentityOptions, JwtIssuer, SecurityOptions } from '../config/config.js'
import { AccessRules } from './access.js'
import { type GateParts, SecurityGate } from './gate.js'
import { Certificates } from './identity/certificate.js'
import { readHtpasswd } from './identity/htpasswd.js'
import type { Identity } from './identity/identity.js'
import { discoveredKeys, JwtIssuers, type Keys, keysAt, readKeys } from './identity/jwt.js'
import { Passwords } from './identity/passwords.js'
import { ProxyHeader } from './identity/proxy-header.js'
import { IdentitySources } from './identity/sources.js'
import { hashOf, newToken, readTokens, type Tokens, tokensOf } from './identity/tokens.js'

export interface SecurityParts {
  readonly clock: Clock
  readonly log: Log
  readonly resources: Resources
}

/** Who may call the servers of the process, and what each may do, as the configuration says. */
export class Security {
  /** By which workers of this process are known to its own schedulers. Never leaves it. */
  readonly ownWorkerToken: string
  readonly #sources: IdentitySources
  readonly #rules: AccessRules

  private constructor(sources: IdentitySources, rules: AccessRules, ownWorkerToken: string) {
    this.#sources = sources
    this.#rules = rules
    this.ownWorkerToken = ownWorkerToken
  }

  /** FAILED_PRECONDITION and INVALID_ARGUMENT name the key whose file or value cannot be used. */
  static async open({ identity, access }: SecurityOptions, parts: SecurityParts): Promise<Security> {
    try {
      const ownWorkerToken = newToken()
      return new Security(await sourcesOf(identity, ownWorkerToken, parts), new AccessRules(access), ownWorkerToken)
    } catch (error) {
      throw startFailure('security.identity', error)
    }
  }

  gateOf(server: Pick<GateParts, 'services' | 'scheduler'>): Gate {
    return new SecurityGate({ sources: this.#sources, rules: this.#rules, ...server })
  }
}

const OWN_WORKER: Identity = { kind: 'process', name: 'worker', groups: [] }

const sourcesOf = async (
  options: IdentityOptions,
  ownWorkerToken: string,
  parts: SecurityParts,
): Promise<IdentitySources> => {
  const { identity_header: header, client_certificates: certificates, tokens_file, htpasswd_file, jwt } = options
  const own: Tokens = new Map([[hashOf(ownWorkerToken), OWN_WORKER]])
  const written = tokensOf(options.tokens, 'tokens')
  const listed =
    tokens_file === undefined ? undefined : await reloaded(tokens_file, () => readTokens(tokens_file), parts)
  return new IdentitySources({
    header: header && new ProxyHeader(header),
    tokens: () => [own, written, ...(listed ? [listed.current] : [])],
    jwt: jwt.length === 0 ? undefined : await issuersOf(jwt, parts),
    passwords: htpasswd_file === undefined ? undefined : await passwordsOf(htpasswd_file, parts),
    certificates: certificates && new Certificates(certificates),
  })
}

const passwordsOf = async (path: string, parts: SecurityParts): Promise<Passwords> => {
  const file = await reloaded(path, () => readHtpasswd(path), parts)
  const passwords = new Passwords(file.current)
  file.onChange((hashes) => passwords.renew(hashes))
  parts.resources.add('passwords', () => passwords.close())
  return passwords
}

const issuersOf = async (issuers: readonly JwtIssuer[], parts: SecurityParts): Promise<JwtIssuers> => {
  let forget = (): void => {}
  const keysOf = async ({ issuer, jwks_uri, jwks_file }: JwtIssuer): Promise<Keys> => {
    if (jwks_file !== undefined) {
      const file = await reloaded(jwks_file, () => readKeys(jwks_file), parts)
      file.onChange(() => forget())
      return () => file.current
    }
    const keys = jwks_uri === undefined ? discoveredKeys(issuer) : keysAt(jwks_uri)
    return () => keys
  }
  const found = await Promise.all(issuers.map(async (issuer) => ({ issuer, keys: await keysOf(issuer) })))
  const jwt = new JwtIssuers(found, parts.clock)
  forget = () => jwt.forget()
  return jwt
}

const reloaded = async <T>(path: string, read: () => Promise<T>, parts: SecurityParts): Promise<ReloadedFiles<T>> => {
  const { clock, log, resources } = parts
  const what = `contents of ${path}`
  const file = await ReloadedFiles.open({ what, paths: [path], read, clock, log })
  resources.add(what, () => file.close())
  return file
}
