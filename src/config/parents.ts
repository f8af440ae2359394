import { entryFor } from '../base/catch-all.js'
import type { Config, ServerConfig } from './config.js'

/** An instance, and the store with its results. */
export interface ParentResults {
  readonly instanceName: string
  readonly acStore: string
}

/** The instances whose results an instance reads after its own, the nearest first. */
export const parentsIn =
  (servers: readonly ServerConfig[], instances: Config['instances']) =>
  (instance: string): readonly ParentResults[] => {
    const found: ParentResults[] = []
    const seen = new Set([instance])
    for (
      let parent = instances.get(instance)?.parent;
      parent !== undefined && !seen.has(parent);
      parent = instances.get(parent)?.parent
    ) {
      seen.add(parent)
      const acStore = acStoreOf(servers, parent)
      if (acStore !== undefined) found.push({ instanceName: parent, acStore })
    }
    return found
  }

const acStoreOf = (servers: readonly ServerConfig[], instance: string): string | undefined =>
  servers
    .flatMap(({ services: { ac, execution } }) => [entryFor(ac, instance), entryFor(execution, instance)])
    .find((entry) => entry !== undefined)?.ac_store
