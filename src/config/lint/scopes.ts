import { entryFor } from '../../base/catch-all.js'
import { templateFault } from '../value/scope-template.js'
import { unprotected, writersIn } from '../who-writes.js'
import type { LintContext, UncheckedConfig } from './context.js'

/** What in a configuration gives callers a scope. Lines of a `tokens_file` may do so too. */
export const scopesOf = ({ security }: Pick<UncheckedConfig, 'security'>): readonly object[] =>
  security === undefined
    ? []
    : [
        ...security.scopes.rules.filter(({ scope }) => scope !== ''),
        ...security.identity.tokens.filter(({ scope }) => scope !== undefined),
      ]

/** Checks the rules of scopes, and parents of instances. */
export const lintScopes = (context: LintContext): void => {
  lintRules(context)
  lintWorkers(context)
  lintParents(context)
  lintWriters(context)
}

/** Whoever may open a pull request must not write what `main` reads. */
const lintWriters = ({ config, findings, originOf }: LintContext): void => {
  for (const writers of writersIn(config)) {
    const why = unprotected(writers, config)
    const path = config.security?.access === undefined ? ['security'] : originOf(writers.rule)
    if (why !== undefined)
      findings.warning(
        path,
        `callers without a protected ref may write results that all read: ${writers.who} (${why})`,
        { expected: 'a rule in security.scopes for them (docs/branches.md), or claims of a protected ref' },
      )
  }
}

const lintRules = ({ config: { security }, findings, originOf }: LintContext): void => {
  for (const rule of security?.scopes.rules ?? []) {
    const { scope, anonymous } = rule
    const fault = templateFault(scope)
    if (fault !== undefined)
      findings.error([...originOf(rule), 'scope'], 'the scope has a placeholder that is none', {
        found: JSON.stringify(scope),
        expected: fault,
      })
    for (const key of ['names', 'groups', 'claims', 'by'] as const) {
      if (!anonymous || rule[key] === undefined) continue
      findings.error([...originOf(rule), key], `a rule for everybody cannot also be for those of some ${key}`, {
        at: 'key',
        expected: 'anonymous or the keys about who is known',
      })
    }
  }
}

/** An action that is not confined can change what later actions do on its worker, whoever asked for them. */
const lintWorkers = ({ config, findings, originOf }: LintContext): void => {
  if (scopesOf(config).length === 0) return
  for (const { options } of config.workers) {
    const { use_mount_namespace: ownsMounts, keep_network: keepsNetwork } = options
    if (ownsMounts && !keepsNetwork) continue
    const found = ownsMounts ? 'keep_network' : 'no use_mount_namespace'
    findings.warning(
      originOf(options),
      'actions of branches are not confined on this worker: their results stay in their scopes, and they can change what actions of others do here',
      { found, expected: 'use_namespaces and use_mount_namespace, without keep_network' },
    )
  }
}

const lintParents = ({ config, findings, originOf }: LintContext): void => {
  const casOf = (instance: string) =>
    config.servers.map(({ services }) => entryFor(services.cas, instance)?.cas_store).find((name) => name !== undefined)
  for (const options of config.instances.values()) {
    const { instance_name: instance, parent } = options
    if (parent === undefined) continue
    const path = [...originOf(options), 'parent']
    const found = JSON.stringify(parent)
    if (isOwnAncestor(instance, config))
      findings.error(path, `instance ${JSON.stringify(instance)} is a parent of itself`, {
        found,
        expected: 'another instance, whose parents are others',
      })
    else if (options.isolate || config.instances.get(parent)?.isolate === true)
      findings.error(path, 'an isolated instance shares nothing: it neither has a parent nor is one', {
        found,
        expected: 'two instances that are not isolated',
      })
    else if (casOf(parent) === undefined)
      findings.error(path, `no server has a CAS for the instance ${found}`, {
        found,
        expected: 'an instance in services',
      })
    else if (casOf(parent) !== casOf(instance))
      findings.error(path, `the blobs of ${found} are in another store`, {
        found: JSON.stringify(casOf(parent)),
        expected: `the same cas_store for both, ${JSON.stringify(casOf(instance))}`,
      })
  }
}

const isOwnAncestor = (instance: string, { instances }: UncheckedConfig): boolean => {
  const seen = new Set<string>()
  for (let at = instances.get(instance)?.parent; at !== undefined && !seen.has(at); at = instances.get(at)?.parent) {
    if (at === instance) return true
    seen.add(at)
  }
  return false
}
