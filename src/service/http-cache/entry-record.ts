import { decodeRecord, encodeRecord } from '../../content/own-record.js'
import type { Kept } from '../../content/put-unnamed.js'
import { codec } from '../../proto/codec.js'
import { Digest } from '../../reapi/digest.js'
import { fieldsOf, type KeptFields, NO_FIELDS } from './kept-fields.js'

const detailsCodec = codec('remexec.http.v1.EntryDetails')

/** What an entry says. */
export interface EntryContent {
  /** Undefined if the body is `inline`. */
  readonly digest: Digest | undefined
  readonly inline: Buffer
  readonly fields: KeptFields
}

/**
 * The key of an entry. No part contains NUL. The instance is part of it, because instances that are not isolated may share a
 * store, and what one of them writes is not for the other.
 */
export const keyOfEntry = (instanceName: string, key: readonly string[]): Digest =>
  Digest.ofOwn('HTTP_ENTRY', [instanceName, ...key].join('\0'))

/** A short body is the content of the record, a longer one its blob. */
export const encodeEntry = (key: Digest, kept: Kept, fields: KeptFields, identity: string | undefined): Buffer => {
  const isBare = identity === undefined && Object.keys(fields).length === 0
  const details = isBare
    ? undefined
    : detailsCodec.encode({ ...fields, identity: identity ?? '', storedMs: Date.now() })
  const body = 'inline' in kept ? { content: kept.inline } : { blobs: [kept.digest] }
  return encodeRecord(key, { ...body, ...(details && { details }) })
}

/** Throws INVALID_ARGUMENT if the bytes are no entry. */
export const decodeEntry = (key: Digest, encoded: Buffer): EntryContent => {
  const { blobs, content, details } = decodeRecord(key, encoded)
  const fields = details.length === 0 ? NO_FIELDS : fieldsOf(detailsCodec.decode(details))
  return { digest: blobs[0], inline: content, fields }
}
