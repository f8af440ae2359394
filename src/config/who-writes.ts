import type { AccessRule, Config, ScopeRule } from './config.js'

type Who = Pick<AccessRule, 'anonymous' | 'names' | 'groups' | 'claims' | 'by'>

/** A rule of access, and where the callers that it is for write results, HTTP entries and assets. */
export interface Writers {
  readonly rule: AccessRule
  /** In words: `by jwt, claims iss=..., groups ci`. */
  readonly who: string
  readonly reads: boolean
  /** By uploads, or by actions that are not confined. */
  readonly writes: boolean
  /** The scopes of the callers, in the order of their rules; empty if all of them are trusted. */
  readonly scopes: readonly ScopeRule[]
  /** Whether every caller of the rule has a scope, but for the claims of `unless` of the last one. */
  readonly areAllScoped: boolean
}

/** Permissions that write what others read. */
const WRITING: ReadonlySet<string> = new Set(['write_ac', 'push'])

/** Every rule of access that lets callers read or write results. Without rules: identified callers may do both. */
export const writersIn = (config: Pick<Config, 'security' | 'workers'>): readonly Writers[] => {
  const { security, workers } = config
  if (security === undefined) return []
  const isConfined = workers.every(({ options }) => options.use_mount_namespace && !options.keep_network)
  const executionWrites = workers.length > 0 && !isConfined
  return (security.access ?? [EVERYBODY_KNOWN]).flatMap((rule) => {
    const writes = rule.may.some((one) => WRITING.has(one) || (one === 'execute' && executionWrites))
    const reads = rule.may.includes('read_ac')
    if (!reads && !writes) return []
    const scopes: ScopeRule[] = []
    let areAllScoped = false
    for (const scope of security.scopes.rules) {
      if (!meets(scope, rule)) continue
      scopes.push(scope)
      if (!covers(scope, rule)) continue
      areAllScoped = scope.scope !== ''
      break
    }
    return [{ rule, who: whoText(rule), reads, writes, scopes, areAllScoped }]
  })
}

const EVERYBODY_KNOWN: AccessRule = {
  may: ['read_cas', 'write_cas', 'read_ac', 'write_ac', 'execute'],
  ...{ instances: ['*'], schedulers: ['*'], anonymous: false },
}

/**
 * Why callers of a rule without a protected ref may write what all read; undefined if none may, or if nothing in the configuration
 * tells: tokens and passwords say nothing of refs.
 */
export const unprotected = (
  { rule, writes, scopes, areAllScoped }: Writers,
  { security }: Pick<Config, 'security'>,
): string | undefined => {
  if (!writes) return undefined
  const last = scopes.at(-1)
  if (areAllScoped) {
    const { unless } = last ?? {}
    return unless === undefined || isProtected(unless)
      ? undefined
      : `unless ${claimsText(unless)} names no protected ref`
  }
  if (rule.anonymous) return 'everybody may write'
  const isOfCi = (security?.identity.jwt.length ?? 0) > 0 && (rule.by === undefined || rule.by.includes('jwt'))
  // Names and groups are those of people or of one job.
  if (!isOfCi || (rule.claims === undefined && (rule.names ?? rule.groups) !== undefined)) return undefined
  return isProtected(rule.claims ?? new Map()) ? undefined : 'its claims name no protected ref'
}

/** Claims of CI systems that say which reviewed code runs. */
const REFS = ['ref', 'build_branch', 'environment']

const isProtected = (claims: ReadonlyMap<string, string>): boolean =>
  claims.get('ref_protected') === 'true' || REFS.some((claim) => /^[^*]+$/.test(claims.get(claim) ?? ''))

/** Whether every caller of the access rule is one of the scope rule, its `unless` aside. */
const covers = (scope: ScopeRule, rule: AccessRule): boolean => {
  if (!scope.instances.includes('*') && !rule.instances.every((one) => scope.instances.includes(one))) return false
  if (scope.anonymous) return true
  if (rule.anonymous) return false
  const isWithin = (wider: readonly string[] | undefined, narrower: readonly string[] | undefined): boolean =>
    wider === undefined || wider.includes('*') || narrower?.every((one) => wider.includes(one)) === true
  return (
    isWithin(scope.names, rule.names) &&
    isWithin(scope.groups, rule.groups) &&
    isWithin(scope.by, rule.by) &&
    [...(scope.claims ?? [])].every(([claim, pattern]) => pattern === '*' || rule.claims?.get(claim) === pattern)
  )
}

/** Whether some caller may be one of both rules: not if they name other sources, or other values of a claim. */
const meets = (scope: ScopeRule, rule: AccessRule): boolean => {
  if (scope.anonymous || rule.anonymous) return true
  if (scope.by !== undefined && rule.by !== undefined && !scope.by.some((one) => rule.by?.includes(one))) return false
  const isPlain = (pattern: string): boolean => !pattern.includes('*')
  const differs = (one: readonly string[] | undefined, other: readonly string[] | undefined): boolean =>
    one !== undefined &&
    other !== undefined &&
    [...one, ...other].every(isPlain) &&
    !one.some((each) => other.includes(each))
  if (differs(scope.names, rule.names)) return false
  return [...(scope.claims ?? [])].every(([claim, pattern]) => {
    const other = rule.claims?.get(claim)
    return other === undefined || !differs([pattern], [other])
  })
}

const claimsText = (claims: ReadonlyMap<string, string>): string =>
  [...claims].map(([claim, pattern]) => `${claim}=${pattern}`).join(' ')

export const whoText = ({ anonymous, names, groups, claims, by }: Who): string => {
  if (anonymous) return 'everybody'
  const parts = [
    ...(by === undefined ? [] : [`by ${by.join(' or ')}`]),
    ...(names === undefined ? [] : [`names ${names.join(', ')}`]),
    ...(groups === undefined ? [] : [`groups ${groups.join(', ')}`]),
    ...(claims === undefined ? [] : [`claims ${claimsText(claims)}`]),
  ]
  return parts.length === 0 ? 'everybody who is known' : parts.join(', ')
}

/** Where callers of a rule write, in words. */
export const writesText = ({ writes, scopes, areAllScoped }: Writers): string => {
  if (!writes) return 'nothing'
  const words = scopes.map(({ scope, unless }) => {
    const where = scope === '' ? 'what all read' : `scope ${scope}`
    return unless === undefined ? where : `${where}, unless ${claimsText(unless)}`
  })
  if (areAllScoped) return words.join('; ')
  return [...words.map((one) => `for some: ${one}`), 'what all read'].join('; ')
}

export const readsText = ({ reads, writes, scopes }: Writers): string => {
  if (!reads) return 'nothing'
  return writes && scopes.some(({ scope }) => scope !== '') ? 'its scope, then what all read' : 'what all read'
}
