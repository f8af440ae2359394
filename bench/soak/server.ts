import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LATE, within } from '../../src/work/deadline.js'
import { memoryPlace } from '../server/place.js'
import { root, temporaryFolder } from '../server/process.js'
import { soakConfig } from './config.js'
import { isStarved, type Waited } from './starved.js'

const probe = new URL('probe.mjs', import.meta.url).href

/** What a server holds at one moment. */
export interface Sample {
  readonly residentBytes: number
  /** The heap and what hangs on it outside, after a full collection. */
  readonly liveBytes: number
  readonly descriptors: number
  /** What they are open on, numbers replaced by N. */
  readonly open: readonly string[]
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

interface Failure {
  readonly id: number
  readonly failure: string
}

const MAX_SAMPLE_MS = 120_000

/** The built server in a process of its own, its files in memory where there is a place for that. */
export class SoakedServer {
  /** What it said of failures of its own: lines of its log. */
  readonly errors: string[] = []
  readonly #child: ChildProcess
  readonly #ended: Promise<NodeJS.Signals | number | null>
  readonly #waited: Waited[] = []
  readonly #asking = new Map<number, (report: Report | Failure) => void>()
  #asked = 0

  private constructor(
    child: ChildProcess,
    readonly port: number,
  ) {
    this.#child = child
    this.#ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)))
    child.on('message', (message: Waited | Report | Failure) => {
      if ('waitedMs' in message) this.#waited.push(message)
      else this.#asking.get(message.id)?.(message)
    })
  }

  /** Those of its errors that tell of nothing but a machine that had no processor for it. */
  get starved(): readonly string[] {
    return this.errors.filter((line) => isStarved(line, this.#waited))
  }

  static async start(originPort: number): Promise<SoakedServer> {
    const cli = join(root, '.built', 'src', 'cli.js')
    if (!existsSync(cli)) throw new Error(`${cli} is not there: node scripts/prepare.mjs makes it`)
    const folder = temporaryFolder(memoryPlace)
    const configPath = join(folder, 'config.json')
    writeFileSync(configPath, JSON.stringify(soakConfig(folder, originPort)))
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
        const [, port] = /serving grpc:\/\/127\.0\.0\.1:(\d+) server=public/.exec(line) ?? []
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
    const answered = new Promise<Report | Failure>((resolve) => this.#asking.set(id, resolve))
    const ended = this.#ended.then((how) => ({ id, failure: `it ended with ${how}` }))
    const report = await within(MAX_SAMPLE_MS, Promise.race([answered, ended]))
    this.#asking.delete(id)
    if (report === LATE) throw new Error(`the server did not tell of itself within ${MAX_SAMPLE_MS / 1000} s`)
    if ('failure' in report) throw new Error(`the server could not tell of itself: ${report.failure}`)
    return report
  }

  /** Resolves with how long it took to end: what waits for calls under way takes long. */
  async stop(): Promise<number> {
    const startMs = performance.now()
    this.#child.kill('SIGTERM')
    await this.#ended
    return performance.now() - startMs
  }
}
