import { join } from 'node:path'
import type { Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { systemClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { Ledger } from '../../src/ledger/ledger.js'
import { silentLog } from '../../src/log/log.js'
import { cacheKinds } from '../../src/service/http-cache/kinds/kinds.js'

export interface EverythingOptions {
  readonly maxBytes?: string
  readonly threads?: number
}

/**
 * A server with every service that there is, and an HTTP cache of each kind. Its CAS is in `c` and `t` of `folder`. With several
 * service threads, they serve its gRPC.
 */
export const serveEverything = async (t: Test, { maxBytes = '64mb', threads = 1 }: EverythingOptions = {}) => {
  const folder = t.testdir()
  const policy = { eviction_policy: { max_bytes: maxBytes } }
  const files = (name: string) => ({
    filesystem: { content_path: join(folder, name), temp_path: join(folder, `${name}t`), ...policy },
  })
  const small = (name: string) => (threads === 1 ? { memory: policy } : files(name))
  const http_cache = Object.fromEntries(
    Object.keys(cacheKinds).map((kind) => [`/${kind}`, { kind, instance_name: '' }]),
  )
  const text = JSON.stringify({
    global: { threads },
    stores: {
      CAS: { filesystem: { content_path: join(folder, 'c'), temp_path: join(folder, 't'), ...policy } },
      ...Object.fromEntries(['AC', 'ASSETS', 'CHUNKS'].map((name) => [name, small(name)])),
    },
    schedulers: { S: { simple: {} } },
    servers: [
      {
        name: 'all',
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: [{ cas_store: 'CAS', experimental_chunking: { index_store: 'CHUNKS' } }],
          ac: [{ ac_store: 'AC' }],
          execution: [{ cas_store: 'CAS', ac_store: 'AC', scheduler: 'S' }],
          worker_api: { scheduler: 'S' },
          fetch: [{ fetch_store: 'ASSETS' }],
          push: [{ push_store: 'ASSETS' }],
          build_events: { path: join(folder, 'events') },
          ...{ http_cache, pages: {}, health: { path: '/status' }, admin: { path: '/admin' } },
        },
      },
    ],
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const ledger = new Ledger({}, threads === 1 ? undefined : {})
  const running = await assemble(config, { clock: systemClock, log: silentLog, ledger })
  t.teardown(() => running.close())
  const [served] = running.addresses
  if (served === undefined) throw new Error('the server has no address')
  return { folder, ledger, port: Number(served.address.split(':').at(-1)), ...served.doors() }
}
