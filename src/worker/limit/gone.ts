import { errnoOf } from '../../base/errno.js'

/** 0 for what was removed, replaced or closed to us while it was looked at; throws what is another failure. */
export const fileGone = (error: unknown): 0 => {
  if (['ENOENT', 'ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'].includes(errnoOf(error) ?? '')) return 0
  throw error
}
