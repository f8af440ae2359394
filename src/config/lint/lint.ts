import type { Findings } from '../findings.js'
import type { Document } from '../read/document.js'
import type { Normaliser } from '../schema/normalise.js'
import { lintBuildEvents } from './build-events.js'
import type { UncheckedConfig } from './context.js'
import { lintInstances } from './instances.js'
import { lintCycles, lintUnused } from './names.js'
import { lintPeers } from './peers.js'
import { lintReach } from './reach.js'
import { lintRoles } from './roles.js'
import { lintScopes } from './scopes.js'
import { lintSecurity } from './security.js'
import { lintServers } from './servers.js'
import { lintStores } from './stores.js'
import { lintWorkers } from './workers.js'

/**
 * Checks what the schema cannot express. Entries with errors are missing from `config`; the others are still
 * checked.
 */
export const lint = (config: UncheckedConfig, document: Document, normaliser: Normaliser, findings: Findings): void => {
  const context = {
    config,
    findings,
    originOf: (value: object) => normaliser.origins.of(value),
    isWhole: !findings.hasErrors,
    isWritten: (path: readonly (string | number)[]) => document.has(path),
  }
  lintCycles(context)
  lintStores(context)
  lintServers(context)
  lintInstances(context)
  lintBuildEvents(context)
  lintSecurity(context)
  lintScopes(context)
  lintWorkers(context)
  lintPeers(context)
  lintReach(context)
  lintRoles(context)
  if (!findings.hasErrors) lintUnused(normaliser, findings)
}
