import { lstatSync, realpathSync, type Stats } from 'node:fs'
import { errnoOf } from './errno.js'

/** What is at a path, symlinks not followed; `undefined` when nothing is. */
export const statsOf = (path: string): Stats | undefined => {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Whether a path below the root, symlinks followed, is a directory that lies in the root. */
export const isDirectoryInside = (path: string, root: string): boolean => {
  try {
    const real = realpathSync.native(`${root}/${path}`)
    const realRoot = realpathSync.native(root)
    return (real === realRoot || real.startsWith(`${realRoot}/`)) && lstatSync(real).isDirectory()
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}

const isAbsence = (error: unknown): boolean => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errnoOf(error) ?? '')
