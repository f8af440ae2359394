import { CATCH_ALL } from '../base/catch-all.js'
import { codeName, StatusError } from '../base/status-error.js'
import type { SecurityOptions } from '../config/config.js'
import type { Caller, Gate, PageRequest, Permission, RequestCheck, Visitor } from '../rpc/gate.js'
import type { Service } from '../rpc/rpc.js'
import type { Scope } from '../rpc/scope.js'
import type { AccessRules, Rights } from './access.js'
import type { AuditEntry, AuditRecords } from './audit-log.js'
import { ANONYMOUS, describe, type Identity } from './identity/identity.js'
import type { IdentitySources } from './identity/sources.js'
import { type InstanceRule, type MethodRule, methodRules } from './methods.js'
import type { RequestLimits } from './request-limits.js'
import type { ScopeRules } from './scopes.js'

export interface GateParts {
  readonly sources: IdentitySources
  readonly rules: AccessRules
  readonly scopes: ScopeRules
  /** The services of the server, with the names of their instances. */
  readonly services: readonly Service[]
  readonly limits?: RequestLimits
  readonly audit?: AuditRecords | undefined
  /** The scheduler whose workers connect here. */
  readonly scheduler: string | undefined
  readonly callersInResults?: CallersInResults
}

export type CallersInResults = SecurityOptions['callers_in_results']

/** A request whose caller is not known yet. */
type Asked = Omit<AuditEntry, 'identity' | 'refusal'>

const PERMISSIONS: readonly Permission[] = [
  'read_cas',
  'write_cas',
  'read_ac',
  'write_ac',
  'execute',
  'push',
  'administer',
]

/** The gate of one server. The permissions of a caller are computed once per identity. */
export class SecurityGate implements Gate {
  readonly #sources: IdentitySources
  readonly #rules: AccessRules
  readonly #scopes: ScopeRules
  readonly #served: ServedInstances
  readonly #limits: RequestLimits | undefined
  readonly #audit: AuditRecords | undefined
  readonly #scheduler: string | undefined
  readonly #callersInResults: CallersInResults
  readonly #visitors = new WeakMap<Identity, KnownVisitor>()

  constructor(parts: GateParts) {
    const { sources, rules, scopes, limits, audit, services, scheduler, callersInResults = 'administrators' } = parts
    this.#callersInResults = callersInResults
    this.#sources = sources
    this.#limits = limits
    this.#audit = audit
    this.#rules = rules
    this.#scopes = scopes
    for (const path of services.flatMap(pathsOf)) ruleOf(path)
    this.#served = new ServedInstances(services)
    this.#scheduler = scheduler
  }

  admit(path: string, caller: Caller): Visitor | Promise<Visitor> {
    const rule = ruleOf(path)
    if (rule.kind === 'open') return UNASKED
    const asked = { peer: caller.peer, method: path }
    const identity = this.#identified(asked, caller)
    if (!(identity instanceof Promise)) return this.#begin(path, rule, identity, caller)
    return identity.then(
      (known) => this.#begin(path, rule, known, caller),
      (error: unknown) => this.#refuse(asked, error),
    )
  }

  admitCaller(caller: Caller, request: PageRequest): Visitor | Promise<Visitor> {
    const asked = askedFor(request, caller.peer)
    const identity = this.#identified(asked, caller)
    const begin = (known: Identity): Visitor => {
      const visitor = this.#visitorOf(known)
      this.#audited({ ...asked, identity: visitor.identity }, () => this.#limits?.take(known, caller.peer))
      return visitor
    }
    if (!(identity instanceof Promise)) return begin(identity)
    return identity.then(begin, (error: unknown) => this.#refuse(asked, error))
  }

  async admitOperator(caller: Caller, request: PageRequest, check?: RequestCheck): Promise<Visitor> {
    const asked = askedFor(request, caller.peer)
    const identity = await Promise.resolve(this.#identified(asked, caller)).catch((error: unknown) =>
      this.#refuse(asked, error),
    )
    const visitor = this.#visitorOf(identity)
    const about = { ...asked, identity: visitor.identity }
    this.#audited(about, () => {
      this.#limits?.take(identity, caller.peer)
      if (!visitor.rights.administers) throw visitor.denied('administer')
    })
    await check?.(visitor.identity).catch((error: unknown) =>
      this.#audited(about, () => {
        throw error
      }),
    )
    this.#audit?.record(about)
    return visitor
  }

  #begin(path: string, rule: MethodRule, identity: Identity, { peer }: Caller): Visitor {
    const visitor = this.#visitorOf(identity)
    const scheduler = this.#scheduler ?? ''
    const about = { identity: visitor.identity, peer, method: path }
    this.#audited(about, () => {
      this.#limits?.take(identity, peer)
      const { administers, forwards, mayWorkFor } = visitor.rights
      if (rule.kind === 'operate' && !administers && !forwards) throw visitor.denied('administer')
      if (rule.kind === 'forward' && !forwards) throw visitor.denied('forward')
      if (rule.kind === 'work' && !mayWorkFor(scheduler))
        throw visitor.denied(`work for scheduler ${JSON.stringify(scheduler)}`)
      // A worker reports the results of every caller, and a server that forwards says whose actions they are.
      const speaksForOthers = rule.kind === 'work' || rule.kind === 'forward'
      if (speaksForOthers && !this.#scopes.isTrusted(identity))
        throw visitor.denied(`${rule.kind}, because it has a scope (security.scopes)`)
    })
    if (rule.kind === 'work' || rule.kind === 'forward') this.#audit?.record(about)
    return visitor
  }

  #identified(asked: Asked, caller: Caller): Identity | Promise<Identity> {
    try {
      return this.#sources.identify(caller)
    } catch (error) {
      return this.#refuse(asked, error)
    }
  }

  /**
   * Refuses wrong credentials. They count towards the request limit of anonymous callers, so that guessing is limited.
   */
  #refuse(asked: Asked, error: unknown): never {
    return this.#audited({ identity: undefined, ...asked }, () => {
      this.#limits?.take(ANONYMOUS, asked.peer)
      throw error
    })
  }

  #audited<T>(about: AuditEntry, judge: () => T): T {
    return audited(this.#audit, about, judge)
  }

  #visitorOf(identity: Identity): KnownVisitor {
    const known = this.#visitors.get(identity)
    if (known !== undefined) return known
    const visitor = new KnownVisitor(identity, {
      rights: this.#rules.rightsOf(identity),
      scopeIn: (instanceName) => this.#scopes.scopeOf(identity, instanceName),
      served: this.#served,
      audit: this.#audit,
      callersInResults: this.#callersInResults,
    })
    this.#visitors.set(identity, visitor)
    return visitor
  }
}

/** A request over HTTP as the audit log names it. */
const askedFor = ({ method, target }: PageRequest, peer: string): Asked => {
  const [path = '', query] = target.split('?', 2)
  return { peer, method: `${method} ${path}`, ...(query !== undefined && { query }) }
}

/** The rule of a method. A missing rule is a bug, found when the server starts. */
export const ruleOf = (path: string): MethodRule => {
  const rule = methodRules.get(path)
  if (rule === undefined) throw new Error(`src/security/methods.ts has no rule for ${path}`)
  return rule
}

const pathsOf = ({ name, instances: _, ...methodsByKind }: Service): string[] =>
  Object.values(methodsByKind)
    .flatMap((methods) => Object.keys(methods ?? {}))
    .map((method) => `/${name}/${method}`)

/** The caller of an open method, which is not identified. */
const UNASKED: Visitor = {
  identity: 'anonymous',
  nameInResults: undefined,
  isOperator: false,
  forwards: false,
  may: () => false,
  scopeIn: () => undefined,
  maySeeOrigins: () => false,
  demand: () => {
    throw new StatusError('UNAUTHENTICATED', 'the caller of an open method is not identified')
  },
  check: () => {},
}

interface VisitorParts {
  readonly rights: Rights
  readonly scopeIn: (instanceName: string) => Scope | undefined
  readonly served: ServedInstances
  readonly audit: AuditRecords | undefined
  readonly callersInResults: CallersInResults
}

class KnownVisitor implements Visitor {
  readonly identity: string
  readonly rights: Rights
  readonly #isAnonymous: boolean
  readonly #scopeIn: (instanceName: string) => Scope | undefined
  readonly #scopes = new Map<string, Scope | undefined>()
  readonly #served: ServedInstances
  readonly #audit: AuditRecords | undefined
  readonly #callersInResults: CallersInResults

  constructor(identity: Identity, { rights, scopeIn, served, audit, callersInResults }: VisitorParts) {
    this.#scopeIn = scopeIn
    this.#audit = audit
    this.#callersInResults = callersInResults
    this.identity = describe(identity)
    this.rights = rights
    this.#isAnonymous = identity.kind === 'anonymous'
    this.#served = served
  }

  may(permission: Permission, instanceName: string): boolean {
    return this.rights.mayIn(instanceName, permission)
  }

  scopeIn(instanceName: string): Scope | undefined {
    const known = this.#scopes.get(instanceName)
    if (known !== undefined || this.#scopes.has(instanceName)) return known
    const scope = this.#scopeIn(instanceName)
    if (this.#scopes.size < MAX_KNOWN_INSTANCES) this.#scopes.set(instanceName, scope)
    return scope
  }

  demand(permission: Permission, instanceName: string, request: PageRequest, peer: string): void {
    const about = { ...askedFor(request, peer), ...this.#inInstance(instanceName) }
    audited(this.#audit, about, () => {
      if (!this.may(permission, instanceName)) throw this.denied(`${permission} in instance ${shown(instanceName)}`)
    })
    this.#audit?.record(about)
  }

  get isOperator(): boolean {
    return this.rights.administers
  }

  get forwards(): boolean {
    return this.rights.forwards
  }

  get nameInResults(): string | undefined {
    return this.#callersInResults === 'nobody' ? undefined : this.identity
  }

  maySeeOrigins(instanceName: string): boolean {
    if (this.#callersInResults === 'administrators') return this.may('administer', instanceName)
    return this.#callersInResults === 'readers'
  }

  check(path: string, request: object, peer: string): void {
    const rule = ruleOf(path)
    if (rule.kind !== 'instance') return
    if (this.#audit === undefined) {
      this.#checkInstance(path, rule, request as never)
      return
    }
    const { instance } = namedIn(rule, request as never)
    const known = instance === undefined ? { identity: this.identity } : this.#inInstance(instance)
    const about = { peer, method: path, ...known }
    audited(this.#audit, about, () => this.#checkInstance(path, rule, request as never))
    this.#audit.record(about)
  }

  /** For the audit log. */
  #inInstance(instance: string): Pick<AuditEntry, 'identity' | 'instance' | 'scope'> {
    const { name: scope } = this.scopeIn(instance) ?? {}
    return { identity: this.identity, instance, ...(scope !== undefined && { scope }) }
  }

  denied(what: string): StatusError {
    if (this.#isAnonymous) return new StatusError('UNAUTHENTICATED', `anonymous callers may not ${what} here`)
    return new StatusError('PERMISSION_DENIED', `${this.identity} may not ${what}`)
  }

  #checkInstance(path: string, rule: InstanceRule, request: never): void {
    const name = rule.instanceName(request)
    const isKnownOf = PERMISSIONS.some((permission) => this.may(permission, name))
    // A caller without any permission in an instance must not learn whether it exists.
    if (!isKnownOf && this.#isAnonymous) throw this.denied(`do anything in instance ${shown(name)}`)
    if (!isKnownOf || !this.#served.has(path, name)) throw this.#unknown(path, rule, request, name)
    if (rule.anyOf.some((permission) => this.may(permission, name))) return
    throw this.denied(`${rule.anyOf.join(' or ')} in instance ${shown(name)}`)
  }

  #unknown(path: string, rule: InstanceRule, request: never, name: string): StatusError {
    if (rule.unknown !== undefined) return rule.unknown(request)
    const isKnownOf = (instance: string): boolean => PERMISSIONS.some((permission) => this.may(permission, instance))
    if (isKnownOf(name) && this.#served.hasElsewhere(path, name)) {
      return new StatusError('UNIMPLEMENTED', `instance ${shown(name)} does not serve ${path.slice(1)}`)
    }
    const names = this.#served.namesOf(path).filter(isKnownOf).slice(0, 20)
    const expected = names.length === 0 ? '' : `, expected one of ${names.map((one) => JSON.stringify(one)).join(', ')}`
    const message = `instance name ${shown(name)} is not configured, or not for ${this.identity}${expected}`
    return new StatusError('INVALID_ARGUMENT', message)
  }
}

/** Clients choose the names. */
const MAX_KNOWN_INSTANCES = 1000

const shown = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}...` : name)

/** Runs a check and records a refusal in the audit log. */
const audited = <T>(audit: AuditRecords | undefined, about: AuditEntry, judge: () => T): T => {
  try {
    return judge()
  } catch (error) {
    const { code, message: reason } = StatusError.from(error)
    audit?.record({ ...about, refusal: { code: codeName(code), reason } })
    throw error
  }
}

/** The instance that a request names, if its name is valid. */
const namedIn = (rule: InstanceRule, request: never): { readonly instance?: string } => {
  try {
    return { instance: rule.instanceName(request) }
  } catch {
    return {}
  }
}

/** The instances of each service of a server. */
class ServedInstances {
  readonly #byService: ReadonlyMap<string, ReadonlyMap<string, unknown>>

  constructor(services: readonly Service[]) {
    this.#byService = new Map(
      services.flatMap(({ name, instances }) => (instances ? [[name, instances] as const] : [])),
    )
  }

  has(path: string, instanceName: string): boolean {
    return hasName(this.#of(path), instanceName)
  }

  hasElsewhere(path: string, instanceName: string): boolean {
    const service = this.#of(path)
    return [...this.#byService.values()].some((instances) => instances !== service && hasName(instances, instanceName))
  }

  namesOf(path: string): readonly string[] {
    return [...this.#of(path).keys()].filter((name) => name !== CATCH_ALL)
  }

  #of(path: string): ReadonlyMap<string, unknown> {
    return this.#byService.get(path.slice(1, path.lastIndexOf('/'))) ?? NONE
  }
}

const NONE: ReadonlyMap<string, unknown> = new Map()

const hasName = (instances: ReadonlyMap<string, unknown>, name: string): boolean =>
  instances.has(name) || instances.has(CATCH_ALL)
