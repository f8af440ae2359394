import { StatusError } from '../../../base/status-error.js'
import type { Digest } from '../../../reapi/digest.js'

/** The location of a blob. */
export interface Located {
  readonly digest: Digest
  readonly slot: number
  readonly storedBytes: number
  /** Location of the record that holds the blob or describes its file. */
  readonly location: number
  readonly isInline: boolean
  /** Path of the file, if the blob is a file. */
  readonly path: string
}

/** Attempts to open a blob that changes at the same time. Each failed attempt means a commit or a removal. */
export const ATTEMPTS_MAX = 10

export const notFound = (digest: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${digest.key} is not in the file store`)
