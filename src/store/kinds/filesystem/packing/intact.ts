import type { Digest } from '../../../../reapi/digest.js'
import type { Catalog } from '../catalog.js'
import type { Located } from '../located.js'
import type { Packed } from '../packs/packs.js'

/** Where a packed blob lies, if that is known since the start. */
export const knownPlace = ({ packs }: Catalog, { kind, slot }: Located): Packed | undefined =>
  kind === 'packed' ? packs.placeOf(slot) : undefined

/** Blobs that lie one behind the other from `place` on, if all of them are there and known to be intact. Their pack is in use. */
export const intactFrom = (
  catalog: Catalog,
  digests: readonly Digest[],
  place: Packed,
): readonly Located[] | undefined => {
  const blobs: Located[] = []
  let end = place
  for (const digest of digests) {
    const located = catalog.find(digest)
    const found = located && knownPlace(catalog, located)
    if (located === undefined || found === undefined || !isAt(found, end)) return undefined
    if (!catalog.isVerified(located)) return undefined
    blobs.push(located)
    end = behind(found, located)
  }
  return blobs
}

export const isAt = (place: Packed, at: Packed | undefined): boolean =>
  place.pack === at?.pack && place.offset === at.offset

export const behind = ({ pack, offset }: Packed, { storedBytes }: Located): Packed => ({
  pack,
  offset: offset + storedBytes,
})
