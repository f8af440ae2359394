import { crc32 } from 'node:zlib'
import type { Digest } from '../../../../reapi/digest.js'
import {
  CURRENT_FORMAT,
  type DraftedHead,
  draftedHead,
  draftRecord,
  headBytesOf,
  recordBytes,
  sizeOf,
} from './record.js'

/** A small blob that a service thread has received. */
export interface SmallBlob {
  readonly digest: Digest
  readonly bytes: Buffer
}

const headOf = ({ digest, bytes }: SmallBlob): DraftedHead => ({
  kind: 'bytes',
  digest,
  storedBytes: bytes.length,
  checksum: crc32(bytes),
})

/**
 * The records of small blobs, one behind the other, as a service thread gives them to the owner of the store. The owner adds what only it
 * knows, the stamp of the segment, the sequence number and the time.
 */
export const draftsOf = (blobs: readonly SmallBlob[]): Uint8Array<ArrayBuffer> => {
  const heads = blobs.map(headOf)
  const drafts = Buffer.allocUnsafeSlow(heads.reduce((sum, head) => sum + recordBytes(sizeOf(head)), 0))
  let at = 0
  for (const [index, head] of heads.entries()) at += draftRecord(drafts, at, head, blobs[index]?.bytes)
  return new Uint8Array(drafts.buffer)
}

/** One of `draftsOf`. */
export interface Draft {
  readonly head: DraftedHead
  /** The whole record. */
  readonly record: Buffer
}

export const readDrafts = (drafts: Uint8Array): readonly Draft[] => {
  const from = Buffer.from(drafts.buffer, drafts.byteOffset, drafts.byteLength)
  const read: Draft[] = []
  for (let at = 0; at < from.length; ) {
    const head = draftedHead(from, at)
    const end = at + recordBytes(sizeOf(head))
    read.push({ head, record: from.subarray(at, end) })
    at = end
  }
  return read
}

/** The blob in a draft. */
export const bytesOfDraft = ({ head: { digest, storedBytes }, record }: Draft): Buffer => {
  const begin = headBytesOf(digest, CURRENT_FORMAT)
  return record.subarray(begin, begin + storedBytes)
}
