import { StatusError } from '../../../base/status-error.js'
import type { Call } from '../../../rpc/call.js'
import { type Extent, inOrder } from '../../remote/in-order.js'
import type { BlobKeys, Commands, Layout } from './commands.js'

/** Chunks asked for before the first of them is needed. */
const AHEAD = 4

/** From a hash of chunks. Those of an upload that was replaced meanwhile are where that was moved to. */
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

/** From one long string, as others write them. */
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
