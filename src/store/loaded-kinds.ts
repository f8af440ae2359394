import type { StoreConfig, StoreOptions } from '../config/config.js'
import { withNested } from '../config/store-path.js'
import type { StoreKind } from './contract/kind.js'
import { kinds } from './kinds/kinds.js'

type Name = keyof StoreOptions

/** The kinds that a configuration uses, loaded. */
export class LoadedKinds {
  readonly #stores: ReadonlyMap<string, StoreConfig>
  readonly #loaded: ReadonlyMap<Name, StoreKind<never>>

  private constructor(stores: ReadonlyMap<string, StoreConfig>, loaded: ReadonlyMap<Name, StoreKind<never>>) {
    this.#stores = stores
    this.#loaded = loaded
  }

  static async of(stores: ReadonlyMap<string, StoreConfig>): Promise<LoadedKinds> {
    const used = new Set([...stores.values()].flatMap(withNested).map(({ kind }) => kind))
    const loaded = new Map<Name, StoreKind<never>>()
    for (const name of used) loaded.set(name, (await kinds[name].load()) as StoreKind<never>)
    return new LoadedKinds(stores, loaded)
  }

  kind(name: Name): StoreKind<never> {
    const kind = this.#loaded.get(name)
    if (kind === undefined) throw new Error(`the kind ${name} is not loaded`)
    return kind
  }

  config(name: string): StoreConfig {
    const config = this.#stores.get(name)
    if (config === undefined) throw new Error(`there is no store named ${name}`)
    return config
  }
}
