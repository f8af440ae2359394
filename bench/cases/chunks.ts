import { codec } from '../../src/proto/codec.js'
import type { Limit, RateCase } from '../case.js'
import { CAS, digestOf, randomBlobs, store } from '../content.js'
import { repeat } from '../load/h2load.js'
import { chunkedCache, filesystemCache } from '../server/config.js'
import { readCase } from './read.js'
import { sizes } from './sizes.js'
import { identityWrite } from './write.js'

const findRequest = codec('build.bazel.remote.execution.v2.FindMissingBlobsRequest')

const findMissing = (): RateCase => {
  const blobs = randomBlobs(100, 64)
  const messages = [findRequest.encode({ blobDigests: blobs.map(digestOf) })]
  return {
    kind: 'rate',
    name: 'FindMissingBlobs(100)',
    unit: 'op',
    unitsPerRequest: 1,
    requests: { least: 400, most: 20_000 },
    setUp: (server) => store(server, blobs),
    run: (server, requests) =>
      repeat(server, { path: `${CAS}/FindMissingBlobs`, messages }, { requests, concurrency: 16 }),
    limits: [],
  }
}

/** The case over a store of chunks, beside the same over the store that it keeps its chunks in. */
const asChunks = (one: RateCase): RateCase => {
  const limit: Limit = { name: 'kept whole', usesBare: true, configure: filesystemCache, run: one.run.bind(one) }
  return { ...one, name: `${one.name}, as chunks`, configure: chunkedCache, limits: [limit] }
}

/** What chunks cost: new content of 64 MiB cut and read, and small blobs, which are none. */
export const chunkCases = (): readonly RateCase[] => {
  const some = sizes.filter(({ name }) => name === '64 MiB' || name === '1 KiB')
  return [...some.flatMap((size) => [identityWrite(size), readCase(size, false)]), findMissing()].map(asChunks)
}
