import { codec } from '../../src/proto/codec.js'
import type { RateCase } from '../case.js'
import { CAS, digestOf, randomBlobs, store } from '../content.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import type { Request } from '../load/request.js'
import type { Server } from '../server/process.js'

const request = codec('build.bazel.remote.execution.v2.FindMissingBlobsRequest')
const response = codec('build.bazel.remote.execution.v2.FindMissingBlobsResponse')

type Shape = 'present' | 'absent' | 'half'

const isPresent = (shape: Shape, index: number): boolean => shape === 'present' || (shape === 'half' && index % 2 === 0)

/** Calls at a time, and the number of connections that carry them. */
interface Spread {
  readonly concurrency: number
  readonly connections: number
}

const ONE_CONNECTION: Spread = { concurrency: 32, connections: 1 }
/** The load of builds that share a cache: a few connections with many calls each, or many connections with one. */
const spreads: readonly Spread[] = [
  { concurrency: 128, connections: 4 },
  { concurrency: 32, connections: 32 },
]

export const findMissing = (count: number, shape: Shape, spread = ONE_CONNECTION): RateCase => {
  const { concurrency, connections } = spread
  const streams = connections === 1 ? '' : ` ${connections}x${concurrency / connections}`
  const blobs = randomBlobs(count, 64)
  const blobDigests = blobs.map(digestOf)
  const absent = blobDigests.filter((_, index) => !isPresent(shape, index)).map(({ hash }) => hash)
  const ask = ({ instanceName }: Server): Request => ({
    path: `${CAS}/FindMissingBlobs`,
    messages: [request.encode({ instanceName, blobDigests })],
    shape,
  })
  const check = (message: Buffer): void => {
    const missing = new Set(response.decode(message).missingBlobDigests.map(({ hash }) => hash))
    if (missing.size !== absent.length || absent.some((hash) => !missing.has(hash))) {
      throw new Error(`${missing.size} of ${count} are missing, expected the ${absent.length} that are`)
    }
  }
  const run = (server: Server, requests: number) => repeat(server, ask(server), { requests, concurrency, connections })
  return {
    kind: 'rate',
    name: `FindMissingBlobs(${count})${shape === 'present' ? '' : ` ${shape}`}${streams}`,
    unit: 'op',
    unitsPerRequest: 1,
    requests: { least: Math.max(10, Math.ceil(800 / count)), most: 50_000 },
    setUp: async (server) => {
      await store(
        server,
        blobs.filter((_, index) => isPresent(shape, index)),
      )
      await each(server, [ask(server)], { concurrency: 1, check })
    },
    run,
    limits: [{ name: 'bare handler', usesBare: true, run }],
  }
}

/** Lookups of present, absent, or alternating digests. */
export const findMissingCases = (): readonly RateCase[] => [
  ...everySize(),
  ...spreads.map((spread) => findMissing(1, 'present', spread)),
]

const everySize = (): readonly RateCase[] =>
  [1, 100, 1_000, 10_000].flatMap((count) =>
    (count === 1 ? (['present', 'absent'] as const) : (['present', 'absent', 'half'] as const)).map((shape) =>
      findMissing(count, shape),
    ),
  )
