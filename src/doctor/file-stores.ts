import type { Config, FilesystemOptions, StoreConfig } from '../config/config.js'
import { nestedStores } from '../config/store-path.js'

/** A store, nested ones included, with its path in the configuration: `CAS`, `CAS/fast`. */
export interface PlacedStore {
  readonly path: string
  readonly store: StoreConfig
}

export const placedStores = ({ stores }: Pick<Config, 'stores'>): PlacedStore[] => {
  const below = (path: string, store: StoreConfig): PlacedStore[] => [
    { path, store },
    ...nestedStores(store).flatMap(([key, nested]) => below(`${path}/${key}`, nested)),
  ]
  return [...stores].flatMap(([name, store]) => below(name, store))
}

export interface FileStore {
  readonly path: string
  readonly options: FilesystemOptions
}

export const fileStores = (config: Pick<Config, 'stores'>): FileStore[] =>
  placedStores(config).flatMap(({ path, store }) =>
    store.kind === 'filesystem' ? [{ path, options: store.options }] : [],
  )
