import type { Call } from '../base/call.js'
import type { Compressor } from '../reapi/compressor.js'
import type { Digest } from '../reapi/digest.js'
import { type CompressedBlobs, type Store, writeBytes } from '../store/store.js'
import { compressionOf } from '../stream/compression/compression.js'
import { parseZstdFrame } from '../stream/compression/zstd-frame.js'
import { type ReadPath, STAGE_BYTES, type WritePath } from '../stream/path.js'
import { collect, deliver } from '../stream/run.js'
import { readPart } from './blob.js'

/** The blob from `offset` on, compressed: as it is kept where the CAS keeps it so, else made on the way. */
export const compressedReader = async (
  cas: Store,
  digest: Digest,
  { offset, compressor }: { readonly offset: number; readonly compressor: Compressor },
  call: Call,
): Promise<ReadPath> => {
  const kept = offset === 0 ? keptAs(cas, compressor) : undefined
  if (kept !== undefined) return kept.reader(digest, call)
  const path = await cas.reader(digest, { offset, limit: Number.POSITIVE_INFINITY }, call)
  return [...path, compressionOf(compressor).compress()]
}

/**
 * The bytes of `compressedReader` at once, for a blob whose compression may take its time between two turns of the event
 * loop. Undefined of a larger one, and where the CAS keeps it compressed.
 */
export const compressedBytes = async (
  cas: Store,
  digest: Digest,
  { offset, compressor }: { readonly offset: number; readonly compressor: Compressor },
  call: Call,
): Promise<Buffer | undefined> => {
  const { atOnceBytes, compressBytes } = compressionOf(compressor)
  if (digest.sizeBytes > atOnceBytes || (offset === 0 && keptAs(cas, compressor) !== undefined)) return undefined
  return compressBytes(await readPart(cas, digest, { offset, limit: Number.POSITIVE_INFINITY }, call))
}

/** Takes the blob as a client sends it, compressed or not. */
export const uploadWriter = async (
  cas: Store,
  digest: Digest,
  compressor: Compressor | undefined,
  call: Call,
): Promise<WritePath> => {
  if (compressor === undefined) return cas.writer(digest, call)
  const kept = keptAs(cas, compressor)
  if (kept !== undefined) return kept.writer(digest, call)
  return [compressionOf(compressor).decompress(), ...(await cas.writer(digest, call))]
}

/** Takes a blob that has arrived whole, and resolves once it is committed. */
export const writeUpload = async (
  cas: Store,
  digest: Digest,
  { bytes, compressor }: { readonly bytes: Buffer; readonly compressor: Compressor | undefined },
  call: Call,
): Promise<void> => {
  const blob = compressor === undefined ? bytes : decompressed(cas, digest, bytes, compressor)
  if (blob !== undefined) await writeBytes(cas, digest, blob, call)
  else await deliver(bytes, await uploadWriter(cas, digest, compressor, call), call.signal)
}

/** The blob of an upload, where it is to be kept as it is and is no larger than what a path may hold of it. */
const decompressed = (cas: Store, digest: Digest, bytes: Buffer, compressor: Compressor): Buffer | undefined =>
  digest.sizeBytes === 0 || digest.sizeBytes > STAGE_BYTES || keptAs(cas, compressor) !== undefined
    ? undefined
    : compressionOf(compressor).decompressBytes?.(bytes, digest.sizeBytes)

/**
 * A whole blob that was bounded by the caller, compressed as the CAS keeps it. Undefined when there is no such, or it is
 * no gain, or it is other than one frame that tells its size: what decodes bytes at hand wants to know how much to expect.
 */
export const readKept = async (
  cas: Store,
  digest: Digest,
  compressor: Compressor,
  call: Call,
): Promise<Buffer | undefined> => {
  const kept = keptAs(cas, compressor)
  if (kept === undefined) return undefined
  const maxBytes = 2 * digest.sizeBytes + KEPT_SLACK_BYTES
  const data = await collect(await kept.reader(digest, call), { maxBytes, signal: call.signal })
  const frame = parseZstdFrame(data)
  const isWhole = frame?.kind === 'content' && frame.contentBytes === digest.sizeBytes
  return isWhole && data.length < digest.sizeBytes ? data : undefined
}

// Frames that clients made may be longer than their content, by far less than this.
const KEPT_SLACK_BYTES = 1024 * 1024

const keptAs = ({ compressed }: Store, compressor: Compressor): CompressedBlobs | undefined =>
  compressed?.compressor === compressor.name ? compressed : undefined
