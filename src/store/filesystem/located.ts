import { StatusError } from '../../base/status-error.js'
import type { Digest } from '../../reapi/digest.js'

/** Where a blob is. */
export interface Located {
  readonly digest: Digest
  readonly slot: number
  readonly storedBytes: number
  /** Of the record that holds the blob, or that speaks for its file. */
  readonly location: number
  readonly isInline: boolean
  /** Of its file, where it is one. */
  readonly path: string
}

/** How often to look again when a blob changes while it is being opened: a commit each time, or a removal. */
export const ATTEMPTS_MAX = 10

export const notFound = (digest: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${digest.key} is not in the file store`)
