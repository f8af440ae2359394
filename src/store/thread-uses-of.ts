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
      named: (name) => useOf(name, loaded.config(name)),
    })
  return new Map([...stores].map(([name, config]) => [name, useOf(name, config)]))
}
