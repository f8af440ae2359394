import { codec } from '../../src/proto/codec.js'
import type { RateCase } from '../case.js'
import { batchUpdate, CAS, checkBatch, digestOf, KIB, randomBlobs, store } from '../content.js'
import { filesLimit, sha256Limit } from '../limits.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import type { Request } from '../load/request.js'
import { benchConfig } from '../server/config.js'
import { memoryPlace, type Place } from '../server/place.js'
import type { Server } from '../server/process.js'

const readRequest = codec('build.bazel.remote.execution.v2.BatchReadBlobsRequest')
const readResponse = codec('build.bazel.remote.execution.v2.BatchReadBlobsResponse')

const BLOBS = 100
const BLOB_BYTES = 4 * KIB
const CONCURRENCY = 4

/** New random blobs. With `place`, on a server whose files are there. */
const update = (place?: Place): RateCase => {
  const run = (server: Server, requests: number) => {
    const calls = Array.from({ length: requests }, () => batchUpdate(server, randomBlobs(BLOBS, BLOB_BYTES)))
    return each(server, calls, { concurrency: CONCURRENCY, check: checkBatch })
  }
  const sample = () => randomBlobs(BLOBS, BLOB_BYTES)
  return {
    kind: 'rate',
    name: `BatchUpdateBlobs of 4 KiB${place === undefined ? '' : `, files on ${place.name}`}`,
    unit: 'op',
    unitsPerRequest: BLOBS,
    requests: { least: 8, most: 300 },
    ...(place === undefined ? {} : { configure: benchConfig, place }),
    run,
    limits: [
      { name: 'bare handler', usesBare: true, run },
      sha256Limit(sample),
      filesLimit(sample, 4 * CONCURRENCY, place),
    ],
  }
}

const read = (): RateCase => {
  const blobs = randomBlobs(BLOBS, BLOB_BYTES)
  const ask = ({ instanceName }: Server): Request => ({
    path: `${CAS}/BatchReadBlobs`,
    messages: [readRequest.encode({ instanceName, digests: blobs.map(digestOf) })],
  })
  const check = (message: Buffer): void => {
    const { responses } = readResponse.decode(message)
    const isWhole = blobs.every((blob) => responses.some(({ data }) => data.equals(blob)))
    if (!isWhole) throw new Error('not every blob came back')
  }
  const run = (server: Server, requests: number) => repeat(server, ask(server), { requests, concurrency: CONCURRENCY })
  return {
    kind: 'rate',
    name: 'BatchReadBlobs of 4 KiB',
    unit: 'op',
    unitsPerRequest: BLOBS,
    requests: { least: 8, most: 2_000 },
    setUp: async (server) => {
      await store(server, blobs)
      await each(server, [ask(server)], { concurrency: 1, check })
    },
    run,
    limits: [{ name: 'bare handler', usesBare: true, run }],
  }
}

/** 100 blobs of 4 KiB a call, the way clients send and fetch small files. A unit is one blob. */
export const batchCases = (): readonly RateCase[] => [
  update(),
  ...(memoryPlace === undefined ? [] : [update(memoryPlace)]),
  read(),
]
