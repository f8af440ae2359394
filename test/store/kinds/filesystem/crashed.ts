import { copyFile, link, mkdir, readdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'

/**
 * Copies the folder of a store to where kill -9 would leave it now. The store goes on meanwhile: what it deletes is linked
 * first, and what it writes in place is copied before whatever it may name. A checkpoint names records, and records name
 * packs.
 */
export const crashed = async (from: string, to: string): Promise<void> => {
  for (const path of await filesIn(from)) {
    await mkdir(join(to, dirname(path)), { recursive: true })
    await link(join(from, path), join(to, path)).catch(unlessGone)
  }
  for (const part of [/(^|\/)index[^/]*$/, /(^|\/)records\//, /(^|\/)packs\//]) {
    for (const path of await filesIn(from)) if (part.test(path)) await copy(join(from, path), join(to, path))
  }
}

const filesIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map(({ path, name }) => join(path, name).slice(folder.length + 1))
}

/** Replaces the link: a write to it would be one to the store. */
const copy = async (source: string, target: string): Promise<void> => {
  await mkdir(dirname(target), { recursive: true })
  try {
    await copyFile(source, `${target}.copy`)
  } catch (error) {
    return unlessGone(error as NodeJS.ErrnoException)
  }
  await rename(`${target}.copy`, target)
}

const unlessGone = (error: NodeJS.ErrnoException): void => {
  if (error.code !== 'ENOENT') throw error
}
