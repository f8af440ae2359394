import type { Digest } from '../../../reapi/digest.js'
import { type Call, callWith } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import type { BlobPart } from '../../../stream/chunking/joined-file.js'
import { isWhole, type Range } from '../../../stream/path.js'
import type { Store } from '../../contract/store.js'

/** The parts of the chunks of a blob that make up its bytes from `offset` to `end`. */
export const partsBetween = (
  digest: Digest,
  chunks: readonly Digest[],
  { offset, end }: { readonly offset: number; readonly end: number },
  content: Store,
  call: Call,
): readonly BlobPart[] => {
  const parts: BlobPart[] = []
  let at = 0
  for (const chunk of chunks) {
    const from = Math.max(0, offset - at)
    const to = Math.min(chunk.sizeBytes, end - at)
    if (from < to) parts.push(partOf(digest.beside(chunk), { offset: from, limit: to - from }, content, call))
    at += chunk.sizeBytes
  }
  return parts
}

/**
 * A chunk of a store that does not detect damage is verified if it is read as a whole. A damaged one is removed, so that
 * it is missing and uploaded again.
 */
export const readChunk = (chunk: Digest, range: Range, content: Store, call: Call): Promise<Blob> => {
  const reading = content.get(chunk, range, call)
  if (content.properties.detectsDamage || !isWhole(range, chunk.sizeBytes)) return reading
  const repair = (): Promise<void> => content.remove(chunk, 'wrong', call)
  return reading.then((blob) => blob.verify(chunk, { fault: 'backend', repair }))
}

const partOf = (chunk: Digest, range: Range, content: Store, call: Call): BlobPart => ({
  sizeBytes: range.limit,
  open: (signal) => readChunk(chunk, range, content, callWith(call, { signal })),
})
