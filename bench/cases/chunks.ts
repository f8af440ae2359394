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

/** Of each action: how long it waits for its inputs, and the CPU of server and worker for all of it. */
interface Times {
  readonly ms: number[]
  readonly cpuMs: number[]
}

const timed = async (server: ServerProcess, root: Awaited<ReturnType<typeof storeInputs>>) => {
  await server.begin()
  const ms = await fetchMs(server, root)
  const { cpuMicros } = await server.end()
  return { ms, cpuMs: cpuMicros / 1000 }
}

async function* observe({ cli, profileFolder, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  const times = (): Times => ({ ms: [], cpuMs: [] })
  const first = { chunks: times(), whole: times() }
  const again = { chunks: times(), whole: times() }
  const servers = {
    chunks: await startRemexec(chunkedExecution, { cli, profileFolder }),
    whole: await startRemexec(benchConfig, { cli }),
  }
  try {
    // The first round warms up and is not counted.
    for (let round = 0; round <= (isQuick ? 2 : rounds); round++) {
      for (const side of ['chunks', 'whole'] as const) {
        const root = await storeInputs(servers[side])
        for (let action = 0; action <= ACTIONS; action++) {
          const { ms, cpuMs } = await timed(servers[side], root)
          const kept = action === 0 ? first : again
          if (round === 0) continue
          kept[side].ms.push(ms)
          kept[side].cpuMs.push(cpuMs)
        }
      }
    }
  } finally {
    await servers.chunks.stop()
    await servers.whole.stop()
  }
  const inputs = `${LARGE_INPUTS} inputs of 16 MiB and ${SMALL_INPUTS} small ones`
  for (const [when, { chunks, whole }] of Object.entries({ 'the first action': first, 'later actions': again })) {
    const name = `${inputs}, in ${when}`
    yield { name, unit: 'ms', values: chunks.ms, beside: { name: 'kept whole', values: whole.ms } }
    const besideCpu = { name: 'kept whole', values: whole.cpuMs }
    yield { name: `${name}, CPU of server and worker`, unit: 'ms', values: chunks.cpuMs, beside: besideCpu }
  }
}

/** How long an action waits for inputs that are kept as chunks: the first one joins them into files. */
export const chunkInputCases = (): readonly EventCase[] => [{ kind: 'event', name: 'inputs as chunks', observe }]

/** What chunks cost: new content of 64 MiB cut and read, and small blobs, which are none. */
export const chunkCases = (): readonly RateCase[] => {
  const some = sizes.filter(({ name }) => name === '64 MiB' || name === '1 KiB')
  return [...some.flatMap((size) => [identityWrite(size), readCase(size, false)]), findMissing()].map(asChunks)
}
