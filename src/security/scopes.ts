import type { ScopeOptions, ScopeRule } from '../config/config.js'
import { SCOPE_PLACEHOLDER } from '../config/value/scope-template.js'
import { Scope } from '../rpc/scope.js'
import { valuesOf, whoFits } from './access.js'
import { describe, type Identity } from './identity/identity.js'
import { anyOf, type Matches } from './pattern.js'

interface Rule {
  readonly fits: (identity: Identity) => boolean
  readonly isFor: Matches
  readonly isForAll: boolean
  readonly template: string
}

/** The rules that give callers their scopes. The first one that fits decides. */
export class ScopeRules {
  readonly #rules: readonly Rule[]

  constructor({ rules }: Pick<ScopeOptions, 'rules'> = { rules: [] }) {
    this.#rules = rules.map(compiled)
  }

  /** Undefined for a trusted caller. */
  scopeOf(identity: Identity, instanceName: string): Scope | undefined {
    if (identity.kind === 'process') return undefined
    if (identity.scope !== undefined) return Scope.named(identity.scope)
    const rule = this.#rules.find(({ fits, isFor }) => fits(identity) && isFor(instanceName))
    return rule && Scope.named(filled(rule.template, identity, instanceName))
  }

  /** Whether the caller is trusted in every instance. */
  isTrusted(identity: Identity): boolean {
    if (identity.kind === 'process') return true
    if (identity.scope !== undefined) return false
    for (const { fits, isForAll, template } of this.#rules) {
      if (!fits(identity)) continue
      if (template !== '') return false
      if (isForAll) return true
    }
    return true
  }
}

const compiled = (rule: ScopeRule): Rule => {
  const fits = whoFits(rule)
  const exempt = rule.unless && whoFits({ anonymous: false, claims: rule.unless })
  return {
    fits: (identity) => fits(identity) && exempt?.(identity) !== true,
    isFor: anyOf(rule.instances),
    isForAll: rule.instances.includes('*'),
    template: rule.scope,
  }
}

/** A caller without a claim that the template names is not trusted: it gets a scope of its own. */
const filled = (template: string, identity: Identity, instanceName: string): string => {
  let isWhole = true
  const text = template.replace(SCOPE_PLACEHOLDER, (placeholder, claim: string | undefined) => {
    const value =
      placeholder === '{instance}' ? instanceName : claim === undefined ? identity.name : claimOf(identity, claim)
    isWhole &&= value !== undefined
    return value ?? ''
  })
  return isWhole && text !== '' ? text : template === '' ? '' : `caller ${describe(identity)}`
}

const claimOf = ({ claims }: Identity, name: string): string | undefined => {
  const values = valuesOf(claims !== undefined && Object.hasOwn(claims, name) ? claims[name] : undefined)
  return values.length === 1 && values[0] !== '' ? values[0] : undefined
}
