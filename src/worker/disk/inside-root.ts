import { lstatSync, realpathSync, type Stats, statSync } from 'node:fs'
import { errnoOf } from '../../base/errno.js'

/** The stats of a path without following symlinks; `undefined` if nothing is there. */
export const statsOf = (path: string): Stats | undefined =>
  unlessAbsent(() => lstatSync(path, { throwIfNoEntry: false }))

/** The stats of a path after following symlinks; `undefined` if they lead nowhere. */
export const targetOf = (path: string): Stats | undefined =>
  unlessAbsent(() => statSync(path, { throwIfNoEntry: false }))

const unlessAbsent = (look: () => Stats | undefined): Stats | undefined => {
  try {
    return look()
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Whether a path below the root leads to a directory inside the root, after following symlinks. */
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
