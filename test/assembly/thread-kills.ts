import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { drawnBytes } from '../drawn.js'
import { collect, TestClient } from '../server/client.js'

/**
 * Kills a loaded server with four service threads over and over, and looks after each kill for what it had acknowledged:
 * `node --import tsx test/assembly/thread-kills.ts 300` for as many kills. Ends with 1 if anything was lost or torn, if a temporary
 * file outlived a start, or if a kind of upload did not happen.
 */
const count = Number(process.argv[2] ?? 10)
const THREADS = 4
const CLIENTS = 8
/** Before a kill. */
const UPLOADS_MIN = 20
const UPLOADS_MORE = 100
/** The others are tests of whether the disk can be written. */
const OF_A_THREAD = /-t\d+-\d+$/
const REAPI = 'build.bazel.remote.execution.v2'
const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url).href.replace('/.built/', '/'))

const configOf = (folder: string): object => ({
  global: { threads: THREADS },
  stores: {
    CAS: { filesystem: { content_path: `${folder}/cas`, temp_path: `${folder}/temp` } },
    AC: { filesystem: { content_path: `${folder}/ac`, temp_path: `${folder}/temp` } },
  },
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: { cas: [{ cas_store: 'CAS' }], ac: [{ ac_store: 'AC' }], bytestream: [{ cas_store: 'CAS' }] },
    },
  ],
})

const start = async (folder: string) => {
  const child = spawn(process.execPath, [cli, join(folder, 'config.json')], { stdio: ['ignore', 'ignore', 'pipe'] })
  let text = ''
  const address = await new Promise<string>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      const found = /serving grpc:\/\/([\d.:]+)/.exec(text)?.[1]
      if (found !== undefined) resolve(found)
    })
    child.once('exit', (code) => reject(new Error(`the server ended with ${code}: ${text}`)))
  })
  const kill = async (): Promise<void> => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  return { address, kill }
}

interface Stored {
  readonly digest: { readonly hash: string; readonly sizeBytes: number }
  /** Of an action: the name of its output. */
  readonly path?: string
}

const digestOf = (content: Buffer): Stored['digest'] => ({
  hash: createHash('sha256').update(content).digest('hex'),
  sizeBytes: content.length,
})

const uploads = {
  batch: async (client: TestClient): Promise<Stored[]> => {
    const contents = Array.from({ length: 8 }, (_, at) => drawnBytes(200 + at * 400))
    const requests = contents.map((data) => ({ digest: digestOf(data), data }))
    const { responses } = await client.unary(`${REAPI}.ContentAddressableStorage/BatchUpdateBlobs`, { requests })
      .response
    return requests.filter((_, at) => responses[at].status.code === 0)
  },
  large: async (client: TestClient): Promise<Stored[]> => {
    const content = drawnBytes(100_000 + (drawnBytes(2).readUInt16LE() << 3))
    const digest = digestOf(content)
    const { call, response } = client.clientStream('google.bytestream.ByteStream/Write')
    const resourceName = `uploads/${randomUUID()}/blobs/${digest.hash}/${digest.sizeBytes}`
    for (let at = 0; at < content.length; at += 60_000) {
      const data = content.subarray(at, at + 60_000)
      call.write({ resourceName, writeOffset: at, data, finishWrite: at + data.length === content.length })
    }
    call.end()
    await response
    return [{ digest }]
  },
  result: async (client: TestClient): Promise<Stored[]> => {
    const digest = digestOf(drawnBytes(50))
    const path = randomUUID()
    const actionResult = { outputSymlinks: [{ path, target: 'there' }] }
    await client.unary(`${REAPI}.ActionCache/UpdateActionResult`, { actionDigest: digest, actionResult }).response
    return [{ digest, path }]
  },
} as const
const kinds = Object.keys(uploads) as (keyof typeof uploads)[]

const clientsOf = (address: string): TestClient[] =>
  Array.from({ length: CLIENTS }, () => new TestClient(address, { 'grpc.use_local_subchannel_pool': 1 }))

/** Uploads on every connection until the server is killed. Returns what it acknowledged; `more` is called for each upload. */
const load = async (
  clients: readonly TestClient[],
  acknowledged: Map<keyof typeof uploads, number>,
  more: () => void,
): Promise<Stored[]> => {
  const stored: Stored[] = []
  const run = async (client: TestClient, at: number): Promise<void> => {
    try {
      // biome-ignore lint/plugin: ends with the server, which the round kills
      for (let round = at; ; round++) {
        const kind = kinds[round % kinds.length] as keyof typeof uploads
        stored.push(...(await uploads[kind](client)))
        acknowledged.set(kind, (acknowledged.get(kind) ?? 0) + 1)
        more()
      }
    } catch {
      // The server was killed.
    }
  }
  await Promise.all(clients.map(run))
  return stored
}

/** Undefined if it is there and whole. */
const faultOf = async (client: TestClient, { digest, path }: Stored): Promise<'lost' | 'torn' | undefined> => {
  try {
    if (path !== undefined) {
      const { response } = client.unary(`${REAPI}.ActionCache/GetActionResult`, { actionDigest: digest })
      return (await response).outputSymlinks[0]?.path === path ? undefined : 'torn'
    }
    const resourceName = `blobs/${digest.hash}/${digest.sizeBytes}`
    const stream = client.serverStream('google.bytestream.ByteStream/Read', { resourceName })
    const { messages } = await collect(stream)
    return digestOf(Buffer.concat(messages.map(({ data }) => data))).hash === digest.hash ? undefined : 'torn'
  } catch {
    return 'lost'
  }
}

const bad = { lost: 0, torn: 0, tempFiles: 0 }
const acknowledged = new Map(kinds.map((kind) => [kind, 0]))
const folder = await mkdtemp(join(tmpdir(), 'remexec-thread-kills-'))
try {
  await writeFile(join(folder, 'config.json'), JSON.stringify(configOf(folder)))
  for (let kill = 0; kill < count; kill++) {
    const loaded = await start(folder)
    const clients = clientsOf(loaded.address)
    let resolve = (): void => {}
    const enough = new Promise<void>((done) => {
      resolve = done
    })
    // biome-ignore lint/plugin: kills at any moment
    let left = UPLOADS_MIN + Math.floor(Math.random() * UPLOADS_MORE)
    const loading = load(clients, acknowledged, () => {
      if (--left === 0) resolve()
    })
    await enough
    await loaded.kill()
    const stored = await loading
    for (const client of clients) client.close()
    const again = await start(folder)
    bad.tempFiles += (await readdir(join(folder, 'temp'))).filter((name) => OF_A_THREAD.test(name)).length
    const readers = clientsOf(again.address)
    const faults = await Promise.all(stored.map((each, at) => faultOf(readers[at % CLIENTS] as TestClient, each)))
    for (const fault of faults) if (fault !== undefined) bad[fault]++
    for (const client of readers) client.close()
    await again.kill()
    process.stdout.write(`${JSON.stringify({ kills: kill + 1, ...Object.fromEntries(acknowledged), ...bad })}\n`)
  }
} finally {
  await rm(folder, { recursive: true, force: true })
}
const isIdle = [...acknowledged.values()].includes(0)
process.exitCode = isIdle || Object.values(bad).some((value) => value > 0) ? 1 : 0
