import { randomBytes } from 'node:crypto'
import { codec } from '../src/proto/codec.js'
import { CAS, type Digest, digestOf, store } from './content.js'
import { each } from './load/each.js'
import type { Request } from './load/request.js'
import type { Server } from './server/process.js'

const findRequest = codec('build.bazel.remote.execution.v2.FindMissingBlobsRequest')
const findResponse = codec('build.bazel.remote.execution.v2.FindMissingBlobsResponse')

const BLOB_BYTES = 64
const LOT = 10_000

/** Stores `count` small blobs; returns the digest of the first one. */
export const fill = async (server: Server, count: number): Promise<Digest> => {
  let first: Digest | undefined
  for (let stored = 0; stored < count; stored += LOT) {
    const pool = randomBytes(Math.min(LOT, count - stored) * BLOB_BYTES)
    const blobs = Array.from({ length: pool.length / BLOB_BYTES }, (_, index) =>
      pool.subarray(index * BLOB_BYTES, (index + 1) * BLOB_BYTES),
    )
    first ??= digestOf(blobs[0] ?? Buffer.alloc(0))
    await store(server, blobs)
  }
  return first ?? digestOf(Buffer.alloc(0))
}

export const absentDigest = (): Digest => digestOf(randomBytes(BLOB_BYTES))

export const ask = ({ instanceName }: Pick<Server, 'instanceName'>, blobDigests: readonly Digest[]): Request => ({
  path: `${CAS}/FindMissingBlobs`,
  messages: [findRequest.encode({ instanceName, blobDigests: [...blobDigests] })],
})

/** Throws unless the server knows what it has and what it has not. */
export const checkAnswers = async (server: Server, present: Digest): Promise<void> => {
  const absent = absentDigest()
  await each(server, [ask(server, [present, absent])], {
    concurrency: 1,
    check: (message) => {
      const missing = findResponse.decode(message).missingBlobDigests.map(({ hash }) => hash)
      if (missing.length !== 1 || missing[0] !== absent.hash) throw new Error('a stored blob is missing')
    },
  })
}
