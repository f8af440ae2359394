import type { SideBySide, Store } from '../../../blobs/store.js'
import type { Digest } from '../../../reapi/digest.js'
import { type Call, callWith } from '../../../rpc/call.js'
import type { Blob } from '../../../stream/blob/blob.js'
import { type BlobPart, joinParts } from '../../../stream/chunking/joined-file.js'
import { isWhole, type Range } from '../../../stream/path.js'

/** A chunk, and which of its bytes are wanted. */
interface Wanted {
  readonly chunk: Digest
  readonly range: Range
}

/** The parts that make up the bytes of a blob from `offset` to `end`: a chunk each, or several that lie side by side. */
export const partsBetween = (
  digest: Digest,
  chunks: readonly Digest[],
  extent: { readonly offset: number; readonly end: number },
  content: Store,
  call: Call,
): readonly BlobPart[] => {
  const wanted = wantedOf(digest, chunks, extent)
  const { sideBySide } = content
  if (sideBySide === undefined) return wanted.map((one) => partOf(one, content, call))
  let from = 0
  return sideBySide.runs(wanted.map(({ chunk }) => chunk)).map((count) => {
    const some = wanted.slice(from, from + count)
    from += count
    return count === 1 ? partOf(some[0] as Wanted, content, call) : runOf(some, sideBySide, content, call)
  })
}

const wantedOf = (
  digest: Digest,
  chunks: readonly Digest[],
  { offset, end }: { readonly offset: number; readonly end: number },
): readonly Wanted[] => {
  const wanted: Wanted[] = []
  let at = 0
  for (const chunk of chunks) {
    const from = Math.max(0, offset - at)
    const to = Math.min(chunk.sizeBytes, end - at)
    if (from < to) wanted.push({ chunk: digest.beside(chunk), range: { offset: from, limit: to - from } })
    at += chunk.sizeBytes
  }
  return wanted
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

const partOf = ({ chunk, range }: Wanted, content: Store, call: Call): BlobPart => ({
  sizeBytes: range.limit,
  open: (signal) => readChunk(chunk, range, content, callWith(call, { signal })),
})

const runOf = (wanted: readonly Wanted[], sideBySide: SideBySide, content: Store, call: Call): BlobPart => {
  const sizeBytes = wanted.reduce((sum, { range }) => sum + range.limit, 0)
  const range = { offset: wanted[0]?.range.offset ?? 0, limit: sizeBytes }
  const open = async (signal: AbortSignal): Promise<Blob> => {
    const opening = callWith(call, { signal })
    const chunks = wanted.map(({ chunk }) => chunk)
    return (
      (await sideBySide.get(chunks, range, opening)) ??
      joinParts(
        wanted.map((one) => partOf(one, content, call)),
        { aheadCount: 1, signal },
      )
    )
  }
  return { sizeBytes, open }
}
