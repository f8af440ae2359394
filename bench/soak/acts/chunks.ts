import { randomInt } from 'node:crypto'
import { codec } from '../../../src/proto/codec.js'
import { ChunkingFunction } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { batchUpdate, CAS, type Digest, digestOf, KIB, MIB, randomBlobs } from '../../content.js'
import type { Request } from '../../load/request.js'
import type { Act } from '../act.js'
import { cancel, ended } from '../caller.js'
import { large } from '../requests.js'

const REAPI = 'build.bazel.remote.execution.v2'
const spliceRequest = codec(`${REAPI}.SpliceBlobRequest`)
const splitRequest = codec(`${REAPI}.SplitBlobRequest`)
const server = { instanceName: '' }
const CHUNKS = 12
const NOT_FOUND = 5
const INVALID_ARGUMENT = 3
const chunkingFunction = ChunkingFunction.FAST_CDC_2020

const splice = (blobDigest: Digest, chunkDigests: readonly Digest[]): Request => ({
  path: `${CAS}/SpliceBlob`,
  messages: [spliceRequest.encode({ blobDigest, chunkDigests: [...chunkDigests], chunkingFunction })],
})

const split = (blobDigest: Digest): Request => ({
  path: `${CAS}/SplitBlob`,
  messages: [splitRequest.encode({ blobDigest, chunkingFunction })],
})

/** Blobs as lists of their chunks. */
export const chunkActs: readonly Act[] = [
  {
    name: 'chunks spliced and split',
    clients: 1,
    perform: async (caller) => {
      const chunks = randomBlobs(CHUNKS, randomInt(64 * KIB, 256 * KIB))
      await caller.call(batchUpdate(server, chunks))
      const blob = digestOf(Buffer.concat(chunks))
      for (const request of [splice(blob, chunks.map(digestOf)), split(blob)]) {
        const { code, text } = await ended(caller.send(request))
        // Chunks may have been evicted meanwhile.
        if (code !== 0 && code !== NOT_FOUND) throw new Error(`${request.path} ended with code ${code}: ${text}`)
      }
    },
  },
  {
    name: 'splice of other bytes than its digest',
    clients: 1,
    perform: async (caller) => {
      const chunks = randomBlobs(2, 64 * KIB)
      await caller.call(batchUpdate(server, chunks))
      const other = { ...digestOf(Buffer.from('other')), sizeBytes: 128 * KIB }
      const { code } = await ended(caller.send(splice(other, chunks.map(digestOf))))
      if (code !== INVALID_ARGUMENT && code !== NOT_FOUND) throw new Error(`a false SpliceBlob ended with code ${code}`)
    },
  },
  {
    name: 'split that is cancelled',
    clients: 1,
    perform: async (caller) => {
      const digest = randomInt(2) === 0 ? large.digest : digestOf(Buffer.alloc(MIB))
      cancel(caller.send(split(digest)))
    },
  },
]
