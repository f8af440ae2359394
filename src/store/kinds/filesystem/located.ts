import { StatusError } from '../../../base/status-error.js'
import type { Digest } from '../../../reapi/digest.js'
import type { Blob } from '../../../stream/blob/blob.js'
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
  /** Whether the key is known to be the hash of the content. */
  readonly isHash: boolean
}

/** Attempts to open a blob that changes at the same time. Each failed attempt means a commit or a removal. */
export const ATTEMPTS_MAX = 10

export const notFound = (digest: Digest): StatusError =>
  new StatusError('NOT_FOUND', `blob ${digest.key} is not in the file store`)

/**
 * The digest under which a blob is kept. It describes the content only if that was compared with it: so what a record says of its key does
 * not depend on who puts the blob.
 */
export const keyFor = (digest: Digest, blob: Blob): Digest => (blob.isVerified(digest) ? digest : digest.asKey())
