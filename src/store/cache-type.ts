import type { StoreConfig } from '../config/config.js'

/** The name of a store in metrics: its unique path, unless `cache_metrics` configures another. */
export const cacheTypeOf = ({ kind, options }: StoreConfig, path: string): string =>
  kind === 'cache_metrics' ? options.cache_type : path
