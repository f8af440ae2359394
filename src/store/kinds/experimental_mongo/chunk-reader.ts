import type { Collection, FindCursor } from 'mongodb'
import { StatusError } from '../../../base/status-error.js'
import type { Extent } from '../../remote/in-order.js'
import { bufferOf, type ChunkDocument, chunkName, chunksBetween } from './documents.js'

/**
 * Bytes in one response. A reader holds that much and asks for more when it is used up. Between 1 and 4 MiB the cost is
 * the same.
 */
const ANSWER_BYTES = 2 * 1024 * 1024

export interface ChunkedBlob {
  readonly version: string
  /** The length of every chunk but the last. */
  readonly chunkBytes: number
}

export interface ChunkReaderParts {
  readonly chunks: Collection<ChunkDocument>
  /** Runs a request, or rejects while there is no server. */
  use<T>(work: () => Promise<T>): Promise<T>
  readonly signal: AbortSignal
}

/**
 * Reads a range of a blob that is stored in chunks, with one query for all chunks. A server that scans the whole
 * collection for each query then does so only once.
 */
export async function* readChunks(
  { version, chunkBytes }: ChunkedBlob,
  { offset, end }: Extent,
  { chunks, use, signal }: ChunkReaderParts,
): AsyncGenerator<Buffer> {
  const [first, last] = [Math.floor(offset / chunkBytes), Math.ceil(end / chunkBytes)]
  const batchSize = Math.max(1, Math.floor(ANSWER_BYTES / chunkBytes))
  const cursor = chunks.find(chunksBetween(version, first, last), { sort: { _id: 1 }, batchSize, signal })
  try {
    for (let index = first; index < last; index++) {
      const found = await use(() => cursor.next())
      if (found?._id !== chunkName(version, index))
        throw new StatusError('DATA_LOSS', `chunk ${index} of a blob is lost`)
      const startsAt = index * chunkBytes
      yield bufferOf(found.data).subarray(Math.max(0, offset - startsAt), end - startsAt)
    }
  } finally {
    giveUp(cursor)
  }
}

/** Cancels a cursor. The server's answer does not matter. */
const giveUp = (cursor: FindCursor<ChunkDocument>): void => {
  cursor.close().catch(() => {})
}
