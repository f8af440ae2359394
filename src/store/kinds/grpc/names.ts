import { randomUUID } from 'node:crypto'
import { type Compressor, compressors } from '../../../reapi/compressor.js'
import type { Digest } from '../../../reapi/digest.js'
import { formatReadName, formatWriteName } from '../../../reapi/resource-name.js'

/** How blobs are named towards one server. */
export interface Naming {
  readonly instanceName: string
  /** The server does not know the part that names the digest function. */
  readonly isLegacy: boolean
}

export const ZSTD = compressors.find(({ name }) => name === 'ZSTD') as Compressor

export const readName = ({ instanceName, isLegacy }: Naming, digest: Digest, isZstd: boolean): string =>
  withoutFunction(formatReadName(instanceName, digest, isZstd ? ZSTD : undefined), digest, isLegacy)

/** Another one for each upload. */
export const writeName = ({ instanceName, isLegacy }: Naming, digest: Digest, isZstd: boolean): string =>
  withoutFunction(formatWriteName(instanceName, randomUUID(), digest, isZstd ? ZSTD : undefined), digest, isLegacy)

const withoutFunction = (name: string, { function: { segment }, hash }: Digest, isLegacy: boolean): string =>
  isLegacy && segment !== undefined ? name.replace(`/${segment}/${hash}/`, `/${hash}/`) : name
