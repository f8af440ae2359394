import type { Builds, EventCase, Observation } from '../case.js'
import { KIB } from '../content.js'
import { openCache } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'
import { actionResult, findMissing, reading, type Work, writing } from './cache-work.js'

/** Calls of a young process, and of one that has compiled what they need. */
const FIRST_CALLS = 300
const WARM_CALLS = 20_000

const SIZE = { name: '1 KiB', bytes: KIB }

const works = (): readonly Work[] => [findMissing({}), actionResult({}), reading(SIZE, {}), writing(SIZE, {})]

const cpuOfCall = async (server: ServerProcess, { run }: Work, calls: number): Promise<number> => {
  await server.begin()
  await run(server, calls)
  return (await server.end()).cpuMicros / calls
}

async function* observe({ cli, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  const all = works()
  const young = all.map((): number[] => [])
  const warm = all.map((): number[] => [])
  for (let round = 0; round < (isQuick ? Math.min(rounds, 3) : rounds); round++) {
    // Each work has a process of its own: what one compiles, another one uses too.
    for (const [at, work] of all.entries()) {
      const server = await startRemexec(openCache, { cli })
      try {
        await work.setUp(server)
        young[at]?.push(await cpuOfCall(server, work, FIRST_CALLS))
        await work.run(server, WARM_CALLS)
        warm[at]?.push(await cpuOfCall(server, work, WARM_CALLS / 4))
      } finally {
        await server.stop()
      }
    }
  }
  for (const [at, { name }] of all.entries()) {
    const beside = { name: 'after 20,000 calls', values: warm[at] ?? [] }
    yield { name: `${name}, CPU of the first ${FIRST_CALLS}`, unit: 'µs', values: young[at] ?? [], beside }
  }
}

/** A server that is restarted each night pays each day for what V8 compiles at first. */
export const youngCases = (): readonly EventCase[] => [{ kind: 'event', name: 'a young process', observe }]
