import { CATCH_ALL } from '../../base/catch-all.js'
import type { ServicesConfig } from '../config.js'
import { innermost } from '../innermost.js'
import type { LintContext } from './context.js'
import { reachableFrom } from './reach.js'

export const lintInstances = (context: LintContext): void => {
  for (const instance of context.config.instances.values()) {
    lintName(instance.instance_name, instance, context)
    if (instance.isolate || instance.max_stored_bytes === undefined) continue
    const path = [...context.originOf(instance), 'max_stored_bytes']
    context.findings.error(path, 'max_stored_bytes needs isolate: blobs that instances share have no owner', {
      expected: 'isolate: true beside it, or a limit of the store',
    })
  }
  lintIsolation(context)
  lintConfinement(context)
}

const lintName = (name: string, options: object, { config, findings, originOf, isWhole }: LintContext): void => {
  const path = originOf(options)
  if (name === CATCH_ALL) {
    findings.error(path, `"${CATCH_ALL}" is no instance of its own, but all that have no entry in a service`, {
      found: JSON.stringify(name),
      expected: 'the name of one instance',
    })
    return
  }
  if (!isWhole || config.servers.some(({ services }) => usesOf(services).some((use) => use.instance === name))) return
  findings.warning(path, `no service has an instance ${JSON.stringify(name)}: this changes nothing`, {
    expected: 'the name of an instance in services',
  })
}

/**
 * Isolation in a store works by keys, which are ordinary digests. An instance that uses the store without
 * isolation could request them.
 */
const lintIsolation = ({ config, findings, originOf }: LintContext): void => {
  const uses = config.servers.flatMap(({ services }) => usesOf(services))
  const isIsolated = ({ instance }: Use): boolean => config.instances.get(instance)?.isolate === true
  const open = new Map<string, Use>()
  for (const use of uses.filter((one) => !isIsolated(one))) {
    for (const store of reachableFrom(use.store, config.stores)) open.set(store, use)
  }
  const reported = new Set<string>()
  for (const { instance, store } of uses.filter(isIsolated)) {
    const shared = [...reachableFrom(store, config.stores)].find((name) => open.has(name))
    const other = shared === undefined ? undefined : open.get(shared)
    if (other === undefined || reported.has(instance)) continue
    reported.add(instance)
    const names = `instance ${JSON.stringify(other.instance)} uses store ${JSON.stringify(shared)} too, and is not isolated`
    findings.error([...originOf(config.instances.get(instance) ?? {}), 'isolate'], names, {
      expected: 'both isolated, or a store for each',
    })
  }
}

/**
 * Actions of isolated instances run on the same worker. There they can read files of other instances and all
 * blobs of the store, unless the worker confines them.
 */
const lintConfinement = ({ config, findings, originOf }: LintContext): void => {
  for (const { options, server } of config.workers) {
    if (options.use_mount_namespace) continue
    const name = config.servers.find((one) => one.name === server)?.services.worker_api?.scheduler
    const scheduler = innermost(config.schedulers.get(name ?? ''))
    const instances = config.servers.flatMap(({ services }) =>
      [...services.execution].flatMap(([instance, execution]) =>
        innermost(config.schedulers.get(execution.scheduler)) === scheduler ? [instance] : [],
      ),
    )
    const isolated = instances.find((instance) => config.instances.get(instance)?.isolate)
    const other = instances.find((instance) => instance !== isolated)
    if (scheduler === undefined || isolated === undefined || other === undefined) continue
    const names = `${JSON.stringify(isolated)} and ${JSON.stringify(other)}`
    findings.warning(
      originOf(options),
      `actions of the instances ${names} can read each other's files on this worker`,
      {
        expected: 'use_namespaces and use_mount_namespace, or a scheduler with workers of its own for each instance',
      },
    )
  }
}

interface Use {
  readonly instance: string
  readonly store: string
}

/** The stores that the instances of a server use directly. */
const usesOf = ({ cas, ac, bytestream, execution, fetch, push }: ServicesConfig): readonly Use[] => [
  ...entries(cas, ({ cas_store, experimental_chunking: chunking }) => [cas_store, chunking?.index_store]),
  ...entries(ac, ({ ac_store }) => [ac_store]),
  ...entries(bytestream, ({ cas_store }) => [cas_store]),
  ...entries(execution, ({ cas_store, ac_store }) => [cas_store, ac_store]),
  ...entries(fetch, ({ fetch_store }) => [fetch_store]),
  ...entries(push, ({ push_store }) => [push_store]),
]

const entries = <Options>(
  service: ReadonlyMap<string, Options>,
  storesOf: (options: Options) => readonly (string | undefined)[],
): readonly Use[] =>
  [...service].flatMap(([instance, options]) =>
    storesOf(options).flatMap((store) => (typeof store === 'string' ? [{ instance, store }] : [])),
  )
