import type { KeptList, ListKept, WantedList } from '../admin/process-facts.js'
import { StatusError } from '../base/status-error.js'
import { compareListed, type ListBlobs } from '../blobs/listing.js'
import type { ServerConfig, StoreConfig } from '../config/config.js'
import { nestedStores } from '../config/store-path.js'
import { digestFunctions } from '../reapi/digest-function.js'
import { Semaphore } from '../work/semaphore.js'

export interface ListedStores {
  readonly servers: readonly ServerConfig[]
  readonly stores: ReadonlyMap<string, StoreConfig>
  /** By the path of the store. */
  readonly listers: ReadonlyMap<string, ListBlobs>
}

const DIGESTS: ReadonlySet<string> = new Set(Object.keys(digestFunctions))

/** One at a time, because each looks at every blob. */
const turns = new Semaphore({ permits: 1 })

/** Lists what the stores of an instance keep, as far as they are kept by this process. */
export const listKept =
  ({ servers, stores, listers }: ListedStores): ListKept =>
  async (wanted, signal): Promise<KeptList> => {
    const { kind, order, limit } = wanted
    const roots = rootsOf(servers, wanted)
    if (roots.size === 0) throw new StatusError('NOT_FOUND', nothingFor(wanted))
    const listed: string[] = []
    const unlisted: string[] = []
    const told = new Set<string>()
    const look = (path: string, config: StoreConfig | undefined): void => {
      if (config === undefined || told.has(path)) return
      told.add(path)
      if (config.kind === 'ref_store') look(config.options.name, stores.get(config.options.name))
      else if (listers.has(path)) listed.push(path)
      else {
        const below = nestedStores(config)
        if (below.length === 0 && config.kind !== 'noop') unlisted.push(path)
        for (const [key, nested] of below) look(`${path}/${key}`, nested)
      }
    }
    for (const name of roots) look(name, stores.get(name))
    const chosen = wanted.store === '' ? listed : listed.filter((path) => isIn(wanted.store, path))
    if (chosen.length === 0) throw new StatusError('NOT_FOUND', noneOf(wanted.store, listed, unlisted))
    const wantsKind = (name: string): boolean => (kind === 'http' ? name === 'HTTP_ENTRY' : DIGESTS.has(name))
    const leave = await turns.acquire('listing', signal)
    try {
      const pages: Awaited<ReturnType<ListBlobs>>[] = []
      for (const path of chosen) pages.push((await listers.get(path)?.({ ...wanted, wantsKind })) ?? [])
      const blobs = pages
        .flat()
        .sort((a, b) => compareListed(order, a, b))
        .slice(0, limit)
      return { blobs, stores: chosen, unlisted }
    } finally {
      leave()
    }
  }

const isIn = (store: string, path: string): boolean => path === store || path.startsWith(`${store}/`)

/** The stores that the instance uses for what is wanted, on all servers. */
const rootsOf = (servers: readonly ServerConfig[], { kind, instance }: WantedList): ReadonlySet<string> => {
  const stores = servers.flatMap(({ services: { cas, ac } }) =>
    kind === 'blobs'
      ? ((cas.get(instance) ?? cas.get('*'))?.cas_store ?? [])
      : ((ac.get(instance) ?? ac.get('*'))?.ac_store ?? []),
  )
  return new Set(stores)
}

const nothingFor = ({ kind, instance }: WantedList): string =>
  `instance ${JSON.stringify(instance)} has no ${kind === 'blobs' ? 'cas' : 'ac'} service on this server`

const noneOf = (store: string, listed: readonly string[], unlisted: readonly string[]): string => {
  const elsewhere = unlisted.length === 0 ? '' : `; ${unlisted.join(', ')} keeps its blobs elsewhere`
  if (listed.length === 0) return `no store here can be listed${elsewhere}`
  return `there is no store ${store} to list, expected one of ${listed.join(', ')}${elsewhere}`
}
