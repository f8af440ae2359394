import { statSync } from 'node:fs'
import { link, unlink } from 'node:fs/promises'
import { crc32Combine } from '../../../../base/crc32-combine.js'
import { errnoOf } from '../../../../base/errno.js'
import { CANNOT_LINK } from '../../../../blobs/local-file.js'
import type { FinishedFile } from '../../../../blobs/store.js'
import type { Digest } from '../../../../reapi/digest.js'
import type { Catalog } from '../catalog.js'
import { type Inspection, isIntact } from '../inspection.js'
import type { Located } from '../located.js'
import type { Pack } from '../packs/pack.js'
import { intactFrom, knownPlace } from './intact.js'

/** `BlobFiles.linkTogether`: the blobs have to be a whole pack, to which nothing is added from then on. */
export const linkPack = async (
  catalog: Catalog,
  inspection: Inspection,
  digests: readonly Digest[],
  destination: string,
): Promise<FinishedFile | undefined> => {
  const { packs } = catalog
  const [digest] = digests
  const first = digest && catalog.find(digest)
  const pack = first?.kind === 'packed' ? (await catalog.placeOf(first))?.pack : undefined
  if (pack === undefined || !(await packs.use(pack))) return undefined
  try {
    if (!(await checkAll(catalog, inspection, digests))) return undefined
    // In one turn: what the slots of these blobs say is about these blobs.
    const blobs = intactFrom(catalog, digests, { pack, offset: 0 })
    if (blobs === undefined) return undefined
    const { sizeBytes, checksum } = sumOf(catalog, blobs)
    // A writer that holds it may be about to take the bytes behind its end.
    if (pack.endBytes !== sizeBytes || pack.holdCount > 0 || pack.isDeleted) return undefined
    // Whoever has the link relies on its length.
    pack.isSealed = true
    const mtimeMs = await linked(pack, sizeBytes, destination)
    return mtimeMs === undefined ? undefined : { path: destination, sizeBytes, checksum, mtimeMs, isShared: true }
  } finally {
    packs.release(pack)
  }
}

/** Reads those that were not read or written since the start. */
const checkAll = async (catalog: Catalog, inspection: Inspection, digests: readonly Digest[]): Promise<boolean> => {
  for (const digest of digests) {
    const located = catalog.find(digest)
    if (located?.kind !== 'packed') return false
    const isKnown = knownPlace(catalog, located) !== undefined && catalog.isVerified(located)
    if (!isKnown && !isIntact(await inspection.checkPacked(located))) return false
  }
  return true
}

const sumOf = ({ packs }: Catalog, blobs: readonly Located[]): Pick<FinishedFile, 'sizeBytes' | 'checksum'> => {
  let [sizeBytes, checksum] = [0, 0]
  for (const { slot, storedBytes } of blobs) {
    checksum = crc32Combine(checksum, packs.checksumOf(slot), storedBytes)
    sizeBytes += storedBytes
  }
  return { sizeBytes, checksum }
}

/** The modification time of the link; undefined if there can be none, or of another length. */
const linked = async ({ path }: Pack, sizeBytes: number, destination: string): Promise<number | undefined> => {
  try {
    await link(path, destination)
  } catch (error) {
    if (CANNOT_LINK.has(errnoOf(error) ?? '')) return undefined
    throw error
  }
  // Synchronous: the inode was used a moment ago, so it does not wait for the disk.
  const { size, mtimeMs } = statSync(destination)
  if (size === sizeBytes) return mtimeMs
  await unlink(destination)
  return undefined
}
