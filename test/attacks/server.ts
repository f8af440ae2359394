import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

export interface AttackedServer {
  readonly port: number
  /** Resident memory, and the most there has been. */
  residentMib(): { readonly now: number; readonly most: number }
  stop(): Promise<void>
}

/** With service threads all stores are files, so that they serve gRPC. */
const configuration = (folder: string, threads: number): object => ({
  global: { threads },
  stores: {
    CAS: {
      filesystem: {
        ...{ content_path: `${folder}/content`, temp_path: `${folder}/temp` },
        eviction_policy: { max_bytes: '2gb' },
      },
    },
    MEMORY: small(folder, 'memory', '8mb', threads),
    AC: small(folder, 'ac', '10mb', threads),
  },
  schedulers: { S: { simple: {} } },
  servers: {
    public: {
      listener: { http: { socket_address: '127.0.0.1:0' } },
      services: {
        cas: [
          { instance_name: '', cas_store: 'CAS' },
          { instance_name: 'memory', cas_store: 'MEMORY' },
        ],
        ac: [{ instance_name: '', ac_store: 'AC' }],
        execution: [{ instance_name: '', cas_store: 'CAS', ac_store: 'AC', scheduler: 'S' }],
        worker_api: { scheduler: 'S' },
        http_cache: { '/bazel': { kind: 'bazel', instance_name: '' }, '/files': { kind: 'opaque', instance_name: '' } },
      },
    },
  },
})

const small = (folder: string, name: string, maxBytes: string, threads: number): object => {
  const policy = { eviction_policy: { max_bytes: maxBytes } }
  if (threads === 1) return { memory: policy }
  return { filesystem: { content_path: `${folder}/${name}`, temp_path: `${folder}/${name}-temp`, ...policy } }
}

/** A built server (`cli` is its dist/cli.js) in a process of its own, started from a configuration. */
export const startAttacked = async (cli: string, threads = 1): Promise<AttackedServer> => {
  const folder = mkdtempSync(join(tmpdir(), 'attacks-'))
  const file = join(folder, 'config.json')
  writeFileSync(file, JSON.stringify(configuration(folder, threads)))
  const child = spawn(process.execPath, [cli, file], {
    env: { PATH: process.env['PATH'], REMEXEC_LOG_FORMAT: 'text' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
    rmSync(folder, { recursive: true })
  }
  const port = await new Promise<number>((resolve, reject) => {
    let log = ''
    child.once('close', (code) => reject(new Error(`the server ended with ${code}:\n${log}`)))
    for (const stream of [child.stdout, child.stderr]) {
      createInterface(stream).on('line', (line) => {
        log = `${log}${line}\n`.slice(-10_000)
        const [, found] = /serving grpc:\/\/127\.0\.0\.1:(\d+) server=public/.exec(line) ?? []
        if (found !== undefined) resolve(Number(found))
      })
    }
  })
  const residentMib = (): { readonly now: number; readonly most: number } => {
    const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
    const mib = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024
    return { now: mib('VmRSS'), most: mib('VmHWM') }
  }
  return { port, residentMib, stop }
}
