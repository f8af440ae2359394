/** One scheduler and its workers as processes of their own. A test can break each process and each network path. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { type Program, program, start } from '../cli/program.js'
import type { Line, Network } from './network.js'

/** Short, so that a lost worker is noticed while a test looks on. */
export const WORKER_TIMEOUT_S = 2
/** Of each worker, in places and in `cpu`. */
export const PLACES = 4

const serverConfig = (threads: number): string => `{
  global: { drain_s: 2, threads: ${threads} },
  stores: {
    CAS: { filesystem: { content_path: '$REMEXEC_DATA/cas', temp_path: '$REMEXEC_DATA/cas-temp', eviction_policy: { max_bytes: '4gb' } } },
    AC: { filesystem: { content_path: '$REMEXEC_DATA/ac', temp_path: '$REMEXEC_DATA/ac-temp', eviction_policy: { max_bytes: '1gb' } } },
  },
  schedulers: { MAIN: { simple: {
    supported_platform_properties: { cpu: 'minimum', '*': 'ignore' },
    worker_timeout_s: ${WORKER_TIMEOUT_S}, max_job_retries: 10,
  } } },
  servers: [
    { name: 'clients', listener: { http: { socket_address: '$CLIENTS' } }, services: {
      cas: [{ instance_name: '*', cas_store: 'CAS' }], ac: [{ instance_name: '*', ac_store: 'AC' }],
      execution: [{ instance_name: '*', cas_store: 'CAS', scheduler: 'MAIN' }], admin: {},
    } },
    { name: 'fleet', listener: { http: { socket_address: '$FLEET' } }, services: {
      cas: [{ instance_name: '*', cas_store: 'CAS' }], worker_api: { scheduler: 'MAIN' },
    } },
  ],
}`

const workerConfig = `{
  global: { drain_s: 2 },
  stores: { CAS: { fast_slow: {
    fast: { filesystem: { content_path: '$REMEXEC_DATA/c', temp_path: '$REMEXEC_DATA/t', eviction_policy: { max_bytes: '4gb' } } },
    slow: { grpc: { endpoints: [{ address: 'grpc://$SCHEDULER' }], store_type: 'cas', retry: { max_retries: 3, delay: 0.1 }, rpc_timeout_s: 10 } },
  } } },
  workers: [{ worker: {
    scheduler_endpoint: 'grpc://$SCHEDULER', cas_fast_slow_store: 'CAS', work_directory: '$REMEXEC_DATA/w',
    max_inflight_tasks: ${PLACES}, platform_properties: { cpu: { values: ['${PLACES}'] } },
  } }],
  servers: [],
}`

export interface FleetWorker {
  readonly line: Line
  readonly folder: string
  process: Program
}

interface Attempts {
  readonly id: string
  readonly state: string
  readonly running: number
  readonly left: Readonly<Record<string, number>>
  readonly attempts: readonly object[]
}

export interface Overview {
  readonly workers: readonly Attempts[]
  readonly queued: number
}

export class Fleet {
  readonly workers: FleetWorker[] = []
  readonly network: Network
  /** `host:port` for clients. */
  address = ''
  scheduler: Program
  #fleetAddress: string
  readonly #t: Test
  readonly #folder: string

  static async start(t: Test, folder: string, network: Network, count: number, threads = 1): Promise<Fleet> {
    for (const name of ['server', ...Array.from({ length: count }, (_, index) => `worker-${index}`)]) {
      mkdirSync(`${folder}/${name}`, { recursive: true })
    }
    writeFileSync(`${folder}/server.json5`, serverConfig(threads))
    writeFileSync(`${folder}/worker.json5`, workerConfig)
    const fleet = new Fleet(t, folder, network)
    await fleet.#heardScheduler()
    const port = Number(fleet.#fleetAddress.split(':').at(-1))
    for (let index = 0; index < count; index++) {
      const place = { line: await network.line(index, port), folder: `${folder}/worker-${index}` }
      fleet.workers.push({ ...place, process: fleet.#startWorker(place) })
    }
    await Promise.all(fleet.workers.map((worker) => fleet.connected(worker)))
    return fleet
  }

  private constructor(t: Test, folder: string, network: Network) {
    this.#t = t
    this.#folder = folder
    this.network = network
    this.address = '127.0.0.1:0'
    this.#fleetAddress = network.listen
    this.scheduler = this.#startScheduler()
  }

  /** Ends the scheduler in that way, and starts it again where it was. */
  async restartScheduler(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    this.scheduler.child.kill(signal)
    await this.scheduler.ended
    this.scheduler = this.#startScheduler()
    await this.#heardScheduler()
  }

  /** How often a scheduler went on with what the one before it had started. */
  adoptions(): number {
    return [...this.#schedulers].reduce((all, { said }) => all + said().split(' goes on as attempt ').length - 1, 0)
  }

  async restartWorker(worker: FleetWorker): Promise<void> {
    worker.process.child.kill('SIGKILL')
    await worker.process.ended
    worker.process = this.#startWorker(worker)
    await this.connected(worker)
  }

  async connected({ process }: FleetWorker): Promise<void> {
    await process.hears(/connected to the scheduler/)
  }

  async overview(): Promise<Overview> {
    const answer = await fetch(`http://${this.address}/admin`)
    return ((await answer.json()) as { schedulers: { MAIN: Overview } }).schedulers.MAIN
  }

  async stop(): Promise<readonly (number | null)[]> {
    const all = [...this.workers.map(({ process }) => process), this.scheduler]
    for (const { child } of all) child.kill('SIGTERM')
    return (await Promise.all(all.map(({ ended }) => ended))).map(({ code }) => code)
  }

  readonly #schedulers = new Set<Program>()

  #startScheduler(): Program {
    const env = { REMEXEC_DATA: `${this.#folder}/server`, CLIENTS: this.address, FLEET: this.#fleetAddress }
    const command = [process.execPath, program, `${this.#folder}/server.json5`]
    const scheduler = start(this.#t, command, { env: { ...env, ...BASE } })
    this.#schedulers.add(scheduler)
    return scheduler
  }

  async #heardScheduler(): Promise<void> {
    const [, clients = ''] = await this.scheduler.hears(/serving grpc:\/\/(\S+) server=clients/)
    const [, fleet = ''] = await this.scheduler.hears(/serving grpc:\/\/(\S+) server=fleet/)
    this.address = clients
    this.#fleetAddress = fleet
  }

  #startWorker({ line, folder }: Pick<FleetWorker, 'line' | 'folder'>): Program {
    const env = { REMEXEC_DATA: folder, SCHEDULER: line.scheduler, ...BASE }
    return start(this.#t, [...line.prefix, process.execPath, program, `${this.#folder}/worker.json5`], { env })
  }
}

const BASE = { PATH: process.env['PATH'], HOME: '/nonexistent', REMEXEC_LOG_FORMAT: 'text' }

/** Processes that have this in their environment. */
export const processesWith = (marker: string): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker)
      } catch {
        return false
      }
    })
    .map(Number)

export const until = async (what: string | (() => string), isSo: () => Promise<boolean> | boolean): Promise<void> => {
  for (let tries = 0; tries < 600; tries++) {
    if (await isSo()) return
    await sleep(100)
  }
  throw new Error(`not within a minute: ${typeof what === 'string' ? what : what()}`)
}
