import type { Builds, EventCase, Observation } from '../case.js'
import { batchUpdate, checkBatch, checkWrite, KIB, MIB, randomBlobs, write } from '../content.js'
import { each } from '../load/each.js'
import type { LoadResult } from '../load/request.js'
import { durableCache } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'

interface Workload {
  readonly name: string
  run(server: ServerProcess): Promise<LoadResult>
  readonly unitsPerRequest: number
}

const BATCHES = 12
const BLOBS = 100
const WRITES = 48

const workloads: readonly Workload[] = [
  {
    name: 'BatchUpdateBlobs of 100 x 4 KiB, blobs',
    unitsPerRequest: BLOBS,
    run: (server) => {
      const calls = Array.from({ length: BATCHES }, () => batchUpdate(server, randomBlobs(BLOBS, 4 * KIB)))
      return each(server, calls, { concurrency: 4, check: checkBatch })
    },
  },
  {
    name: 'ByteStream.Write of 1 MiB, blobs',
    unitsPerRequest: 1,
    run: (server) => {
      const calls = randomBlobs(WRITES, MIB).map((blob) => write(server, blob))
      return each(server, calls, { concurrency: 8, check: checkWrite(MIB) })
    },
  },
]

const rateOf = async ({ run, unitsPerRequest }: Workload, server: ServerProcess): Promise<number> => {
  const { seconds, requests } = await run(server)
  return (requests * unitsPerRequest) / seconds
}

async function* observe({ cli, profileFolder, rounds }: Builds): AsyncGenerator<Observation> {
  const durable = await startRemexec(durableCache('power_loss'), { cli, profileFolder })
  const usual = await startRemexec(durableCache('process_exit'), { cli })
  try {
    for (const workload of workloads) {
      const values: number[] = []
      const beside: number[] = []
      // The first round warms up and is not counted.
      for (let round = 0; round <= rounds; round++) {
        const pair = [await rateOf(workload, durable), await rateOf(workload, usual)] as const
        if (round === 0) continue
        values.push(pair[0])
        beside.push(pair[1])
      }
      yield { name: workload.name, unit: 'op/s', values, beside: { name: 'process_exit', values: beside } }
    }
  } finally {
    await Promise.all([durable.stop(), usual.stop()])
  }
}

/** The cost of acknowledging an upload only when it survives a power loss. */
export const durabilityCases = (): readonly EventCase[] => [{ kind: 'event', name: 'durability: power_loss', observe }]
