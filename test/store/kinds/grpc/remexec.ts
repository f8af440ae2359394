/** Another remexec for tests of the `grpc` store: the built program in a separate process. */
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../../../../src/base/clock.js'
import type { HealthProbe } from '../../../../src/base/health.js'
import type { Store } from '../../../../src/blobs/store.js'
import type { GrpcOptions } from '../../../../src/config/config.js'
import { silentLog } from '../../../../src/log/log.js'
import { grpc } from '../../../../src/store/kinds/grpc/kind.js'
import { Resources } from '../../../../src/work/resources.js'
import { untilSo } from '../../../until.js'
import { call } from '../../blobs.js'
import { buildStore } from '../../build.js'
import { type Backend, folderOf, type Scope, startBackend } from '../../remote/backend.js'

const program = fileURLToPath(new URL('../../../../dist/cli.js', import.meta.url))

export interface Remexec extends Backend {
  readonly port: number
  /** Another process at the same port, on the same folder. */
  restart(): Promise<Remexec>
}

export interface RemexecOptions {
  readonly transport?: 'remexec' | 'grpc-js'
  /** More of `listener.http`. */
  readonly http?: object
  /** As in its configuration. */
  readonly security?: object
  /** By name; CAS and AC are in the file system. */
  readonly stores?: object
  /** Environment beyond that of the test. */
  readonly env?: Readonly<Record<string, string>>
}

/** Serves the instance `main` from its own folder. */
export const startRemexec = async (t: Scope, options: RemexecOptions = {}): Promise<Remexec> =>
  startIn(t, await folderOf(t), options, 0)

const startIn = async (t: Scope, folder: string, options: RemexecOptions, at: number): Promise<Remexec> => {
  if (!existsSync(program)) throw new Error(`${program} is missing: npm run build makes it`)
  const filesystem = (name: string) => ({
    filesystem: {
      content_path: join(folder, name),
      temp_path: join(folder, `${name}-temp`),
      eviction_policy: { max_bytes: '10gb' },
    },
  })
  const config = {
    stores: { CAS: filesystem('cas'), AC: filesystem('ac'), ...options.stores },
    ...(options.security === undefined ? {} : { security: options.security }),
    servers: [
      {
        listener: {
          http: { socket_address: `127.0.0.1:${at}`, transport: options.transport ?? 'remexec', ...options.http },
        },
        services: {
          cas: [{ instance_name: 'main', cas_store: 'CAS' }],
          ac: [{ instance_name: 'main', ac_store: 'AC' }],
        },
      },
    ],
  }
  const path = join(folder, 'config.json')
  await writeFile(path, JSON.stringify(config))
  const serving = /serving grpcs?:\/\/127\.0\.0\.1:(\d+)/
  const backend = await startBackend(t, process.execPath, [program, path], serving, {
    cwd: folder,
    env: { ...process.env, ...options.env },
  })
  const port = Number(serving.exec(backend.log())?.[1])
  return { ...backend, port, restart: () => startIn(t, folder, options, port) }
}

export const endpoint = (port: number): GrpcOptions['endpoints'][number] => ({
  address: `grpc://127.0.0.1:${port}`,
  concurrency_limit: 0,
  connect_timeout_s: 30,
  http2_keepalive_interval_s: 30,
  http2_keepalive_timeout_s: 20,
})

/** A store on another server with the default configuration. */
export const openGrpcStore = async (t: Scope, options: Partial<GrpcOptions> & Pick<GrpcOptions, 'endpoints'>) => {
  const resources = new Resources(silentLog)
  const probes: HealthProbe[] = []
  t.teardown(() => resources.close())
  const all: GrpcOptions = {
    instance_name: 'main',
    store_type: 'cas',
    retry: { max_retries: 0, delay: 0, jitter: 0, budget_s: 60 },
    max_concurrent_requests: 0,
    connections_per_endpoint: 1,
    rpc_timeout_s: 0,
    use_legacy_resource_names: false,
    experimental_chunked_uploads: false,
    headers: new Map(),
    forward_headers: [],
    experimental_remote_cache_compression: true,
    ...options,
  }
  const watch = (probe: HealthProbe): number => probes.push(probe)
  const store = await buildStore(grpc, all, { resources, watch, clock: systemClock })
  return { store, probes, close: () => resources.close() }
}

export const untilWell = (store: Pick<Store, 'health'>): Promise<void> =>
  untilSo(async () => (await store.health(call)).state === 'Ok')
