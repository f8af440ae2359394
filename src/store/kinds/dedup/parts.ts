import type { Digest } from '../../../reapi/digest.js'
import { type Call, callWith } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { BlobPart } from '../../../stream/chunking/concatenate.js'
import { isWhole, type Range } from '../../../stream/path.js'
import type { Store } from '../../contract/store.js'

export interface ChunkPart extends BlobPart {
  readonly chunk: Digest
}

/** The parts of chunks that make up the bytes of a blob from `offset` to `end`. */
export const partsBetween = (
  chunks: readonly Digest[],
  offset: number,
  end: number,
  content: Store,
  call: Call,
): readonly ChunkPart[] => {
  const parts: ChunkPart[] = []
  let at = 0
  for (const chunk of chunks) {
    const from = Math.max(0, offset - at)
    const to = Math.min(chunk.sizeBytes, end - at)
    if (from < to) parts.push(partOf(chunk, { offset: from, limit: to - from }, content, call))
    at += chunk.sizeBytes
  }
  return parts
}

/** A chunk read as a whole is verified. A damaged one is removed, so that it is missing and uploaded again. */
export const readChunk = async (chunk: Digest, range: Range, content: Store, call: Call): Promise<Blob> => {
  const blob = await content.get(chunk, range, call)
  if (!isWhole(range, chunk.sizeBytes)) return blob
  return blob.verify(chunk, { fault: 'backend', repair: () => content.remove(chunk, 'wrong', call) })
}

const partOf = (chunk: Digest, range: Range, content: Store, call: Call): ChunkPart => ({
  chunk,
  sizeBytes: range.limit,
  open: (signal) => readChunk(chunk, range, content, callWith(call, { signal })),
})
