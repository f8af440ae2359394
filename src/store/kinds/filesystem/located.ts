import { StatusError } from '../../../base/status-error.js'
import type { Digest } from '../../../reapi/digest.js'
import type { BlobKind } from '../../index/entries.js'

/** The location of a blob. */
export interface Located {
  readonly digest: Digest
  readonly slot: number
  readonly storedBytes: number
  /** Location of the record that holds the blob, or describes its file or its place in one. */
  readonly location: number
  readonly kind: BlobKind
  /** Path of the file, if the blob has one of its own. */
  readonly path: string
}

/** Attempts to open a blob that changes at the same time. Each failed attempt means a commit or a removal. */
export const ATTEMPTS_MAX = 10

export const notFound = (digest: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${digest.key} is not in the file store`)
