import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LATE, within } from '../../src/work/deadline.js'
import { memoryPlace } from '../server/place.js'
import { root, temporaryFolder } from '../server/process.js'
import { isStarved, type Waited } from './starved.js'

const probe = new URL('probe.mjs', import.meta.url).href

/** What a server holds at one moment. */
export interface Sample {
  readonly residentBytes: number
  /** The heap and what hangs on it outside, after a full collection. */
  readonly liveBytes: number
  readonly descriptors: number
  /** How many are alive after a full collection. */
  readonly calls: number
  /** User and system time since the process began. */
  readonly cpuMicros: number
}

/** A sample at a moment when its duration does not matter. */
export interface WholeSample extends Sample {
  readonly streams: number
  readonly connections: number
}

interface Report extends WholeSample {
  readonly id: number
}

const MAX_SAMPLE_MS = 120_000

/** Stores so small that they are full within minutes: until then memory grows with what they know of their entries. */
const MAX_CAS_BYTES = 128 << 20
const MAX_AC_BYTES = 2 << 20

const RESUMABLE_S = 5

const store = (name: string, folder: string, maxBytes: number): object => ({
  name,
  filesystem: {
    content_path: join(folder, name, 'content'),
    temp_path: join(folder, name, 'temp'),
    eviction_policy: { max_bytes: maxBytes },
  },
})

const configOf = (folder: string): object => ({
  stores: [store('CAS', folder, MAX_CAS_BYTES), store('AC', folder, MAX_AC_BYTES)],
  servers: [
    {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [{ instance_name: '', cas_store: 'CAS' }],
        ac: [{ instance_name: '', ac_store: 'AC' }],
        // Uploads that were broken off keep their files open while they can be resumed.
        bytestream: [{ instance_name: '', cas_store: 'CAS', persist_stream_on_disconnect_timeout_s: RESUMABLE_S }],
      },
    },
  ],
})

/** The built server in a process of its own, its files in memory where there is a place for that. */
export class SoakedServer {
  /** What it said of failures of its own: lines of its log. */
  readonly errors: string[] = []
  readonly #child: ChildProcess
  readonly #waited: Waited[] = []
  readonly #asking = new Map<number, (report: Report) => void>()
  #asked = 0

  private constructor(
    child: ChildProcess,
    readonly port: number,
  ) {
    this.#child = child
    child.on('message', (message: Waited | Report) => {
      if ('waitedMs' in message) this.#waited.push(message)
      else this.#asking.get(message.id)?.(message)
    })
  }

  /** Those of its errors that tell of nothing but a machine that had no processor for it. */
  get starved(): readonly string[] {
    return this.errors.filter((line) => isStarved(line, this.#waited))
  }

  static async start(): Promise<SoakedServer> {
    const cli = join(root, 'dist', 'cli.js')
    if (!existsSync(cli)) throw new Error(`${cli} is not there: npm run build makes it`)
    const folder = temporaryFolder(memoryPlace)
    const configPath = join(folder, 'config.json')
    writeFileSync(configPath, JSON.stringify(configOf(folder)))
    const child = spawn(process.execPath, ['--import', probe, cli, configPath], {
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      env: { ...process.env, REMEXEC_LOG_FORMAT: 'text' },
    })
    process.once('exit', () => child.kill('SIGKILL'))
    if (child.stderr === null) throw new Error('the server has no stderr')
    const lines = createInterface({ input: child.stderr })
    return new Promise((resolve, reject) => {
      let server: SoakedServer | undefined
      lines.on('line', (line) => {
        const [, port] = /serving grpc:\/\/127\.0\.0\.1:(\d+)/.exec(line) ?? []
        if (port !== undefined) {
          server = new SoakedServer(child, Number(port))
          resolve(server)
        }
        if (/^\S+ error /.test(line)) server?.errors.push(line)
      })
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
    })
  }

  sample(): Promise<Sample> {
    return this.#sample(false)
  }

  wholeSample(): Promise<WholeSample> {
    return this.#sample(true)
  }

  async #sample(isWhole: boolean): Promise<WholeSample> {
    const id = this.#asked++
    this.#child.send({ id, isWhole })
    const report = await within(MAX_SAMPLE_MS, new Promise<Report>((resolve) => this.#asking.set(id, resolve)))
    this.#asking.delete(id)
    if (report === LATE) throw new Error(`the server did not tell of itself within ${MAX_SAMPLE_MS / 1000} s`)
    return report
  }

  /** Resolves with how long it took to end: what waits for calls under way takes long. */
  async stop(): Promise<number> {
    const startMs = performance.now()
    const exited = once(this.#child, 'exit')
    this.#child.kill('SIGTERM')
    await exited
    return performance.now() - startMs
  }
}
