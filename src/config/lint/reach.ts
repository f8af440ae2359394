import type { AttachedWorker, Config } from '../config.js'
import { withNested } from '../store-path.js'
import type { LintContext } from './context.js'

/** A worker needs a store in common with the clients' uploads, else it never finds an input. */
export const lintReach = (context: LintContext): void => {
  for (const worker of context.config.workers) lintWorkerReach(worker, context)
}

const lintWorkerReach = (worker: AttachedWorker, { config, findings, originOf }: LintContext): void => {
  const scheduler = config.servers.find(({ name }) => name === worker.server)?.services.worker_api?.scheduler
  const workerStore = worker.options.cas_fast_slow_store
  const reached = reachableFrom(workerStore, config.stores)
  for (const { services } of config.servers) {
    for (const { instance_name, scheduler: used, cas_store } of services.execution.values()) {
      if (used !== scheduler || !config.stores.has(workerStore) || !config.stores.has(cas_store)) continue
      if ([...reachableFrom(cas_store, config.stores)].some((name) => reached.has(name))) continue
      const message = `the store of the worker shares nothing with ${JSON.stringify(cas_store)}, where clients of instance ${JSON.stringify(instance_name)} upload inputs`
      findings.warning([...originOf(worker.options), 'cas_fast_slow_store'], message, {
        found: JSON.stringify(workerStore),
        expected: `a store that is, or refers to, ${JSON.stringify(cas_store)}`,
      })
      return
    }
  }
}

/** The named stores below a store, including itself. */
export const reachableFrom = (
  name: string,
  stores: Config['stores'],
  seen = new Set<string>(),
): ReadonlySet<string> => {
  const store = stores.get(name)
  if (store === undefined || seen.has(name)) return seen
  seen.add(name)
  for (const nested of withNested(store)) {
    if (nested.kind === 'ref_store') reachableFrom(nested.options.name, stores, seen)
  }
  return seen
}
