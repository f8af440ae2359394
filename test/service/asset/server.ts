import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import { assemble } from '../../../src/assembly/main.js'
import { systemClock } from '../../../src/base/clock.js'
import { loadConfig } from '../../../src/config/load.js'
import { silentLog } from '../../../src/log/log.js'
import { drawnBytes } from '../../drawn.js'
import { TestClient } from '../../server/client.js'

export const FETCH = 'build.bazel.remote.asset.v1.Fetch'
export const PUSH = 'build.bazel.remote.asset.v1.Push'
const CAS = 'build.bazel.remote.execution.v2.ContentAddressableStorage'

export const sha = (bytes: Buffer, algorithm = 'sha256'): string => createHash(algorithm).update(bytes).digest('hex')
export const sri = (bytes: Buffer, algorithm = 'sha256'): string =>
  `${algorithm}-${createHash(algorithm).update(bytes).digest('base64')}`
export const checksum = (value: string) => ({ name: 'checksum.sri', value })
export const digestOf = (bytes: Buffer) => ({ hash: sha(bytes), sizeBytes: bytes.length })

/** An origin on the loopback address that records the requests. */
export const origin = async (t: Test, answer: RequestListener) => {
  const requests: IncomingMessage[] = []
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    requests.push(request)
    answer(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, port, requests }
}

export interface AssetServerOptions {
  readonly download?: object | undefined
  readonly push?: object | undefined
  /** Of the CAS. */
  readonly store?: object
  readonly security?: object
  /** The store of what is known of assets. */
  readonly results?: string
}

/** A whole server with Fetch, Push if `push` is there, and a CAS. */
export const assetServer = async (
  t: Test,
  { download, push, security, store = { memory: {} }, results = 'ASSETS' }: AssetServerOptions = {},
) => {
  const services = {
    cas: [{ cas_store: 'CAS' }],
    ac: [{ ac_store: 'AC' }],
    fetch: [{ fetch_store: results, ...(download && { download }) }],
    ...(push && { push: [{ push_store: results, ...push }] }),
  }
  const stores = [{ name: 'CAS', ...store }, ...['AC', 'ASSETS'].map((name) => ({ name, memory: {} }))]
  const config = {
    stores,
    servers: [{ listener: { http: { socket_address: '127.0.0.1:0' } }, services }],
    ...(security && { security }),
  }
  const folder = t.testdir({ 'config.json': JSON.stringify(config) })
  const running = await assemble(await loadConfig(`${folder}/config.json`), { clock: systemClock, log: silentLog })
  t.teardown(() => running.close())
  const client = new TestClient(running.addresses[0]?.address ?? '')
  t.teardown(() => client.close())
  const call = (name: string, request: object) => client.unary(name, request).response
  return {
    client,
    fetchBlob: (request: object) => call(`${FETCH}/FetchBlob`, request),
    fetchDirectory: (request: object) => call(`${FETCH}/FetchDirectory`, request),
    pushBlob: (request: object) => call(`${PUSH}/PushBlob`, request),
    pushDirectory: (request: object) => call(`${PUSH}/PushDirectory`, request),
    upload: async (...blobs: Buffer[]) => {
      const requests = blobs.map((data) => ({ digest: digestOf(data), data }))
      await call(`${CAS}/BatchUpdateBlobs`, { requests })
    },
    read: async (digest: { hash: string; sizeBytes: number }): Promise<Buffer> => {
      const { responses } = await call(`${CAS}/BatchReadBlobs`, { digests: [digest] })
      return responses[0].data
    },
    missing: async (...blobs: Buffer[]): Promise<number> => {
      const { missingBlobDigests } = await call(`${CAS}/FindMissingBlobs`, { blobDigests: blobs.map(digestOf) })
      return missingBlobDigests.length
    },
  }
}

/** Options that let downloads reach an origin of this file. */
export const from = (...ports: number[]) => ({ allow: ['127.0.0.1'], allow_addresses: ['127.0.0.0/8'], ports })

export const random = (sizeBytes: number): Buffer => drawnBytes(sizeBytes)
