import { Metadata } from '@grpc/grpc-js'
import type { Test } from 'tap'
import { assemble } from '../../src/assembly/main.js'
import { ManualClock } from '../../src/base/clock.js'
import { parseConfig } from '../../src/config/load.js'
import { TestClient } from '../server/client.js'
import { Lines } from '../tls/lines.js'

export interface Guarded {
  readonly port: number
  /** Without TLS. */
  readonly client: TestClient
  readonly clock: ManualClock
  readonly said: Lines
  /** Before the test ends. */
  close(): Promise<void>
}

const memory = { memory: { eviction_policy: { max_bytes: '10mb' } } }

/** A server of all services, for the instances `main` and `other`, with this `security`. */
export const startGuarded = async (
  t: Test,
  security: object | undefined,
  http: object = {},
  ac: object = memory,
  services: object = {},
  stores: object = {},
  simple: object = {},
): Promise<Guarded> => {
  const instances = (options: object) => ({ main: options, other: options })
  const text = JSON.stringify({
    stores: { CAS: memory, AC: ac, CHUNKS: memory, ...stores },
    schedulers: { S: { simple } },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0', ...http } },
        services: {
          cas: instances({ cas_store: 'CAS', experimental_chunking: { index_store: 'CHUNKS' } }),
          ac: instances({ ac_store: 'AC' }),
          fetch: instances({ fetch_store: 'CHUNKS' }),
          push: instances({ push_store: 'CHUNKS' }),
          execution: instances({ cas_store: 'CAS', scheduler: 'S' }),
          worker_api: { scheduler: 'S' },
          health: {},
          ...services,
        },
      },
    },
    security,
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const clock = new ManualClock(Date.now())
  const said = new Lines()
  const running = await assemble(config, { clock, log: said.log })
  // As if `drain_s` were over: nobody waits for what a test leaves unfinished.
  t.teardown(() => running.close(config.global.drain_s * 1000))
  const port = Number(running.addresses[0]?.address.split(':').at(-1))
  const client = new TestClient(`127.0.0.1:${port}`)
  t.teardown(() => client.close())
  return { port, client, clock, said, close: () => running.close() }
}

export const withHeaders = (headers: Readonly<Record<string, string>>): Metadata => {
  const metadata = new Metadata()
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
  return metadata
}

export const bearer = (token: string): Metadata => withHeaders({ authorization: `Bearer ${token}` })
