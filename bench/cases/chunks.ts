import { codec } from '../../src/proto/codec.js'
import type { Builds, EventCase, Limit, Observation, RateCase } from '../case.js'
import { CAS, checkWrite, digestOf, MIB, randomBlobs, store, write } from '../content.js'
import { each } from '../load/each.js'
import { repeat } from '../load/h2load.js'
import { benchConfig, chunkedCache, chunkedExecution, filesystemCache } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'
import { fetchMs } from './input-root.js'
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

const directory = codec('build.bazel.remote.execution.v2.Directory')
const LARGE_INPUTS = 4
const LARGE_BYTES = 16 * MIB
const SMALL_INPUTS = 1000
const ACTIONS = 5

/** Uploads the inputs of an action, some of them larger than a chunk, and returns their root. */
const storeInputs = async (server: ServerProcess) => {
  const large = randomBlobs(LARGE_INPUTS, LARGE_BYTES)
  const small = randomBlobs(SMALL_INPUTS, 2000)
  for (const blob of large)
    await each(server, [write(server, blob)], { concurrency: 1, check: checkWrite(LARGE_BYTES) })
  const files = [...large, ...small].map((blob, at) => ({
    name: String(at).padStart(4, '0'),
    digest: digestOf(blob),
  }))
  const root = directory.encode({ files })
  await store(server, [...small, root])
  return digestOf(root)
}

async function* observe({ cli, profileFolder, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  const first = { chunks: [] as number[], whole: [] as number[] }
  const again = { chunks: [] as number[], whole: [] as number[] }
  const servers = {
    chunks: await startRemexec(chunkedExecution, { cli, profileFolder }),
    whole: await startRemexec(benchConfig, { cli }),
  }
  try {
    // The first round warms up and is not counted.
    for (let round = 0; round <= (isQuick ? 2 : rounds); round++) {
      for (const side of ['chunks', 'whole'] as const) {
        const root = await storeInputs(servers[side])
        const times = [await fetchMs(servers[side], root)]
        for (let action = 0; action < ACTIONS; action++) times.push(await fetchMs(servers[side], root))
        if (round === 0) continue
        first[side].push(times[0] as number)
        again[side].push(...times.slice(1))
      }
    }
  } finally {
    await servers.chunks.stop()
    await servers.whole.stop()
  }
  const name = `${LARGE_INPUTS} inputs of 16 MiB and ${SMALL_INPUTS} small ones`
  const beside = (values: readonly number[]) => ({ name: 'kept whole', values })
  yield { name: `${name}, in the first action`, unit: 'ms', values: first.chunks, beside: beside(first.whole) }
  yield { name: `${name}, in later actions`, unit: 'ms', values: again.chunks, beside: beside(again.whole) }
}

/** How long an action waits for inputs that are kept as chunks: the first one joins them into files. */
export const chunkInputCases = (): readonly EventCase[] => [{ kind: 'event', name: 'inputs as chunks', observe }]

/** What chunks cost: new content of 64 MiB cut and read, and small blobs, which are none. */
export const chunkCases = (): readonly RateCase[] => {
  const some = sizes.filter(({ name }) => name === '64 MiB' || name === '1 KiB')
  return [...some.flatMap((size) => [identityWrite(size), readCase(size, false)]), findMissing()].map(asChunks)
}
