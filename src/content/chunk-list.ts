import { crc32 } from 'node:zlib'
import { StatusError } from '../base/status-error.js'
import { codec } from '../proto/codec.js'
import type { ChunkList } from '../reapi/chunking.js'
import { Digest } from '../reapi/digest.js'
import type { DigestFunction } from '../reapi/digest-function.js'

const listCodec = codec('build.bazel.remote.execution.v2.SplitBlobResponse')

/** A list of 250,000 chunks takes 20 MB. A longer list means that the chunk size is too small for the blob. */
export const MAX_LIST_BYTES = 64 * 1024 * 1024

const MAGIC = Buffer.from('RXC1')
const HEAD_BYTES = MAGIC.length + 4

/** Of an entry: the hash of the shortest digest function in hex, a size of one byte, and a tag and a length for each message. */
const LEAST_ENTRY_BYTES = 38

/** How many chunks a list has at most whose stored form has this length. */
export const mostChunksIn = (listBytes: number): number =>
  Math.max(0, Math.floor((Math.min(listBytes, MAX_LIST_BYTES) - HEAD_BYTES) / LEAST_ENTRY_BYTES))

/** The stored form: a magic number, the CRC-32 of the rest, and a SplitBlobResponse. */
export const encodeChunkList = ({ chunks, chunkingFunction }: ChunkList): Buffer => {
  const message = listCodec.encode({ chunkDigests: chunks.map((digest) => digest.toMessage()), chunkingFunction })
  if (message.length > MAX_LIST_BYTES - HEAD_BYTES) {
    const expected = 'expected fewer of a larger size'
    throw new StatusError(
      'RESOURCE_EXHAUSTED',
      `the blob has ${chunks.length} chunks, too many for a list: ${expected}`,
    )
  }
  const head = Buffer.allocUnsafe(HEAD_BYTES)
  MAGIC.copy(head)
  head.writeUInt32LE(crc32(message), MAGIC.length)
  return Buffer.concat([head, message])
}

/** Undefined when the bytes are not a chunk list, or a damaged one. */
export const decodeChunkList = (bytes: Buffer, digestFunction: DigestFunction): ChunkList | undefined => {
  if (bytes.length < HEAD_BYTES || !bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  const message = bytes.subarray(HEAD_BYTES)
  if (crc32(message) !== bytes.readUInt32LE(MAGIC.length)) return undefined
  try {
    const { chunkDigests, chunkingFunction } = listCodec.decode(message)
    return { chunks: Digest.parseAll(chunkDigests, digestFunction, 'chunk_digests'), chunkingFunction }
  } catch {
    // The checksum matches, so the list was written for another digest function or by another program.
    return undefined
  }
}

export const sizeOfChunks = (chunks: readonly Digest[]): number =>
  chunks.reduce((sizeBytes, chunk) => sizeBytes + chunk.sizeBytes, 0)
