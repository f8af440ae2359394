import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Test } from 'tap'
import { assemble } from '../../../src/assembly/main.js'
import { ManualClock } from '../../../src/base/clock.js'
import { parseConfig } from '../../../src/config/load.js'
import { drawnBytes } from '../../drawn.js'
import { Lines } from '../../tls/lines.js'

export const KIB = 1024
export const MIB = 1024 * KIB

const memory = { memory: { eviction_policy: { max_bytes: '200mb' } } }

export interface ServedCaches {
  readonly address: string
  readonly grpc: string
  readonly folder: string
  readonly said: Lines
  ask(method: string, path: string, options?: Asked): Promise<Told>
}

export interface Asked {
  readonly body?: Buffer | string | Readable | undefined
  readonly headers?: Record<string, string>
}

export interface Told {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
  readonly text: string
}

export interface CacheConfig {
  readonly security?: object
  readonly listener?: object
  readonly cas?: object
  readonly instances?: readonly string[]
  readonly services?: object
}

/** A server with these HTTP caches, and a file store for their bodies. */
export const serveCaches = async (t: Test, http_cache: object, more: CacheConfig = {}): Promise<ServedCaches> => {
  const folder = t.testdir()
  const { security, listener = {}, instances = ['main', 'pr'] } = more
  const filesystem = {
    content_path: join(folder, 'cas'),
    temp_path: join(folder, 'temp'),
    eviction_policy: { max_bytes: '1gb' },
  }
  const each = (options: object): object => Object.fromEntries(instances.map((name) => [name, options]))
  const text = JSON.stringify({
    stores: { CAS: more.cas ?? { filesystem }, AC: memory },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0', ...listener } },
        services: { cas: each({ cas_store: 'CAS' }), ac: each({ ac_store: 'AC' }), http_cache, ...more.services },
      },
    },
    ...(security && { security }),
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const said = new Lines()
  const running = await assemble(config, { clock: new ManualClock(Date.now()), log: said.log })
  t.teardown(() => running.close())
  const grpc = running.addresses[0]?.address ?? ''
  const address = `http://${grpc}`
  const ask = async (method: string, path: string, { body, headers = {} }: Asked = {}): Promise<Told> => {
    // fetch would tidy up the path.
    const sent = request(`${address}`, { method, path, headers })
    if (body instanceof Readable) body.once('error', (error) => sent.destroy(error)).pipe(sent)
    else sent.end(body)
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    const bytes = Buffer.concat(chunks)
    return { status: response.statusCode ?? 0, headers: response.headers, body: bytes, text: bytes.toString() }
  }
  return { address, grpc, folder, said, ask }
}

/** A body that comes in pieces, without a length. */
export const streamed = (bytes: Buffer): Readable =>
  Readable.from(
    (function* () {
      for (let at = 0; at < bytes.length; at += 50_000) yield bytes.subarray(at, at + 50_000)
    })(),
    { objectMode: false },
  )

export const SIZES = [0, 1, 4096, 4097, 256 * KIB, 256 * KIB + 1, 3 * MIB]
export const bodyOf = (sizeBytes: number): Buffer => drawnBytes(sizeBytes)
