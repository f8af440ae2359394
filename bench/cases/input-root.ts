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

const FILES_EACH = 100
const FILE_BYTES = 1000
const HITS = 5
/** What is measured: trees of so many directories, in which so many files of different directories change. */
const SIZES = [
  { directories: 100, changed: 10 },
  { directories: 44, changed: 1 },
]

/** One worker that keeps input roots. */
const keepingRoots = (dataPath: string): object => {
  const config = benchConfig(dataPath) as { readonly workers: readonly { readonly local: object }[] }
  const workers = config.workers.map(({ local }) => ({ local: { ...local, directory_cache: { max_entries: 10 } } }))
  return { ...config, workers }
}

/** A tree of directories with files of random bytes. */
class Tree {
  readonly #files: { name: string; bytes: Buffer }[][]

  constructor(directories: number) {
    this.#files = Array.from({ length: directories }, () =>
      Array.from({ length: FILES_EACH }, (_, at) => ({
        name: String(at).padStart(3, '0'),
        bytes: randomBytes(FILE_BYTES),
      })),
    )
  }

  /** Uploads everything and returns the digest of the root. */
  async store(server: ServerProcess) {
    const blobs = this.#files.flat().map(({ bytes }) => bytes)
    const directories = this.#files.map((files, index) => {
      const encoded = directory.encode({ files: files.map(({ name, bytes }) => ({ name, digest: digestOf(bytes) })) })
      blobs.push(encoded)
      return { name: `d${String(index).padStart(3, '0')}`, digest: digestOf(encoded) }
    })
    const root = directory.encode({ directories })
    await store(server, [...blobs, root])
    return digestOf(root)
  }

  /** Changes one file in each of the first directories. */
  change(count: number): void {
    for (const [file] of this.#files.slice(0, count)) if (file !== undefined) file.bytes = randomBytes(FILE_BYTES)
  }
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

/** The kept root of the last action is compared before reuse. */
const compared = () => new Promise((resolve) => setTimeout(resolve, 1000))

async function* observe({ cli, profileFolder, rounds, isQuick }: Builds): AsyncGenerator<Observation> {
  for (const { directories, changed } of SIZES) {
    const cold: number[] = []
    const kept: number[] = []
    const similar: number[] = []
    const server = await startRemexec(keepingRoots, { cli, profileFolder })
    try {
      for (let round = 0; round < (isQuick ? 2 : rounds); round++) {
        const tree = new Tree(directories)
        const root = await tree.store(server)
        cold.push(await fetchMs(server, root))
        for (let hit = 0; hit < HITS; hit++) {
          await compared()
          kept.push(await fetchMs(server, root))
        }
        for (let hit = 0; hit < HITS; hit++) {
          tree.change(changed)
          const next = await tree.store(server)
          await compared()
          similar.push(await fetchMs(server, next))
        }
      }
    } finally {
      await server.stop()
    }
    const files = (directories * FILES_EACH).toLocaleString('en')
    const beside = { name: 'made anew', values: cold }
    yield { name: `${files} files, made anew`, unit: 'ms', values: cold }
    yield { name: `${files} files, kept`, unit: 'ms', values: kept, beside }
    const differ = changed === 1 ? 'one differs' : `${changed} differ`
    yield { name: `${files} files, of which ${differ}`, unit: 'ms', values: similar, beside }
  }
}

/** How long an action waits for its inputs. */
export const inputRootCases = (): readonly EventCase[] => [{ kind: 'event', name: 'input root', observe }]
