import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { scratchFolder } from '../scratch.js'
import { type Server, startServer } from '../server.js'

export interface ServedTool {
  readonly folder: string
  readonly server: Server
  /** `http://127.0.0.1:PORT/PATH` of the cache. */
  readonly url: string
  /** What the metrics page counts for the cache, since the last call. */
  results(): Promise<Results>
}

export interface Results {
  readonly hit: number
  readonly miss: number
  readonly stored: number
  readonly kept: number
  readonly refused: number
}

const NAMES = ['hit', 'miss', 'stored', 'kept', 'refused'] as const

/** The built server with one HTTP cache, at `/cache`. */
export const serveTool = async (t: Test, kind: string, more: object = {}): Promise<ServedTool> => {
  const folder = await scratchFolder(t)
  const limited = { eviction_policy: { max_bytes: '1gb' } }
  const config = {
    stores: {
      CAS: { filesystem: { content_path: join(folder, 'cas'), temp_path: join(folder, 'temp'), ...limited } },
      AC: { memory: limited },
    },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: { main: { cas_store: 'CAS' } },
          ac: { main: { ac_store: 'AC' } },
          metrics: {},
          http_cache: { '/cache': { kind, instance_name: 'main', ...more } },
        },
      },
    },
  }
  const path = join(folder, 'remexec.json')
  await writeFile(path, JSON.stringify(config))
  const server = await startServer(t, join(folder, 'data'), {
    config: path,
    env: { REMEXEC_LOG_LEVEL: 'debug' },
  })
  const origin = server.uri.replace(/^grpc/, 'http')
  let before = Object.fromEntries(NAMES.map((name) => [name, 0]))
  const results = async (): Promise<Results> => {
    const page = await (await fetch(`${origin}/metrics`)).text()
    const count = (name: string): number =>
      Number(new RegExp(`^svc_http_cache_requests_total\\{.*result="${name}".*\\} (\\d+)`, 'm').exec(page)?.[1])
    const now = Object.fromEntries(NAMES.map((name) => [name, count(name)]))
    const since = Object.fromEntries(NAMES.map((name) => [name, (now[name] ?? 0) - (before[name] ?? 0)]))
    before = now
    return since as unknown as Results
  }
  return { folder, server, url: `${origin}/cache`, results }
}
