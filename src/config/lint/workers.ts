import { resolve } from 'node:path'
import { entryFor } from '../../base/catch-all.js'
import type { AttachedWorker, LocalWorkerOptions, SimpleSchedulerOptions, StoreConfig } from '../config.js'
import { innermost } from '../innermost.js'
import { withNested } from '../store-path.js'
import { type LintContext, storeBehind } from './context.js'
import { lintImages } from './images.js'
import { isWithin } from './stores.js'

export const lintWorkers = (context: LintContext): void => {
  const { workers } = context.config
  for (const [index, worker] of workers.entries()) {
    lintStoreOf(worker.options, context)
    lintUploads(worker.options, context)
    lintWorkDirectory(worker.options, workers.slice(0, index), context)
    lintProperties(worker, context)
    lintNamespaces(worker.options, context)
    lintImages(worker.options, context)
    lintIdle(worker.options, context)
    if (workers.slice(0, index).some(({ options }) => options.name === worker.options.name)) {
      context.findings.error(
        [...context.originOf(worker.options), 'name'],
        `two workers are called ${JSON.stringify(worker.options.name)}`,
        {
          found: JSON.stringify(worker.options.name),
          expected: 'a name of its own',
        },
      )
    }
  }
  lintSchedulers(context)
  lintWorkerApis(context)
}

const behind = (store: StoreConfig | undefined, { config }: LintContext): StoreConfig | undefined =>
  store?.kind === 'ref_store' ? storeBehind(config.stores, store.options.name) : store

/** Inputs are hard links to files, which only a `filesystem` store has. */
const lintStoreOf = (options: LocalWorkerOptions, context: LintContext): void => {
  const name = options.cas_fast_slow_store
  const store = storeBehind(context.config.stores, name)
  if (store === undefined) return
  const isFiles = (one: StoreConfig): boolean => (behind(one, context) ?? { kind: 'filesystem' }).kind === 'filesystem'
  if (store.kind === 'fast_slow' && isFiles(store.options.fast)) return
  const { content_store: content, whole_store: whole } = store.kind === 'dedup' ? store.options : {}
  if (content !== undefined && whole !== undefined && isFiles(content) && isFiles(whole)) return
  const found = foundStore(store, context)
  context.findings.error(
    [...context.originOf(options), 'cas_fast_slow_store'],
    `the store ${JSON.stringify(name)} of the worker is ${found}`,
    {
      found,
      expected:
        'a fast_slow store whose fast store is a filesystem store, or a dedup store with two: content_store and whole_store',
    },
  )
}

const foundStore = (store: StoreConfig, context: LintContext): string => {
  if (store.kind === 'fast_slow') return `fast_slow over ${behind(store.options.fast, context)?.kind}`
  if (store.kind !== 'dedup') return store.kind
  const { content_store: content, whole_store: whole } = store.options
  if (whole === undefined) return 'dedup without whole_store'
  return `dedup over ${behind(content, context)?.kind} and ${behind(whole, context)?.kind}`
}

const lintUploads = (options: LocalWorkerOptions, { config, findings, originOf, isWritten }: LintContext): void => {
  const { ac_store, upload_ac_results_strategy: strategy } = options.upload_action_result
  const path = originOf(options.upload_action_result)
  if (ac_store === undefined) {
    const keyPath = [...path, 'upload_ac_results_strategy']
    if (strategy === 'never' || !isWritten(keyPath)) return
    findings.error(keyPath, `"${strategy}" results cannot be uploaded without ac_store`, {
      found: strategy,
      expected: 'ac_store beside it, or "never"',
    })
    return
  }
  const cas = storeBehind(config.stores, options.cas_fast_slow_store)
  if (cas === undefined || cas !== storeBehind(config.stores, ac_store)) return
  findings.error([...path, 'ac_store'], 'the worker has one store for blobs and for results', {
    found: JSON.stringify(ac_store),
    expected: 'a store that is not its cas_fast_slow_store',
  })
}

/** Some namespaces require others, and a side channel needs a directory. */
const lintNamespaces = (options: LocalWorkerOptions, { findings, originOf }: LintContext): void => {
  const needs = (
    key: 'keep_network' | 'use_mount_namespace' | 'input_root_is_root',
    other: keyof LocalWorkerOptions,
  ) => {
    if (!options[key] || options[other]) return
    findings.error([...originOf(options), key], `${key} has no effect without ${other}`, {
      found: 'true',
      expected: `"${other}": true beside it`,
    })
  }
  needs('keep_network', 'use_namespaces')
  needs('use_mount_namespace', 'use_namespaces')
  needs('input_root_is_root', 'use_mount_namespace')
  if (!options.input_root_is_root) return
  for (const [name, source] of options.additional_environment) {
    if (source !== 'side_channel_file' && source !== 'action_directory') continue
    findings.error(
      [...originOf(options), 'additional_environment', name],
      `with input_root_is_root there is no ${source}`,
    )
  }
}

/** Reports keys that another key makes ineffective. */
const lintIdle = (options: LocalWorkerOptions, { findings, originOf, isWritten }: LintContext): void => {
  const path = originOf(options)
  const idle = (keyPath: readonly string[], why: string): void => {
    if (!isWritten([...path, ...keyPath])) return
    findings.warning([...path, ...keyPath], `${keyPath.at(-1)} has no effect ${why}`, { at: 'key' })
  }
  if (!options.use_mount_namespace) idle(['read_only_inputs'], 'without use_mount_namespace')
  if (options.upload_action_result.upload_historical_results_strategy === 'never') {
    const why = 'where upload_historical_results_strategy is "never"'
    idle(['upload_action_result', 'historical_results_store'], why)
  }
  const beside = [...options.additional_environment].find(
    ([, source]) => source === 'side_channel_file' || source === 'action_directory',
  )
  if (options.experimental_precondition_script !== undefined) {
    const why = 'beside experimental_precondition_script, which may write anywhere'
    idle(['directory_cache'], why)
    idle(['persistent_workers'], why)
  } else if (beside !== undefined) {
    const why = `beside ${beside[0]} of additional_environment, by which a command writes outside of its root`
    idle(['directory_cache'], why)
    idle(['persistent_workers'], why)
  } else if (options.input_root_is_root) {
    idle(['persistent_workers'], 'with input_root_is_root, because the root of a process cannot be changed then')
  }
}

/** Actions run in the work directory with the rights of the server, so no other data may be there. */
const lintWorkDirectory = (
  options: LocalWorkerOptions,
  others: readonly AttachedWorker[],
  context: LintContext,
): void => {
  const directory = resolve(options.work_directory)
  const stores = [...context.config.stores.values()].flatMap(withNested)
  const kept = [
    ...others.map((worker) => ['the work_directory of another worker', worker.options.work_directory] as const),
    ...stores.flatMap((store) => {
      if (store.kind !== 'filesystem') return []
      return [
        ['the content_path of a store', store.options.content_path] as const,
        ['the temp_path of a store', store.options.temp_path] as const,
      ]
    }),
  ]
  const hit = kept.find(([, path]) => isWithin(resolve(path), directory) || isWithin(directory, resolve(path)))
  if (hit === undefined) return
  context.findings.error(
    [...context.originOf(options), 'work_directory'],
    `actions run in work_directory, and ${hit[0]} is in their way`,
    {
      found: JSON.stringify(options.work_directory),
      expected: 'a directory of its own',
    },
  )
}

const schedulerOf = ({ server }: AttachedWorker, { config }: LintContext): SimpleSchedulerOptions | undefined => {
  const name = config.servers.find((one) => one.name === server)?.services.worker_api?.scheduler
  return name === undefined ? undefined : innermost(config.schedulers.get(name))
}

const lintProperties = (worker: AttachedWorker, context: LintContext): void => {
  const supported = schedulerOf(worker, context)?.supported_platform_properties
  if (supported === undefined) return
  const path = [...context.originOf(worker.options), 'platform_properties']
  for (const [name, offered] of worker.options.platform_properties) {
    const match = entryFor(supported, name)
    if (match === undefined) {
      context.findings.warning(
        [...path, name],
        `the scheduler does not list ${name} in supported_platform_properties: no action can ask for it`,
        { at: 'key' },
      )
    } else if (match === 'minimum' && 'values' in offered && !offered.values.every((value) => /^\d+$/.test(value))) {
      context.findings.error([...path, name], `${name} is matched as a minimum, so its values are numbers`, {
        found: offered.values.join(', '),
        expected: 'whole numbers in quotes',
      })
    }
  }
}

/** Workers can only connect to a scheduler that queues. */
const lintWorkerApis = ({ config, findings, originOf }: LintContext): void => {
  for (const { name: server, services } of config.servers) {
    const name = services.worker_api?.scheduler
    const scheduler = name === undefined ? undefined : config.schedulers.get(name)
    if (scheduler === undefined || innermost(scheduler) !== undefined) continue
    findings.error(originOf(scheduler.options), `no worker can connect to the scheduler ${JSON.stringify(name)}`, {
      found: `worker_api of server ${JSON.stringify(server)} names it, and it hands actions on to another server`,
      expected: 'workers to connect to that server',
    })
  }
}

/** Below this value the keepalive of a healthy client may arrive too late. */
const CLIENT_KEEPALIVE_S = 10

const lintSchedulers = ({ config, findings, originOf, isWhole }: LintContext): void => {
  for (const [name, scheduler] of config.schedulers) {
    const options = innermost(scheduler)
    if (options === undefined) continue
    const path = originOf(options)
    if (options.max_job_retries === 0) {
      findings.warning(
        [...path, 'max_job_retries'],
        '0 means that a lost worker fails the action; leave the key out for 3 retries',
      )
    }
    if (options.client_action_timeout_s <= CLIENT_KEEPALIVE_S) {
      findings.warning(
        [...path, 'client_action_timeout_s'],
        `clients that reconnect within ${CLIENT_KEEPALIVE_S} seconds would find their operation cancelled`,
      )
    }
    const isReachable = config.servers.some(({ services }) => services.worker_api?.scheduler === name)
    if (isWhole && !isReachable)
      findings.warning(path, `no worker can reach the scheduler "${name}"`, {
        expected: 'a server with worker_api for it, or a local worker',
      })
  }
}
