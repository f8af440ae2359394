import { CATCH_ALL } from '../base/catch-all.js'
import { columns } from '../base/columns.js'
import { type Use, whyOwned } from './carried.js'
import type { AttachedWorker, Config, ServerConfig } from './config.js'
import { innermost } from './innermost.js'
import { storePath } from './store-path.js'
import { addressText } from './value/address.js'
import { readsText, writersIn, writesText } from './who-writes.js'

/**
 * Describes, for people, the stages of each store, for how long it promises to keep blobs (`promises`), how service threads
 * use it (`uses`), and the stores of each service and worker.
 */
export const explain = (
  config: Config,
  promises: ReadonlyMap<string, string>,
  uses: ReadonlyMap<string, Use>,
): readonly string[] => [
  'stores',
  ...table([...config.stores.keys()].map((name) => [name, pathOf(name, config)])),
  'promises: how long a blob is kept at least',
  ...table([...promises]),
  ...(config.global.threads === 1 ? [] : threadsOf(config, uses)),
  ...(config.schedulers.size === 0 ? [] : ['schedulers', ...table(queuesOf(config))]),
  ...config.servers.flatMap((server) => [
    `server ${JSON.stringify(server.name)} at ${addressText(server.listener)}`,
    ...table(servicesOf(server, config)),
  ]),
  ...config.workers.flatMap((worker) => [
    `worker ${JSON.stringify(worker.options.name)}`,
    ...table(worksOn(worker, config)),
  ]),
  ...accessOf(config),
]

/** Where the queue of each scheduler is. */
const queuesOf = (config: Config): Row[] =>
  [...config.schedulers].map(([name, scheduler]): Row => {
    const options = innermost(scheduler)
    if (options === undefined) return [name, 'forwards to another server']
    const { experimental_backend: backend, peers } = options
    if (typeof backend !== 'object' || peers === undefined) return [name, 'its queue is in this process']
    const engine = 'redis' in backend ? backend.redis.redis_store : backend.object.object_store
    const others = `one queue with all servers that elect one of them by ${engine}`
    return [name, `${others}; the others reach this one at ${peers.endpoint.address}`]
  })

/** One row for each rule of access, and one for each worker and parent. */
const accessOf = (config: Config): readonly string[] => {
  const writers = writersIn(config)
  if (writers.length === 0) return []
  const parents = [...config.instances].flatMap(([name, { parent }]): Row[] =>
    parent === undefined
      ? []
      : [[`instance ${JSON.stringify(name)}`, `then what instance ${JSON.stringify(parent)} has`, 'nothing there']],
  )
  return [
    'who reads and writes results, HTTP entries and assets; blobs prove themselves, so all share them',
    ...table([
      ['who', 'reads', 'writes'],
      ...writers.map((one): Row => [one.who, readsText(one), writesText(one)]),
      ...config.workers.map(({ options }): Row => {
        const isConfined = options.use_mount_namespace && !options.keep_network
        const writes = isConfined ? 'what all read: its actions are confined' : 'where who asked writes: not confined'
        return [`worker ${JSON.stringify(options.name)}`, 'inputs', writes]
      }),
      ...parents,
    ]),
  ]
}

const threadsOf = (config: Config, uses: ReadonlyMap<string, Use>): string[] => [
  `${config.global.threads} service threads: which stores are one for all of them, and which thread serves gRPC of a server`,
  ...table([
    ...[...uses].map(
      ([name, use]): Row => [
        `store ${name}`,
        use.isOneEach ? 'one in each thread, over one index; the main thread commits' : `one for all: ${use.because}`,
      ],
    ),
    ...config.servers.map((server): Row => {
      const why = whyOwned(server, config, uses)
      const where = why === undefined ? 'the threads, unless traces are exported' : `the main thread: ${why}`
      return [`server ${JSON.stringify(server.name)}`, where]
    }),
    ...(config.security?.request_limits.length ? [LIMITED] : []),
  ]),
]

const LIMITED: Row = ['callers with `request_limits`', 'in the main thread, which counts their requests']

const pathOf = (name: string, { stores }: Config): string => {
  const store = stores.get(name)
  return store === undefined ? 'no such store' : storePath(store, stores)
}

type Row = readonly string[]

const servicesOf = ({ services }: ServerConfig, config: Config): Row[] => {
  const through = (name: string): string => `${name}: ${pathOf(name, config)}`
  const rows = <Options>(
    service: string,
    map: ReadonlyMap<string, Options>,
    describe: (options: Options) => string,
  ): Row[] => [...map].map(([instance, options]) => [service, JSON.stringify(instance), describe(options)])
  const one = (service: string, options: { readonly path?: string } | undefined, more = ''): Row[] =>
    options === undefined ? [] : [[service, '', `${options.path ?? ''}${more}`.trim() || 'on']]
  /** One for each service, so that a new one cannot be left out. */
  const of: { readonly [Service in keyof Required<ServerConfig['services']>]: () => Row[] } = {
    cas: () => [
      ...rows('cas', services.cas, ({ cas_store }) => through(cas_store)),
      ...[...services.cas].flatMap(([instance, { experimental_chunking: chunking }]): Row[] =>
        chunking?.index_store === undefined
          ? []
          : [['chunk lists', JSON.stringify(instance), through(chunking.index_store)]],
      ),
    ],
    bytestream: () => rows('bytestream', services.bytestream, ({ cas_store }) => through(cas_store)),
    ac: () => rows('ac', services.ac, ({ ac_store, read_only }) => `${through(ac_store)}${readOnly(read_only)}`),
    execution: () =>
      rows(
        'execution',
        services.execution,
        ({ scheduler, cas_store, ac_store }) =>
          `scheduler ${scheduler}, inputs in ${cas_store}, results in ${ac_store}`,
      ),
    fetch: () =>
      rows(
        'fetch',
        services.fetch,
        ({ fetch_store, download }) =>
          `${through(fetch_store)}, ${download === undefined ? 'downloads nothing' : `downloads from ${download.allow.join(', ')}`}`,
      ),
    push: () =>
      rows('push', services.push, ({ push_store, read_only }) => `${through(push_store)}${readOnly(read_only)}`),
    capabilities: () => rows('capabilities', services.capabilities, () => 'what the others offer'),
    http_cache: () =>
      [...services.http_cache].map(([path, { kind, instance_name: instance }]) => [
        'http_cache',
        path,
        `${kind}, instance ${JSON.stringify(instance)}`,
      ]),
    worker_api: () =>
      services.worker_api === undefined ? [] : [['worker_api', '', `scheduler ${services.worker_api.scheduler}`]],
    build_events: () =>
      services.build_events === undefined ? [] : [['build_events', '', `kept in ${services.build_events.path}`]],
    pages: () => one('pages', services.pages),
    health: () => one('health', services.health),
    admin: () => one('admin', services.admin),
    metrics: () => one('metrics', services.metrics),
  }
  return Object.values(of).flatMap((rowsOf) => rowsOf())
}

const readOnly = (isReadOnly: boolean): string => (isReadOnly ? ', read only' : '')

const worksOn = (worker: AttachedWorker, config: Config): Row[] => {
  const { server, options } = worker
  const { worker_api_endpoint: endpoint, cas_fast_slow_store: store, upload_action_result: results } = options
  const connects = server === undefined ? endpoint.uri : `server ${JSON.stringify(server)} of this process`
  return [
    ['connects to', connects],
    ['inputs and outputs', `${store}: ${pathOf(store, config)}`],
    ...(results.ac_store === undefined
      ? []
      : [['results', `${results.ac_store}: ${pathOf(results.ac_store, config)}`]]),
    ...imagesOf(worker, config),
    ...keptRootsOf(options),
    ...persistentOf(options),
  ]
}

/** What becomes of the input roots of actions. */
const keptRootsOf = ({ directory_cache: kept }: AttachedWorker['options']): Row[] => {
  if (kept === undefined) return [['input roots', 'made anew for every action (directory_cache keeps them)']]
  const { max_entries: most, max_size_bytes: maxBytes, max_age_s: age } = kept
  const bytes = maxBytes === 0 ? '' : ` and ${maxBytes} bytes`
  return [['input roots', `kept for equal and similar actions: at most ${most}${bytes}, ${age} s after their last use`]]
}

/** What becomes of actions that ask for a persistent worker. */
const persistentOf = (options: AttachedWorker['options']): Row[] => {
  const { enabled, max_processes: most, max_idle_s: idle, max_requests: requests } = options.persistent_workers
  const beside = [...options.additional_environment].some(
    ([, source]) => source === 'side_channel_file' || source === 'action_directory',
  )
  const isOff =
    !enabled || beside || options.input_root_is_root || options.experimental_precondition_script !== undefined
  if (isOff) return [['persistent workers', 'none: every command has a process of its own']]
  const count = most === 0 ? 'twice max_inflight_tasks (at least 8)' : String(most)
  const ends = [`${idle} s without a request`, ...(requests === 0 ? [] : [`${requests} requests`])]
  return [
    ['persistent workers', `kept for actions with persistentWorkerKey: at most ${count}, until ${ends.join(' or ')}`],
  ]
}

/** What becomes of actions that name an image. Empty where a scheduler of another file, or an entry for the property, decides. */
const imagesOf = ({ server, options }: AttachedWorker, config: Config): Row[] => {
  const { container_images: images } = options
  if (images !== undefined) {
    const from = images.registries.length === 0 ? 'every registry with a public address' : images.registries.join(', ')
    return [['named images', `run in them: from ${from}, kept in ${images.directory ?? 'work_directory'}`]]
  }
  const name = config.servers.find((one) => one.name === server)?.services.worker_api?.scheduler
  const supported =
    name === undefined ? undefined : innermost(config.schedulers.get(name))?.supported_platform_properties
  if (supported?.get(CATCH_ALL) !== 'ignore' || supported.has('container-image')) return []
  const remedy = `container_images here, or 'container-image': 'ignore' in scheduler ${name}`
  return [['named images', `actions that name one are not run here: ${remedy}`]]
}

const table = (rows: readonly Row[]): string[] => columns(rows).map((line) => `  ${line}`)
