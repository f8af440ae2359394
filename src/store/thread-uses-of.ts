import type { StoreConfig } from '../config/config.js'
import type { ThreadNode, ThreadUse } from './contract/thread-use.js'
import { LoadedKinds } from './loaded-kinds.js'

/** How service threads use each named store, by its options alone. References must exist, without circles. */
export const threadUsesOf = async (
  stores: ReadonlyMap<string, StoreConfig>,
): Promise<ReadonlyMap<string, ThreadUse>> => {
  const loaded = await LoadedKinds.of(stores)
  const useOf = (path: string, config: StoreConfig): ThreadUse =>
    loaded.kind(config.kind).threads(config.options as never, {
      path,
      child: (below, key) => useOf(`${path}/${key}`, below),
      named,
      stage: (below) => stageOf(path, config, below),
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

const stageOf = (path: string, config: StoreConfig, uses: Readonly<Record<string, ThreadUse>>): ThreadUse => {
  const below: Record<string, ThreadNode> = {}
  for (const [key, use] of Object.entries(uses)) {
    if (!use.isOneEach) return use
    below[key] = use.node
  }
  return { isOneEach: true, node: { path, form: 'stage', config, below } }
}
