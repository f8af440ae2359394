import { lstat, opendir } from 'node:fs/promises'
import { errnoOf } from '../../base/errno.js'

export interface TreeSize {
  readonly bytes: number
  readonly entries: number
}

const BLOCK_BYTES = 512

/** Disk bytes and entries below a directory; counting stops above the limits. Entries that are gone meanwhile count as none. */
export const treeSize = async (directory: string, limits: TreeSize): Promise<TreeSize> => {
  let bytes = 0
  let entries = 0
  const waiting = [directory]
  const isOver = (): boolean => bytes > limits.bytes || entries > limits.entries
  for (let next = waiting.pop(); next !== undefined && !isOver(); next = waiting.pop()) {
    try {
      for await (const entry of await opendir(next)) {
        entries++
        const path = `${next}/${entry.name}`
        if (entry.isDirectory()) waiting.push(path)
        // Several names of a file share its bytes.
        else if (entry.isFile()) bytes += await lstat(path).then(({ blocks, nlink }) => (blocks * BLOCK_BYTES) / nlink)
        if (isOver()) break
      }
    } catch (error) {
      if (!GONE.has(errnoOf(error) ?? '')) throw error
    }
  }
  return { bytes: Math.ceil(bytes), entries }
}

/** Also a directory that is being made, whose modes are those of its image for a moment. */
const GONE = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'])
