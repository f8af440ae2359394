import { StatusError } from '../../../base/status-error.js'
import type { Call } from '../../../rpc/call.js'
import { type Extent, inOrder } from '../../remote/in-order.js'
import type { BlobKeys, Commands, Layout } from './commands.js'

/** Chunks requested before they are needed. */
const AHEAD = 4

/** Reads from a hash of chunks. If the blob was replaced meanwhile, its chunks are under the `replaced` key. */
export const chunksOfHash = (
  commands: Commands,
  { blob, replaced }: BlobKeys,
  { sizeBytes, chunkBytes, id }: Layout,
  extent: Extent,
  call: Call,
): AsyncGenerator<Buffer> =>
  inOrder(extent, {
    chunkBytes,
    ahead: AHEAD,
    fetch: async (index) => {
      const chunk = (await commands.chunk(blob, id, index, call)) ?? (await commands.chunk(replaced, id, index, call))
      if (chunk === undefined) throw gone(blob)
      const expected = Math.min(chunkBytes, sizeBytes - index * chunkBytes)
      if (chunk.length === expected) return chunk
      throw new StatusError('DATA_LOSS', `chunk ${index} of blob ${blob} has ${chunk.length} of ${expected} bytes`)
    },
  })

/** Reads ranges of one long string, as written by other programs. */
export const chunksOfString = (
  commands: Commands,
  { blob }: BlobKeys,
  chunkBytes: number,
  extent: Extent,
  call: Call,
): AsyncGenerator<Buffer> =>
  inOrder(extent, {
    chunkBytes,
    ahead: AHEAD,
    fetch: async (index) => {
      const first = index * chunkBytes
      const expected = Math.min(chunkBytes, extent.end - first)
      const range = [String(first), String(first + expected - 1)]
      const chunk = (await commands.one(blob, ['GETRANGE', blob, ...range], call)) as Buffer
      if (chunk.length === expected) return chunk
      throw gone(blob)
    },
  })

const gone = (key: string): StatusError => new StatusError('UNAVAILABLE', `blob ${key} was removed while it was read`)
