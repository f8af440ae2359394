import { opendir } from 'node:fs/promises'
import { decimalSize } from '../base/decimal-size.js'
import { errnoOf } from '../base/errno.js'
import type { Config } from '../config/config.js'
import { type FileStore, fileStores } from './file-stores.js'
import { type Finding, ok, warning } from './finding.js'
import { type Place, placeOf } from './place.js'

/** Below this share of free space many file systems become slow. */
const MIN_FREE_SHARE = 0.05

interface Disk {
  readonly place: Place
  readonly stores: FileStore[]
}

/** Compares the limits of all stores on a file system with its size. A path that cannot be looked at is left out. */
export const diskFindings = async (config: Pick<Config, 'stores'>): Promise<Finding[]> => {
  const disks = new Map<number, Disk>()
  for (const store of fileStores(config)) {
    const place = await placeOf(store.options.content_path).catch((error: unknown) => {
      if (errnoOf(error) === undefined) throw error
    })
    if (place === undefined) continue
    const disk = disks.get(place.device) ?? { place, stores: [] }
    disk.stores.push(store)
    disks.set(place.device, disk)
  }
  return (await Promise.all([...disks.values()].map(findingsOf))).flat()
}

const findingsOf = async ({ place, stores }: Disk): Promise<Finding[]> => {
  const names = stores.map(({ path }) => path).join(', ')
  const subject = `disk of ${names}`
  const unlimited = stores.filter(({ options }) => options.eviction_policy.max_bytes === 0).map(({ path }) => path)
  if (unlimited.length > 0) {
    const message = `${unlimited.join(', ')}: without max_bytes, until the disk of ${decimalSize(place.totalBytes)} is full`
    return [
      warning(subject, message, `set eviction_policy.max_bytes, to ${decimalSize(place.totalBytes * 0.9)} at most`),
    ]
  }
  const limit = stores.reduce((sum, { options }) => sum + options.eviction_policy.max_bytes, 0)
  const areNew = (await Promise.all(stores.map(({ options }) => isEmpty(options.content_path)))).every(Boolean)
  // What stores with blobs use already is not known here, so that their disk is compared as a whole.
  const roomBytes = areNew ? place.freeBytes : place.totalBytes
  if (limit > roomBytes) {
    const room = `${areNew ? 'free on' : 'the size of'} the file system of ${place.existing}`
    const message = `may keep ${decimalSize(limit)}, more than the ${decimalSize(roomBytes)} ${room}: uploads will fail when it is full`
    return [
      warning(subject, message, `lower max_bytes to ${decimalSize(roomBytes * 0.9)} together, or use a larger disk`),
    ]
  }
  if (place.freeBytes < MIN_FREE_SHARE * place.totalBytes) {
    const message = `only ${decimalSize(place.freeBytes)} of ${decimalSize(place.totalBytes)} are free`
    return [warning(subject, message, 'make room, or lower max_bytes so that the stores evict')]
  }
  const free = `${decimalSize(place.freeBytes)} of ${decimalSize(place.totalBytes)} are free`
  return [ok(subject, `may keep ${decimalSize(limit)}; ${free}`)]
}

/** A folder that cannot be listed counts as used: another check reports it. */
const isEmpty = async (path: string): Promise<boolean> => {
  try {
    const folder = await opendir(path)
    const first = await folder.read()
    await folder.close()
    return first === null
  } catch (error) {
    if (errnoOf(error) === undefined) throw error
    return errnoOf(error) === 'ENOENT'
  }
}
