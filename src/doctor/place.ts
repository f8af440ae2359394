import { access, constants, stat, statfs } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { errnoOf } from '../base/errno.js'

/** The file system of a path, and what exists of the path. */
export interface Place {
  /** The path, or its nearest folder that exists. */
  readonly existing: string
  readonly isThere: boolean
  readonly isDirectory: boolean
  /** Identifies the file system. */
  readonly device: number
  /** `statfs` type. */
  readonly type: number
  readonly totalBytes: number
  /** What a process without privileges can still use. */
  readonly freeBytes: number
}

/** Rejects with the failed system call, ENOENT excepted. */
export const placeOf = async (path: string): Promise<Place> => {
  const existing = await nearest(resolve(path))
  const stats = await stat(existing)
  const { type, bsize, blocks, bavail } = await statfs(existing)
  return {
    ...{ existing, type, device: stats.dev },
    isThere: existing === resolve(path),
    isDirectory: stats.isDirectory(),
    totalBytes: bsize * blocks,
    freeBytes: bsize * bavail,
  }
}

/** `write` is for a folder, `append` for a file. */
const NEEDED = { read: constants.R_OK, write: constants.W_OK | constants.X_OK, append: constants.W_OK }

/** Whether this process may do this with a path that exists. */
export const may = async (what: 'read' | 'write' | 'append', path: string): Promise<boolean> => {
  try {
    await access(path, NEEDED[what])
    return true
  } catch (error) {
    if (errnoOf(error) === 'EACCES' || errnoOf(error) === 'EROFS' || errnoOf(error) === 'EPERM') return false
    throw error
  }
}

const nearest = async (path: string): Promise<string> => {
  try {
    await stat(path)
    return path
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' || dirname(path) === path) throw error
    return nearest(dirname(path))
  }
}
