import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'

/**
 * The end of a GetTree page: after the directory `last` of the tree `root`. Trees are immutable, so any server can
 * continue from this token.
 */
export const formatPageToken = (root: Digest, last: Digest): string =>
  Buffer.from(`${root.key} ${last.key}`).toString('base64url')

/** The key of the directory after which to continue; undefined for the first page. */
export const parsePageToken = (token: string, root: Digest): string | undefined => {
  if (token === '') return undefined
  const [rootKey, lastKey, ...more] = Buffer.from(token, 'base64url').toString().split(' ')
  if (rootKey === root.key && lastKey !== undefined && lastKey !== '' && more.length === 0) return lastKey
  throw unknownPageToken(token)
}

export const unknownPageToken = (token: string): StatusError => {
  const shown = JSON.stringify(token.length > 60 ? `${token.slice(0, 60)}...` : token)
  return new StatusError(
    'INVALID_ARGUMENT',
    `page_token ${shown} is not valid: expected next_page_token of an earlier response for the same root_digest`,
  )
}
