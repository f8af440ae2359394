import type { StoreConfig } from '../config/config.js'
import type { ThreadUse } from './contract/thread-use.js'
import { LoadedKinds } from './loaded-kinds.js'

/** How service threads use each named store, by its options alone. References must exist, without circles. */
export const threadUsesOf = async (
  stores: ReadonlyMap<string, StoreConfig>,
): Promise<ReadonlyMap<string, ThreadUse>> => {
  const loaded = await LoadedKinds.of(stores)
  const useOf = (path: string, { kind, options }: StoreConfig): ThreadUse =>
    loaded.kind(kind).threads(options as never, {
      path,
      child: (config, key) => useOf(`${path}/${key}`, config),
      named,
    })
  /** Stores may be referred to many times. */
  const known = new Map<string, ThreadUse>()
  const named = (name: string): ThreadUse => {
    const use = known.get(name) ?? useOf(name, loaded.config(name))
    known.set(name, use)
    return use
  }
  return new Map([...stores.keys()].map((name) => [name, named(name)]))
}
