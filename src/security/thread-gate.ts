import type { Clock } from '../base/clock.js'
import type { AuditLog as AuditLogOptions, SecurityOptions } from '../config/config.js'
import type { Caller, ThreadGate } from '../rpc/gate.js'
import type { Service } from '../rpc/rpc.js'
import { AccessRules } from './access.js'
import { type AuditEntry, type AuditRecords, isRecorded } from './audit-log.js'
import { type CallersInResults, SecurityGate } from './gate.js'
import { Certificates } from './identity/certificate.js'
import { ProxyHeader } from './identity/proxy-header.js'
import { IdentitySources } from './identity/sources.js'
import type { Tokens } from './identity/tokens.js'
import { type Verified, VerifiedCredentials } from './identity/verified-credentials.js'
import { RequestLimits } from './request-limits.js'
import { ScopeRules } from './scopes.js'

/** What only the owner can check. */
export type VerifiedKind = 'jwt' | 'passwords'

/** What a service thread needs to admit callers. It can be sent to a thread. */
export interface GateShare {
  readonly header: SecurityOptions['identity']['identity_header']
  readonly certificates: SecurityOptions['identity']['client_certificates']
  readonly tokens: readonly Tokens[]
  /** JWTs and passwords that the owner has checked so far. */
  readonly verified: Readonly<Record<VerifiedKind, readonly Verified[]>>
  readonly access: SecurityOptions['access']
  readonly scopes: Pick<SecurityOptions['scopes'], 'rules'>
  readonly limits: SecurityOptions['request_limits']
  readonly callersInResults: CallersInResults
  readonly audit: Pick<AuditLogOptions, 'calls'> | undefined
}

/** The names of the instances of each service of a server. */
export type ServedNames = ReadonlyMap<string, readonly string[]>

export const servedNamesOf = (services: readonly Service[]): ServedNames =>
  new Map(services.flatMap(({ name, instances }) => (instances ? [[name, [...instances.keys()]] as const] : [])))

interface ThreadGateParts {
  /** The callers that are known here, and what they may do. One for all servers, so that an identity is one object. */
  readonly callers: KnownCallers
  readonly served: ServedNames
  readonly audit: AuditRecords
}

/**
 * Callers whom a service thread can identify by what it was sent: by token, by certificate, by the header of a proxy, as
 * anonymous, or by a JWT or a password that the owner has checked before. Sessions have state in one place, and so have scopes
 * and limits of requests; wrong credentials count towards such a limit. Those callers are the owner's.
 */
export class KnownCallers {
  readonly share: GateShare
  readonly rules: AccessRules
  readonly scopes: ScopeRules
  readonly sources: IdentitySources
  readonly #limits: RequestLimits
  readonly #verified: Readonly<Record<VerifiedKind, VerifiedCredentials>>

  constructor(share: GateShare, clock: Clock) {
    const { header, certificates, tokens, access, scopes, limits } = share
    this.share = share
    this.rules = new AccessRules(access)
    this.scopes = new ScopeRules(scopes)
    this.#limits = new RequestLimits(limits, clock)
    const { jwt, passwords } = share.verified
    this.#verified = { jwt: verifiedOf(jwt, clock), passwords: verifiedOf(passwords, clock) }
    this.sources = new IdentitySources({
      header: header && new ProxyHeader(header),
      tokens: () => tokens,
      certificates: certificates && new Certificates(certificates),
      oidc: undefined,
      ...this.#verified,
    })
  }

  /** The owner has checked a credential. */
  learn(kind: VerifiedKind, verified: Verified): void {
    this.#verified[kind].adding()(verified)
  }

  has(caller: Caller): boolean {
    try {
      const identity = this.sources.identify(caller)
      // What a scope keeps is counted in one place, by the owner.
      return !(identity instanceof Promise) && !this.#limits.limits(identity) && this.scopes.isTrusted(identity)
    } catch {
      // The owner refuses it, or knows it.
      return false
    }
  }
}

const VERIFIED_MAX = 10_000

const verifiedOf = (all: readonly Verified[], clock: Clock): VerifiedCredentials => {
  const credentials = new VerifiedCredentials(VERIFIED_MAX, clock)
  const add = credentials.adding()
  for (const verified of all) add(verified)
  return credentials
}

/** The gate of one server in a service thread. */
export class KnownCallersGate extends SecurityGate implements ThreadGate {
  readonly #callers: KnownCallers

  constructor({ callers, served, audit }: ThreadGateParts) {
    const { share, sources, rules, scopes } = callers
    const { audit: audited, callersInResults } = share
    const services = [...served].map(([name, instances]) => ({
      name,
      instances: new Map(instances.map((instance) => [instance, undefined])),
    }))
    const record = (entry: AuditEntry): void => {
      if (audited !== undefined && isRecorded(entry, audited)) audit.record(entry)
    }
    super({
      ...{ sources, rules, scopes, services, callersInResults, scheduler: undefined },
      ...(audited && { audit: { record } }),
    })
    this.#callers = callers
  }

  knows(caller: Caller): boolean {
    return this.#callers.has(caller)
  }
}
