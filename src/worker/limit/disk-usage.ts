import { lstat, opendir } from 'node:fs/promises'
import { errnoOf } from '../../base/errno.js'

/**
 * Disk space in bytes of the files below a directory; counting stops above `enough`. Files with more than one name are
 * inputs, which belong to the store. Symlinks are not followed. Entries that have been removed, replaced or made
 * inaccessible meanwhile count as 0. Any other failure is reported to `onFailure` and also counts as 0: an action must
 * not hide its other files behind one that cannot be read.
 */
export const diskUsage = async (
  directory: string,
  enough: number,
  onFailure: (error: unknown) => void,
): Promise<number> => {
  const skip = (error: unknown): 0 => {
    if (!GONE.has(errnoOf(error) ?? '')) onFailure(error)
    return 0
  }
  let bytes = 0
  const waiting = [directory]
  for (let next = waiting.pop(); next !== undefined && bytes <= enough; next = waiting.pop()) {
    try {
      for await (const entry of await opendir(next)) {
        const path = `${next}/${entry.name}`
        if (entry.isDirectory()) waiting.push(path)
        else if (entry.isFile()) bytes += await sizeOf(path).catch(skip)
        if (bytes > enough) break
      }
    } catch (error) {
      skip(error)
    }
  }
  return bytes
}

const GONE = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'])
const BLOCK_BYTES = 512

const sizeOf = async (path: string): Promise<number> => {
  const { nlink, blocks } = await lstat(path)
  return nlink > 1 ? 0 : blocks * BLOCK_BYTES
}
