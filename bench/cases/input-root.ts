import { randomBytes } from 'node:crypto'
import { codec } from '../../src/proto/codec.js'
import { type Time, toMs } from '../../src/proto/time.js'
import type { Builds, EventCase, Observation } from '../case.js'
import { digestOf, store } from '../content.js'
import { each } from '../load/each.js'
import { benchConfig } from '../server/config.js'
import { type ServerProcess, startRemexec } from '../server/process.js'

const REAPI = 'build.bazel.remote.execution.v2'
const executeRequest = codec(`${REAPI}.ExecuteRequest`)
const executeResponse = codec(`${REAPI}.ExecuteResponse`)
const operation = codec('google.longrunning.Operation')
const directory = codec(`${REAPI}.Directory`)
const action = codec(`${REAPI}.Action`)
const command = codec(`${REAPI}.Command`).encode({ arguments: ['/bin/true'] })

const DIRECTORIES = 100
const FILES_EACH = 100
const FILE_BYTES = 1000
const HITS = 5

/** One worker that keeps input roots. */
const keepingRoots = (dataPath: string): object => {
  const config = benchConfig(dataPath) as { readonly workers: readonly { readonly local: object }[] }
  const workers = config.workers.map(({ local }) => ({ local: { ...local, directory_cache: { max_entries: 10 } } }))
  return { ...config, workers }
}

/** Uploads a tree of this many files and returns the digest of its root. */
const storeTree = async (server: ServerProcess) => {
  const blobs: Buffer[] = []
  const directories = Array.from({ length: DIRECTORIES }, (_, index) => {
    const files = Array.from({ length: FILES_EACH }, (_, at) => {
      const bytes = randomBytes(FILE_BYTES)
      blobs.push(bytes)
      return { name: String(at).padStart(3, '0'), digest: digestOf(bytes) }
    })
    const below = directory.encode({ files })
    blobs.push(below)
    return { name: `d${String(index).padStart(3, '0')}`, digest: digestOf(below) }
  })
  const root = directory.encode({ directories })
  await store(server, [...blobs, root])
  return digestOf(root)
}

/** The time from the start of an attempt on its worker to the start of its command. */
export const fetchMs = async (server: ServerProcess, inputRootDigest: ReturnType<typeof digestOf>): Promise<number> => {
  const one = action.encode({ commandDigest: digestOf(command), inputRootDigest, salt: randomBytes(16) })
  await store(server, [command, one])
  let ms = Number.NaN
  const { instanceName } = server
  const messages = [executeRequest.encode({ instanceName, actionDigest: digestOf(one) })]
  const check = (bytes: Buffer): void => {
    const { done, response } = operation.decode(bytes)
    if (!done || response === null) return
    const { status, result } = executeResponse.decode(response.value)
    const metadata = result?.executionMetadata
    if (!metadata) throw new Error(`the action failed: ${status?.message}`)
    ms = toMs(metadata.inputFetchCompletedTimestamp as Time) - toMs(metadata.inputFetchStartTimestamp as Time)
  }
  await each(server, [{ path: `/${REAPI}.Execution/Execute`, messages }], { concurrency: 1, check })
  return ms
}

async function* observe({ cli, profileFolder, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  const cold: number[] = []
  const kept: number[] = []
  const server = await startRemexec(keepingRoots, { cli, profileFolder })
  try {
    for (let round = 0; round < (isQuick ? 2 : rounds); round++) {
      const root = await storeTree(server)
      cold.push(await fetchMs(server, root))
      for (let hit = 0; hit < HITS; hit++) {
        // The kept root of the last action is compared before reuse.
        await new Promise((resolve) => setTimeout(resolve, 1000))
        kept.push(await fetchMs(server, root))
      }
    }
  } finally {
    await server.stop()
  }
  const files = (DIRECTORIES * FILES_EACH).toLocaleString('en')
  yield { name: `${files} files, made anew`, unit: 'ms', values: cold }
  yield { name: `${files} files, kept`, unit: 'ms', values: kept }
}

/** How long an action waits for its inputs. */
export const inputRootCases = (): readonly EventCase[] => [{ kind: 'event', name: 'input root', observe }]
