import { StatusError } from '../base/status-error.js'

export type CompressorName = 'ZSTD' | 'DEFLATE' | 'BROTLI'

export interface Compressor {
  readonly name: CompressorName
  /** Compressor.Value in the protocol. */
  readonly value: number
  /** The segment after `compressed-blobs/`. */
  readonly segment: string
}

/**
 * Supported compressors, best first, because clients such as Siso use the first one. REAPI: IDENTITY is not
 * announced.
 */
export const compressors: readonly Compressor[] = [
  { name: 'ZSTD', value: 1, segment: 'zstd' },
  { name: 'DEFLATE', value: 2, segment: 'deflate' },
  { name: 'BROTLI', value: 3, segment: 'brotli' },
]

export const IDENTITY = 0

/** The compressor of a resource name. Rejects `identity`: REAPI defines no `compressed-blobs/` form for it. */
export const compressorOfSegment = (segment: string): Compressor => {
  const known = compressors.find((candidate) => candidate.segment === segment)
  if (known !== undefined) return known
  const expected = compressors.map((candidate) => candidate.segment).join(', ')
  throw new StatusError('INVALID_ARGUMENT', `compressor ${quoted(segment)} is not served, expected one of ${expected}`)
}

/** The compressor of a `compressor` field; undefined for IDENTITY. */
export const compressorOfValue = (value: number): Compressor | undefined => {
  if (value === IDENTITY) return undefined
  const known = compressors.find((candidate) => candidate.value === value)
  if (known !== undefined) return known
  const expected = compressors.map((candidate) => `${candidate.value} (${candidate.name})`).join(', ')
  throw new StatusError('INVALID_ARGUMENT', `compressor ${value} is not served, expected 0 (IDENTITY), ${expected}`)
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 40))
