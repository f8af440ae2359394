import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../base/clock.js'
import { inWords, startFailure } from '../base/errno.js'
import type {
  AuditLog as AuditLogOptions,
  IdentitySources as IdentityOptions,
  JwtIssuer,
  OidcProvider,
  SecurityOptions,
} from '../config/config.js'
import { warnOfModes } from '../files/file-modes.js'
import { ReloadedFiles } from '../files/reloaded-files.js'
import type { Log } from '../log/log.js'
import type { Gate } from '../rpc/gate.js'
import type { KeptResult } from '../rpc/kept-result.js'
import { Resources } from '../work/resources.js'
import { AccessRules } from './access.js'
import { type AuditEntry, AuditLog } from './audit-log.js'
import { CurrentGate } from './current-gate.js'
import { type CallersInResults, type GateParts, SecurityGate } from './gate.js'
import { Certificates } from './identity/certificate.js'
import { hashOf } from './identity/credential.js'
import { readHtpasswd } from './identity/htpasswd.js'
import type { Identity } from './identity/identity.js'
import type { JwtIssuers, Keys, RemoteKeys } from './identity/jwt.js'
import type { OidcLogin } from './identity/oidc.js'
import { Passwords } from './identity/passwords.js'
import { ProxyHeader } from './identity/proxy-header.js'
import { IdentitySources } from './identity/sources.js'
import { newToken, readTokens, type Tokens, tokensOf } from './identity/tokens.js'
import type { Verified, VerifiedCredentials } from './identity/verified-credentials.js'
import { RequestLimits } from './request-limits.js'
import { ScopeRules } from './scopes.js'
import type { GateShare, VerifiedKind } from './thread-gate.js'

export interface SecurityParts {
  readonly clock: Clock
  readonly log: Log
  readonly resources: Resources
}

/** Who may call the servers of the process, and with which permissions, from the configuration. */
export class Security {
  /** The token of workers in this process for its own schedulers. It never leaves the process. */
  readonly internalWorkerToken: string
  readonly #parts: WatchingParts
  readonly #audit: AuditLog | undefined
  readonly #gates: { readonly gate: CurrentGate; readonly server: GatedServer }[] = []
  #rules: Rules
  /** Called when `threadShare` is another one. */
  onRenewed: (() => void) | undefined
  /** Called for each credential that was checked and is right: `threadShare` has it too from now on. */
  onVerified: ((kind: VerifiedKind, verified: Verified) => void) | undefined

  private constructor({ parts, rules, audit, internalWorkerToken }: Opened) {
    this.#parts = parts
    this.#rules = rules
    this.#audit = audit
    this.internalWorkerToken = internalWorkerToken
  }

  /** Throws FAILED_PRECONDITION or INVALID_ARGUMENT with the key whose file or value cannot be used. */
  static async open(options: SecurityOptions, parts: SecurityParts): Promise<Security> {
    const internalWorkerToken = newToken()
    const audit = options.audit_log && (await openAuditLog(options.audit_log, parts))
    let security: Security | undefined
    const watching: WatchingParts = {
      ...parts,
      renewed: () => security?.onRenewed?.(),
      verified: (kind, verified) => security?.onVerified?.(kind, verified),
    }
    const rules = await rulesOf(options, internalWorkerToken, watching)
    const opened = new Security({ parts: watching, rules, audit, internalWorkerToken })
    security = opened
    parts.resources.add('identities', () => opened.#rules.resources.close())
    return opened
  }

  /**
   * Applies other options to all gates, except for `audit_log`. Throws like `open`, and then nothing has changed. Callers
   * start with full buckets of their request limits.
   */
  async renew(options: SecurityOptions): Promise<void> {
    const before = this.#rules
    this.#rules = await rulesOf(options, this.internalWorkerToken, this.#parts, before)
    for (const { gate, server } of this.#gates) gate.current = this.#gateOf(server)
    this.onRenewed?.()
    await before.resources.close()
  }

  /** The identity provider that readers of pages log in with. */
  get loginProvider(): OidcLogin | undefined {
    return this.#rules.oidc?.login
  }

  /** What service threads need to admit callers themselves. */
  get threadShare(): GateShare {
    const { options, tokens, credentials } = this.#rules
    const { identity, access, scopes, request_limits: limits, callers_in_results: callersInResults } = options
    const { identity_header: header, client_certificates: certificates } = identity
    const verified = { jwt: credentials.jwt?.all ?? [], passwords: credentials.passwords?.all ?? [] }
    const audit = this.#audit?.share
    return { header, certificates, tokens: tokens(), verified, access, scopes, limits, callersInResults, audit }
  }

  /** Records what a service thread has asked its gate. */
  audited(entry: AuditEntry): void {
    this.#audit?.record(entry)
  }

  /** Records a result of a worker that was kept. */
  keptResult(result: KeptResult): void {
    this.#audit?.recordResult(result)
  }

  /** Lines of the audit log that could not be written; undefined without an audit log. */
  get lostAuditLines(): number | undefined {
    return this.#audit?.lostLines
  }

  gateOf(server: GatedServer): Gate {
    const gate = new CurrentGate(this.#gateOf(server))
    this.#gates.push({ gate, server })
    return gate
  }

  #gateOf(server: GatedServer): Gate {
    const { sources, access, scopes, limits, callersInResults } = this.#rules
    return new SecurityGate({ sources, rules: access, scopes, limits, audit: this.#audit, callersInResults, ...server })
  }
}

type GatedServer = Pick<GateParts, 'services' | 'scheduler'>

/** What `renew` replaces. */
interface Rules {
  readonly options: SecurityOptions
  readonly sources: IdentitySources
  /** Those of callers. */
  readonly tokens: () => readonly Tokens[]
  readonly credentials: Readonly<Partial<Record<VerifiedKind, VerifiedCredentials>>>
  readonly access: AccessRules
  readonly scopes: ScopeRules
  readonly limits: RequestLimits
  readonly callersInResults: CallersInResults
  readonly oidc: KnownOidc | undefined
  /** The files that are watched for it. */
  readonly resources: Resources
}

interface KnownOidc {
  readonly options: OidcProvider
  readonly login: OidcLogin
}

interface WatchingParts extends SecurityParts {
  /** Called when a file of tokens, keys or passwords was read again. */
  readonly renewed: () => void
  readonly verified: (kind: VerifiedKind, verified: Verified) => void
}

interface Opened {
  readonly parts: WatchingParts
  readonly rules: Rules
  readonly audit: AuditLog | undefined
  readonly internalWorkerToken: string
}

const rulesOf = async (
  options: SecurityOptions,
  internalWorkerToken: string,
  parts: WatchingParts,
  before?: Rules,
): Promise<Rules> => {
  const { identity, access, scopes, request_limits, callers_in_results: callersInResults } = options
  const resources = new Resources(parts.log)
  try {
    const oidc = await oidcOf(identity.oidc, parts, before?.oidc)
    return {
      ...{ options, oidc },
      ...(await sourcesOf(identity, internalWorkerToken, oidc?.login, { ...parts, resources })),
      access: new AccessRules(access),
      scopes: new ScopeRules(scopes),
      limits: new RequestLimits(request_limits, parts.clock),
      ...{ callersInResults, resources },
    }
  } catch (error) {
    await resources.close()
    throw startFailure('security.identity', error)
  }
}

/** The same one while its options stay the same, so that its readers stay logged in. */
const oidcOf = async (
  options: OidcProvider | undefined,
  { clock }: SecurityParts,
  before: KnownOidc | undefined,
): Promise<KnownOidc | undefined> => {
  if (options === undefined || isDeepStrictEqual(options, before?.options)) return options && before
  const { OidcLogin: Login } = await import('./identity/oidc.js')
  return { options, login: new Login(options, clock) }
}

const openAuditLog = async (options: AuditLogOptions, { resources, clock, log }: SecurityParts): Promise<AuditLog> => {
  const audit = await AuditLog.open(options, { clock, log })
  resources.add('audit log', () => audit.close())
  return audit
}

const INTERNAL_WORKER: Identity = { kind: 'process', name: 'worker', groups: [] }

const sourcesOf = async (
  options: IdentityOptions,
  internalWorkerToken: string,
  oidc: OidcLogin | undefined,
  parts: WatchingParts,
): Promise<Pick<Rules, 'sources' | 'tokens' | 'credentials'>> => {
  const { identity_header: header, client_certificates: certificates, tokens_file, htpasswd_file, jwt } = options
  const internal: Tokens = new Map([[hashOf(internalWorkerToken), INTERNAL_WORKER]])
  const written = tokensOf(options.tokens, 'tokens')
  const listed = tokens_file === undefined ? undefined : await reloaded('tokens_file', tokens_file, readTokens, parts)
  listed?.onChange(() => parts.renewed())
  const tokens = (): readonly Tokens[] => [written, ...(listed ? [listed.current] : [])]
  const jwts = jwt.length === 0 ? undefined : await issuersOf(jwt, parts)
  const passwords = htpasswd_file === undefined ? undefined : await passwordsOf(htpasswd_file, parts)
  const sources = new IdentitySources({
    header: header && new ProxyHeader(header),
    tokens: () => [internal, ...tokens()],
    certificates: certificates && new Certificates(certificates),
    ...{ jwt: jwts, oidc, passwords },
  })
  const credentials = {
    ...(jwts && { jwt: jwts.verified }),
    ...(passwords && { passwords: passwords.verified }),
  }
  for (const [kind, verified] of Object.entries(credentials))
    verified.onAdded = (added) => parts.verified(kind as VerifiedKind, added)
  return { sources, tokens, credentials }
}

const passwordsOf = async (path: string, parts: WatchingParts): Promise<Passwords> => {
  const file = await reloaded('htpasswd_file', path, readHtpasswd, parts)
  const passwords = new Passwords(file.current, parts.clock, parts.log)
  file.onChange((hashes) => {
    passwords.renew(hashes)
    parts.renewed()
  })
  parts.resources.add('passwords', () => passwords.close())
  return passwords
}

const issuersOf = async (issuers: readonly JwtIssuer[], parts: WatchingParts): Promise<JwtIssuers> => {
  const { discoveredKeys, JwtIssuers, KEYS_PERIOD_MS, RemoteKeys, readKeys } = await import('./identity/jwt.js')
  let forget = (): void => {}
  const keysOf = async ({ issuer, jwks_uri, jwks_file }: JwtIssuer): Promise<Keys> => {
    if (jwks_file !== undefined) {
      const file = await reloaded('jwks_file', jwks_file, readKeys, parts)
      file.onChange(() => forget())
      return () => file.current
    }
    const keysAt = (uri: string): RemoteKeys => {
      const keys = new RemoteKeys(uri)
      keys.onChange = () => forget()
      const renew = (): Promise<void> =>
        keys.renew().catch((error: unknown) => {
          parts.log.warn('the keys of an issuer cannot be fetched now', { issuer, reason: inWords(error) })
        })
      const stop = parts.clock.every(KEYS_PERIOD_MS, renew)
      parts.resources.add(`keys of ${issuer}`, async () => stop())
      return keys
    }
    const keys = jwks_uri === undefined ? discoveredKeys(issuer, keysAt) : keysAt(jwks_uri).find
    return () => keys
  }
  const found = await Promise.all(issuers.map(async (issuer) => ({ issuer, keys: await keysOf(issuer) })))
  const jwt = new JwtIssuers(found, parts.clock)
  forget = () => {
    jwt.verified.clear()
    parts.renewed()
  }
  return jwt
}

const reloaded = async <T>(
  key: string,
  path: string,
  read: (path: string) => Promise<T>,
  parts: SecurityParts,
): Promise<ReloadedFiles<T>> => {
  const { clock, log, resources } = parts
  const what = `contents of ${path}`
  const readAgain = async (): Promise<T> => {
    const contents = await read(path)
    // The tokens_file has hashes of random tokens, which cannot be guessed. Password hashes can be attacked.
    await warnOfModes(key, path, { isSecret: key === 'htpasswd_file' }, (message) => log.warn(message, {}))
    return contents
  }
  const file = await ReloadedFiles.open({ what, paths: [path], read: readAgain, clock, log })
  resources.add(what, () => file.close())
  return file
}
