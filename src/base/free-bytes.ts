import { statfs } from 'node:fs/promises'

/** What the file system of a folder has free for this process. */
export const freeBytesOf = async (folder: string): Promise<number> => {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}
