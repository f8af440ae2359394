import { lstat, opendir } from 'node:fs/promises'
import { fileGone } from './gone.js'

/**
 * The bytes that files below a directory take on the disk, up to about `enough`. Files with other names are inputs, which
 * belong to the store; symlinks are not followed, and what is removed meanwhile takes nothing.
 */
export const diskUsage = async (directory: string, enough: number): Promise<number> => {
  let bytes = 0
  const waiting = [directory]
  for (let next = waiting.pop(); next !== undefined && bytes <= enough; next = waiting.pop()) {
    try {
      for await (const entry of await opendir(next)) {
        const path = `${next}/${entry.name}`
        if (entry.isDirectory()) waiting.push(path)
        else if (entry.isFile()) bytes += await sizeOf(path)
        if (bytes > enough) break
      }
    } catch (error) {
      fileGone(error)
    }
  }
  return bytes
}

const BLOCK_BYTES = 512

const sizeOf = async (path: string): Promise<number> => {
  try {
    const { nlink, blocks } = await lstat(path)
    return nlink > 1 ? 0 : blocks * BLOCK_BYTES
  } catch (error) {
    return fileGone(error)
  }
}
