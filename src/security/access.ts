import type { AccessRule } from '../config/config.js'
import { MAX_INSTANCE_NAME_LENGTH } from '../reapi/instance-name.js'
import type { Permission } from '../rpc/gate.js'
import type { Identity } from './identity/identity.js'
import { anyOf, type Matches } from './pattern.js'

/** What a rule permits to the callers it applies to. */
interface Grant {
  readonly permissions: ReadonlySet<Permission>
  readonly isFor: Matches
}

/** The permissions of a caller. */
export interface Rights {
  mayIn(instanceName: string, permission: Permission): boolean
  mayWorkFor(scheduler: string): boolean
  /** In any instance. */
  readonly administers: boolean
  /** The same. */
  readonly forwards: boolean
}

interface Rule {
  readonly fits: (identity: Identity) => boolean
  readonly inInstances: Grant
  readonly forSchedulers: Grant
}

/** Clients choose instance names, so only this many are cached. */
const MAX_KEPT_INSTANCES = 1000
const NO_PERMISSION: ReadonlySet<Permission> = new Set()

/** The access rules of a configuration. Each rule adds permissions. */
export class AccessRules {
  readonly #rules: readonly Rule[]

  constructor(rules: readonly AccessRule[] = [CACHES_AND_EXECUTION]) {
    this.#rules = rules.map(compiled)
  }

  rightsOf(identity: Identity): Rights {
    if (identity.kind === 'process') return INTERNAL_WORKER
    const rules = this.#rules.filter(({ fits }) => fits(identity))
    const kept = new Map<string, ReadonlySet<Permission>>()
    const permissionsIn = (instanceName: string): ReadonlySet<Permission> => {
      // No instance has such a long name: do not match patterns against it or cache it.
      if (instanceName.length > MAX_INSTANCE_NAME_LENGTH) return NO_PERMISSION
      const known = kept.get(instanceName)
      if (known !== undefined) return known
      const grants = rules.map(({ inInstances }) => inInstances).filter(({ isFor }) => isFor(instanceName))
      const permissions = new Set(grants.flatMap((grant) => [...grant.permissions]))
      if (kept.size < MAX_KEPT_INSTANCES) kept.set(instanceName, permissions)
      return permissions
    }
    return {
      mayIn: (instanceName, permission) => permissionsIn(instanceName).has(permission),
      mayWorkFor: (scheduler) =>
        rules.some(({ forSchedulers: { permissions, isFor } }) => permissions.has('work') && isFor(scheduler)),
      administers: rules.some(({ inInstances: { permissions } }) => permissions.has('administer')),
      forwards: rules.some(({ inInstances: { permissions } }) => permissions.has('forward')),
    }
  }
}

/** The default for identified callers when no rules are configured. */
const CACHES_AND_EXECUTION: AccessRule = {
  may: ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute'],
  instances: ['*'],
  schedulers: ['*'],
  anonymous: false,
}

const INTERNAL_WORKER: Rights = { mayIn: () => false, mayWorkFor: () => true, administers: false, forwards: false }

const compiled = (rule: AccessRule): Rule => {
  const permissions = new Set<Permission>(rule.may)
  return {
    fits: whoFits(rule),
    inInstances: { permissions, isFor: anyOf(rule.instances) },
    forSchedulers: { permissions, isFor: anyOf(rule.schedulers) },
  }
}

/** The callers that a rule applies to. */
export type Who = Pick<AccessRule, 'anonymous' | 'names' | 'groups' | 'claims' | 'by'>

export const whoFits = ({ anonymous, names, groups, claims, by }: Who): ((identity: Identity) => boolean) => {
  if (anonymous) return () => true
  const nameFits = names && anyOf(names)
  const groupFits = groups && anyOf(groups)
  const claimFits = [...(claims ?? [])].map(([claim, pattern]) => ({ claim, fits: anyOf([pattern]) }))
  return (identity) =>
    identity.kind !== 'anonymous' &&
    (by === undefined || by.some((kind) => kind === identity.kind)) &&
    (nameFits === undefined || nameFits(identity.name)) &&
    (groupFits === undefined || identity.groups.some(groupFits)) &&
    claimFits.every(({ claim, fits }) => valuesOf(identity.claims?.[claim]).some(fits))
}

export const valuesOf = (claim: unknown): readonly string[] =>
  [claim]
    .flat()
    .filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
    .map(String)
