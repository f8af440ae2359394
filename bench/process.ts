import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const TICKS_PER_SECOND = 100

/** A server in a process of its own, so that its CPU time and memory can be told from the load generator's. */
export interface ServerProcess {
  readonly address: string
  /** User and system time so far, in microseconds, of the process and of children it has waited for. */
  cpuMicros(): number
  residentBytes(): number
  stop(): Promise<void>
}

export interface StartOptions {
  /** The command line of remexec to start: this build's unless another one is compared with it. */
  readonly cli?: string | undefined
  /** Where the server leaves a CPU profile (.cpuprofile, for Chrome's or any other viewer) when it stops. */
  readonly profileFolder?: string | undefined
}

const start = (args: readonly string[], profileFolder?: string): Promise<ServerProcess> => {
  const profiling = profileFolder === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profileFolder}`]
  const child = spawn(process.execPath, [...profiling, ...args], { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
  return new Promise((resolve, reject) => {
    let text = ''
    const give = (code: number | null): void => reject(new Error(`the server ended with ${code}: ${text}`))
    child.once('exit', give)
    child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
      if (text === 'ready') return
      text += chunk
      const [, address] = /serving grpc:\/\/([^\s"]+)/.exec(text) ?? []
      if (address === undefined) return
      text = 'ready'
      child.off('exit', give)
      resolve(serverProcess(child, address))
    })
  })
}

const serverProcess = (child: ChildProcess, address: string): ServerProcess => ({
  address,
  cpuMicros: () => {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    return (ticks / TICKS_PER_SECOND) * 1e6
  },
  residentBytes: () => {
    const [, kib] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
    return Number(kib) * 1024
  },
  stop: () =>
    new Promise((resolve) => {
      child.once('exit', () => resolve())
      child.kill('SIGTERM')
    }),
})

/** The built server with a configuration of its own below a temporary folder that goes when it stops. */
export const startRemexec = async (
  configure: (dataPath: string) => object,
  { cli = 'dist/cli.js', profileFolder }: StartOptions = {},
): Promise<ServerProcess> => {
  const folder = mkdtempSync(join(tmpdir(), 'remexec-bench-'))
  const configPath = join(folder, 'config.json')
  writeFileSync(configPath, JSON.stringify(configure(join(folder, 'data'))))
  const server = await start([cli, configPath], profileFolder)
  return {
    ...server,
    stop: async () => {
      await server.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Handlers of the same shape on the same transport that keep nothing: what the transport itself allows. */
export const startBare = (profileFolder?: string): Promise<ServerProcess> =>
  start(['--import', 'tsx', 'bench/bare-server.ts'], profileFolder)
