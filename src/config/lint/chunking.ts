import type { Chunking, ServerConfig, StoreOptions } from '../config.js'
import { type LintContext, storeBehind } from './context.js'

/** Sizes that REAPI allows. */
const CHUNK_BYTES = { least: 1024, most: 1024 * 1024 }

/** What the schema has for these keys when a file does not. */
export const CHUNK_DEFAULTS = { avg_chunk_size_bytes: 524_288, min_chunk_size_bytes: 262_144 } as const
export const DEDUP_DEFAULTS = { min_size: 65_536, normal_size: 262_144, max_size: 524_288 } as const

type Sizes = Pick<Chunking, keyof typeof CHUNK_DEFAULTS | 'horizon_size_bytes'>

const lintSizes = (sizes: Sizes, path: readonly (string | number)[], { findings }: LintContext): void => {
  for (const key of ['avg_chunk_size_bytes', 'min_chunk_size_bytes'] as const) {
    const sizeBytes = sizes[key]
    if (sizeBytes >= CHUNK_BYTES.least && sizeBytes <= CHUNK_BYTES.most) continue
    const expected = `${CHUNK_BYTES.least} to ${CHUNK_BYTES.most} bytes`
    findings.error([...path, key], 'REAPI allows no such size', { found: String(sizeBytes), expected })
  }
}

/** The keys whose values are not these. */
const changed = (options: object, defaults: object): string[] => {
  const given = new Map(Object.entries(options))
  return Object.entries(defaults).flatMap(([key, value]) => (given.get(key) === value ? [] : [key]))
}

/** Sizes of another way to cut, which would have no effect. */
export const lintDedupSizes = (options: StoreOptions['dedup'], context: LintContext): void => {
  const { findings, originOf } = context
  const path = originOf(options)
  if (options.chunking_function !== undefined) {
    lintSizes(options, path, context)
    const [key] = changed(options, DEDUP_DEFAULTS)
    if (key !== undefined)
      findings.error([...path, key], 'chunking_function has sizes of its own', {
        expected: 'avg_chunk_size_bytes, or min_chunk_size_bytes and horizon_size_bytes',
      })
    return
  }
  const [key] = changed(options, { ...CHUNK_DEFAULTS, horizon_size_bytes: undefined })
  if (key !== undefined)
    findings.error([...path, key], 'this is a size of chunking_function, which is absent', {
      expected: 'chunking_function beside it, or min_size, normal_size and max_size',
    })
}

export const lintChunking = ({ services }: ServerConfig, context: LintContext): void => {
  const { config, originOf } = context
  for (const { cas_store, experimental_chunking: chunking } of services.cas.values()) {
    if (chunking === undefined) continue
    const path = originOf(chunking)
    const cas = storeBehind(config.stores, cas_store)
    if (cas?.kind === 'dedup' && cas.options.chunking_function !== undefined) {
      lintOverDedup(chunking, context)
      continue
    }
    lintSizes(chunking, path, context)
  }
}

/** The store knows its lists and sizes. */
const lintOverDedup = (chunking: Chunking, { findings, originOf }: LintContext): void => {
  const defaults = {
    ...CHUNK_DEFAULTS,
    chunking_function: 'fast_cdc_2020',
    horizon_size_bytes: undefined,
    index_store: undefined,
  }
  const [key] = changed(chunking, defaults)
  if (key === undefined) return
  findings.error([...originOf(chunking), key], 'the dedup store of this instance cuts blobs and keeps the lists', {
    expected: 'max_chunk_count only, or no experimental_chunking',
  })
}
