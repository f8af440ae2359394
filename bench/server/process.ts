import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { resolve as absolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ClientTls, Target } from '../load/target.js'
import { pinned } from './pin.js'
import { type Place, usualPlace } from './place.js'
import {
  blindMeter,
  childrenCpuMicrosOf,
  forgetPeakOf,
  type Meter,
  meterOf,
  peakResidentBytesOf,
  residentBytesOf,
  type Usage,
} from './usage.js'

/** Of this checkout: what the bench starts is named from here. */
export const root = fileURLToPath(new URL('../..', import.meta.url))
const probe = new URL('probe.mjs', import.meta.url).href

/** Where requests go, and what they cost there. */
export interface Server extends Meter, Target {
  readonly instanceName: string
  /** Every address that the server logged, by the name of the server in the configuration. */
  readonly addresses: ReadonlyMap<string, string>
}

/** A server in a process of its own, so that its CPU time and memory are separate from the load generator's. */
export interface ServerProcess extends Server {
  /** From the start of the process to the first logged address. */
  readonly startMs: number
  readonly pid: number
  residentBytes(): number
  /** Has V8 collect the whole heap, as it does at some time in every process. */
  collect(): Promise<void>
  stop(): Promise<void>
  /** kill -9. What the server stored stays where it is. */
  kill(): Promise<void>
}

export interface StartOptions {
  /** The command line of remexec to start: this build's unless another one is compared with it. */
  readonly cli?: string | undefined
  /** Where the server leaves a CPU profile (.cpuprofile, for Chrome's or any other viewer) when it stops. */
  readonly profileFolder?: string | undefined
  readonly env?: Readonly<Record<string, string>>
  /** Options of Node. */
  readonly nodeOptions?: readonly string[]
  /** What the temporary folder is made in, when one is made. Default the system's. */
  readonly place?: Place | undefined
  /** What clients of a server that speaks TLS bring. */
  readonly tls?: () => ClientTls
  /** How many addresses the server logs before it counts as started. Default 1. */
  readonly addressCount?: number
}

/** What is taken down when the bench ends. */
const folders = new Set<string>()
const children = new Set<ChildProcess>()

/** As text, and as JSON. */
const SERVING =
  /(?:"server":"(?<of>[^"]+)","msg":"remexec )?serving (?<scheme>grpcs?|http):\/\/(?<address>[^\s"]+)(?: server=(?<name>\S+))?/g

const start = (args: readonly string[], options: StartOptions): Promise<ServerProcess> => {
  const { profileFolder, env, nodeOptions = [], addressCount = 1 } = options
  const profiling = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]
  const startedMs = performance.now()
  const [command, commandArgs] = pinned(process.execPath, [...nodeOptions, ...profiling, '--import', probe, ...args])
  const child = spawn(command, [...commandArgs], {
    cwd: root,
    env: { ...process.env, REMEXEC_LOG_FORMAT: 'text', ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  return new Promise((resolve, reject) => {
    let text = ''
    const addresses = new Map<string, string>()
    const give = (code: number | null): void => reject(new Error(`the server ended with ${code}: ${text}`))
    child.once('exit', give)
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      if (addresses.size >= addressCount) return
      text += chunk
      if (!text.endsWith('\n')) return
      let isSecure = false
      for (const { groups = {} } of text.matchAll(SERVING)) {
        addresses.set(groups['name'] ?? groups['of'] ?? '', groups['address'] ?? '')
        isSecure ||= groups['scheme'] === 'grpcs'
      }
      const [first] = addresses.values()
      if (first === undefined || addresses.size < addressCount) return
      child.off('exit', give)
      const tls = isSecure ? options.tls?.() : undefined
      resolve(new OwnProcess(child, { address: first, tls }, addresses, performance.now() - startedMs))
    })
  })
}

interface ProbeReport {
  readonly id: number
  readonly cpuMicros: number
  readonly loopDelay: { readonly p99Ms: number; readonly maxMs: number }
}

class OwnProcess implements ServerProcess {
  readonly instanceName = ''
  readonly address: string
  readonly tls: ClientTls | undefined
  readonly #child: ChildProcess
  readonly pid: number
  readonly #waiting = new Map<number, (report: ProbeReport) => void>()
  #asked = 0
  #before = 0

  constructor(
    child: ChildProcess,
    { address, tls }: Target,
    readonly addresses: ReadonlyMap<string, string>,
    readonly startMs: number,
  ) {
    this.address = address
    this.tls = tls
    this.#child = child
    this.pid = child.pid ?? 0
    child.on('message', (report: ProbeReport) => {
      this.#waiting.get(report.id)?.(report)
      this.#waiting.delete(report.id)
    })
  }

  async begin(): Promise<void> {
    forgetPeakOf(this.pid)
    this.#before = await this.#cpuMicros()
  }

  async end(): Promise<Usage> {
    const { cpuMicros, loopDelay } = await this.#ask()
    return {
      cpuMicros: cpuMicros + childrenCpuMicrosOf(this.pid) - this.#before,
      peakResidentBytes: peakResidentBytesOf(this.pid),
      loopDelay,
    }
  }

  residentBytes(): number {
    return residentBytesOf(this.pid)
  }

  async collect(): Promise<void> {
    await this.#ask({ isCollecting: true })
  }

  stop(): Promise<void> {
    return this.#end('SIGTERM')
  }

  kill(): Promise<void> {
    return this.#end('SIGKILL')
  }

  async #cpuMicros(): Promise<number> {
    const { cpuMicros } = await this.#ask()
    return cpuMicros + childrenCpuMicrosOf(this.pid)
  }

  #ask({ isCollecting = false } = {}): Promise<ProbeReport> {
    return new Promise((resolve, reject) => {
      const id = this.#asked++
      this.#waiting.set(id, resolve)
      this.#child.send({ id, isCollecting }, (error) => {
        if (error !== null) reject(error)
      })
    })
  }

  #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return Promise.resolve()
    return new Promise((resolve) => {
      this.#child.once('exit', () => resolve())
      this.#child.kill(signal)
    })
  }
}

const cliOf = (cli = 'dist/cli.js'): string => {
  const path = absolute(root, cli)
  if (!existsSync(path)) throw new Error(`${path} is not there: npm run build makes it`)
  return path
}

/** The built server with a configuration whose data is below `dataPath` and stays there. */
export const startOn = (
  dataPath: string,
  configure: (dataPath: string) => object,
  options: StartOptions = {},
): Promise<ServerProcess> => {
  const configPath = `${dataPath}.json`
  const config = configure(dataPath)
  writeFileSync(configPath, JSON.stringify(config))
  const addressCount = 'servers' in config && Array.isArray(config.servers) ? config.servers.length : 1
  return start([cliOf(options.cli), configPath], { ...options, addressCount })
}

/** Removed when the bench ends, if its owner has not removed it. */
export const temporaryFolder = ({ folder }: Place = usualPlace): string => {
  if (folders.size === 0) removeAtExit()
  const made = mkdtempSync(join(folder, 'remexec-bench-'))
  folders.add(made)
  return made
}

const SIGNAL_CODES = { SIGINT: 130, SIGTERM: 143 } as const

/** A run that is broken off would leave gigabytes behind. */
const removeAtExit = (): void => {
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL')
    for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  })
  for (const [signal, code] of Object.entries(SIGNAL_CODES)) process.once(signal, () => process.exit(code))
}

const inTemporaryFolder = async (
  run: (folder: string) => Promise<ServerProcess>,
  place?: Place,
): Promise<ServerProcess> => {
  const folder = temporaryFolder(place)
  const remove = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const server = await run(folder)
    const stop = server.stop.bind(server)
    server.stop = async () => {
      await stop()
      remove()
    }
    return server
  } catch (error) {
    remove()
    throw error
  }
}

/** The built server with a configuration of its own below a temporary folder that goes when it stops. */
export const startRemexec = (
  configure: (dataPath: string) => object,
  options: StartOptions = {},
): Promise<ServerProcess> =>
  inTemporaryFolder((folder) => startOn(join(folder, 'data'), configure, options), options.place)

/**
 * The built server with a configuration of the user's. Those of fixtures/configs take their folder and ports from the
 * environment, so that it runs beside whatever else runs here; the first address of the configuration is measured.
 */
export const startConfigured = (configPath: string, options: StartOptions = {}): Promise<ServerProcess> =>
  inTemporaryFolder((folder) => {
    const env = { REMEXEC_DATA: join(folder, 'data'), REMEXEC_PORT: '0', REMEXEC_WORKER_PORT: '0' }
    return start([cliOf(options.cli), absolute(configPath)], { ...options, env })
  })

/** Handlers of the same shape on the same transport that keep nothing: what the transport itself allows. */
export const startBare = (profileFolder?: string): Promise<ServerProcess> =>
  start(['--import', 'tsx', 'bench/server/bare.ts'], { profileFolder })

/** Node's HTTP server with a handler that keeps nothing. */
export const startBareHttp = (profileFolder?: string): Promise<ServerProcess> =>
  start(['bench/server/bare-http.mjs'], { profileFolder })

/** Any other REAPI server. Its cost is known when it runs on this machine and its process id is given. */
export const remoteServer = (address: string, instanceName: string, pid: number | undefined): Server => ({
  address,
  instanceName,
  addresses: new Map(),
  ...(pid === undefined ? blindMeter : meterOf(pid)),
})
