import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Builds, EventCase, Observation } from '../case.js'
import { type Digest, MIB } from '../content.js'
import { checkAnswers, fill } from '../fill.js'
import { filesystemCache, threaded } from '../server/config.js'
import { type ServerProcess, startOn, temporaryFolder } from '../server/process.js'

/** With fewer blobs their memory is lost in the noise of the process. */
const LEAST_TO_TELL = 100_000

interface Start {
  readonly server: ServerProcess
  /** From the start of the process to the first correct answer. */
  readonly answeredMs: number
}

type Subject = Builds & { readonly configure: (dataPath: string) => object }

const startAgain = async (dataPath: string, { cli, configure }: Subject, known: Digest | undefined): Promise<Start> => {
  const startMs = performance.now()
  const server = await startOn(dataPath, configure, { cli })
  if (known !== undefined) await checkAnswers(server, known)
  const answeredMs = performance.now() - startMs
  // Loading code also delays the event loop, when no caller waits: delays count from here.
  await server.end()
  return { server, answeredMs }
}

interface Rounds {
  readonly clean: number[]
  readonly killed: number[]
  readonly resident: number[]
  readonly emptyStart: number[]
  readonly emptyResident: number[]
}

/** Clean stop and start, kill -9 and start, an empty server beside them. */
const round = async (folder: string, builds: Subject, known: Digest, into: Rounds): Promise<void> => {
  const dataPath = join(folder, 'full')
  const clean = await startAgain(dataPath, builds, known)
  into.clean.push(clean.answeredMs)
  into.resident.push(clean.server.residentBytes() / MIB)
  await clean.server.kill()
  const killed = await startAgain(dataPath, builds, known)
  into.killed.push(killed.answeredMs)
  await killed.server.stop()
  const empty = await startAgain(join(folder, `empty-${into.clean.length}`), builds, undefined)
  into.emptyStart.push(empty.answeredMs)
  into.emptyResident.push(empty.server.residentBytes() / MIB)
  await empty.server.stop()
}

async function* observe(count: number, builds: Subject): AsyncGenerator<Observation> {
  const folder = temporaryFolder()
  try {
    const { server } = await startAgain(join(folder, 'full'), builds, undefined)
    const startMs = performance.now()
    const known = await fill(server, count)
    const filledRate = (count * 1000) / (performance.now() - startMs)
    const filledMib = server.residentBytes() / MIB
    await server.stop()
    const rounds: Rounds = {
      ...{ clean: [], killed: [] },
      ...{ resident: [], emptyStart: [], emptyResident: [] },
    }
    for (let index = 0; index < builds.rounds; index++) await round(folder, builds, known, rounds)
    const emptyStart = { name: 'with an empty store', values: rounds.emptyStart }
    yield { name: 'filling it', unit: 'op/s', values: [filledRate] }
    yield { name: 'clean stop, start to first answer', unit: 'ms', values: rounds.clean, beside: emptyStart }
    yield { name: 'kill -9, start to first answer', unit: 'ms', values: rounds.killed, beside: emptyStart }
    const beside = { name: 'with an empty store', values: rounds.emptyResident }
    yield { name: 'resident memory after a clean start', unit: 'MiB', values: rounds.resident, beside }
    yield { name: 'resident memory of the server that was filled', unit: 'MiB', values: [filledMib] }
    if (count < LEAST_TO_TELL) return
    const ofBlob = rounds.resident.map((mib, index) => ((mib - (rounds.emptyResident[index] ?? 0)) * MIB) / count)
    yield { name: 'memory of a blob after a clean start, beyond an empty store', unit: 'B/blob', values: ofBlob }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const startUp = (count: number, isSlow: boolean, threads = 1): EventCase => ({
  kind: 'event',
  name: `start-up with ${count.toLocaleString('en')} blobs${threads === 1 ? '' : `, ${threads} service threads`}`,
  isSlow,
  observe: (builds) => observe(count, { ...builds, configure: threaded(threads, filesystemCache) }),
})

/** The downtime of a restart, after a clean stop and after kill -9. */
export const startUpCases = (): readonly EventCase[] => [
  startUp(1_000, false),
  startUp(100_000, false),
  startUp(1_000_000, true),
  startUp(1_000_000, true, 4),
]
