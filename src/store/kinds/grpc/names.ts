import { randomUUID } from 'node:crypto'
import { type Compressor, compressors } from '../../../reapi/compressor.js'
import type { Digest } from '../../../reapi/digest.js'
import { formatReadName, formatWriteName } from '../../../reapi/resource-name.js'

/** How resource names for a server are formed. */
export interface Naming {
  readonly instanceName: string
  /** The server does not accept the digest function in resource names. */
  readonly isLegacy: boolean
}

export const ZSTD = compressors.find(({ name }) => name === 'ZSTD') as Compressor

export const readName = ({ instanceName, isLegacy }: Naming, digest: Digest, isZstd: boolean): string =>
  withoutFunction(formatReadName(instanceName, digest, isZstd ? ZSTD : undefined), digest, isLegacy)

/** A unique name for each upload. */
export const writeName = ({ instanceName, isLegacy }: Naming, digest: Digest, isZstd: boolean): string =>
  withoutFunction(formatWriteName(instanceName, randomUUID(), digest, isZstd ? ZSTD : undefined), digest, isLegacy)

const withoutFunction = (name: string, { function: { segment }, hash }: Digest, isLegacy: boolean): string =>
  isLegacy && segment !== undefined ? name.replace(`/${segment}/${hash}/`, `/${hash}/`) : name
