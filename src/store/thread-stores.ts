import type { MeteredStore, StoreMeter } from '../blobs/meter.js'
import type { Store } from '../blobs/store.js'
import { cacheTypeOf } from './cache-type.js'
import { StoreNode } from './contract/node.js'
import type { ThreadNode } from './contract/thread-use.js'
import { kinds } from './kinds/kinds.js'

export interface ThreadStoresParts {
  /** The half that the thread has of a store of the owner. */
  shared(path: string): Store
  meter?(store: MeteredStore): StoreMeter
}

/** The stores of a service thread, by name. A store that several refer to is one object, as in the owner. */
export const buildThreadStores = async (
  nodes: ReadonlyMap<string, ThreadNode>,
  parts: ThreadStoresParts,
): Promise<ReadonlyMap<string, Store>> => {
  const built = new Map<string, Promise<Store>>()
  const storeOf = (node: ThreadNode): Promise<Store> => {
    const known = built.get(node.path) ?? build(node)
    built.set(node.path, known)
    return known
  }
  const build = async (node: ThreadNode): Promise<Store> => {
    const { path } = node
    const store = await unmetered(node)
    const cacheType = node.form === 'stage' ? cacheTypeOf(node.config, path) : path
    const meter = parts.meter?.({ cacheType, usage: () => undefined, uploadQueue: () => undefined })
    return new StoreNode(store, { path, ...(meter && { meter }) })
  }
  const unmetered = async (node: ThreadNode): Promise<Store> => {
    if (node.form === 'shared') return parts.shared(node.path)
    if (node.form === 'passing') return storeOf(node.to)
    const { path, config, below } = node
    const kind = await kinds[config.kind].load()
    if (kind.stage === undefined) throw new Error(`a store of the kind ${config.kind} is no stage of a service thread`)
    const child = (_: unknown, key: string): Promise<Store> => storeOf(below[key] as ThreadNode)
    return kind.stage(config.options as never, { path, child })
  }
  const stores = new Map<string, Store>()
  for (const [name, node] of nodes) stores.set(name, await storeOf(node))
  return stores
}
