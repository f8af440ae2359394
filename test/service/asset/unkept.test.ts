import t, { type Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { StatusError } from '../../../src/base/status-error.js'
import { ForwardingStore } from '../../../src/blobs/forwarding.js'
import type { Store } from '../../../src/blobs/store.js'
import { Addresses } from '../../../src/download/addresses.js'
import { Downloader } from '../../../src/download/downloader.js'
import { Origins } from '../../../src/download/origins.js'
import type { Digest } from '../../../src/reapi/digest.js'
import type { Call } from '../../../src/rpc/call.js'
import { listen } from '../../../src/server/listener.js'
import { Downloads, type WithoutChecksum } from '../../../src/service/asset/downloads.js'
import { fetchService } from '../../../src/service/asset/fetch.js'
import { pushService } from '../../../src/service/asset/push.js'
import { AssetRecords } from '../../../src/service/asset/records.js'
import { asCas } from '../../../src/store/view/cas.js'
import type { Blob } from '../../../src/stream/blob/blob.js'
import { TestClient } from '../../server/client.js'
import { failure, memoryStore, SHA256 } from '../harness.js'
import { checksum, digestOf, FETCH, from, origin, PUSH, random, sri } from './server.js'

/** Fails one upload some turns after it began. */
class FailingOnce extends ForwardingStore {
  #left: number

  constructor(backend: Store, number: number) {
    super(backend)
    this.#left = number
  }

  override async put(digest: Digest, blob: Blob, call: Call): Promise<void> {
    await super.put(digest, blob, call)
    this.#left -= 1
    if (this.#left > 0) return
    await new Promise<void>((resolve) => void setImmediate(resolve))
    throw new StatusError('UNAVAILABLE', 'the records are away')
  }
}

/** Push and Fetch over a store of records that fails its upload of this number. */
const served = async (t: Test, number: number, port = 0, withoutChecksum: WithoutChecksum = 'revalidate') => {
  const cas = asCas(await memoryStore())
  const records = new AssetRecords(new FailingOnce(await memoryStore(), number), false)
  const { allow, allow_addresses, ports } = from(port)
  const downloader = new Downloader({
    origins: new Origins({ allow, deny: [], ports }),
    addresses: new Addresses(allow_addresses),
    ...{ maxRedirects: 0, idleMs: 60_000, proxy: undefined },
  })
  const limits = { maxBytes: 1000, timeoutMs: 60_000, maxConcurrent: 1, withoutChecksum }
  const downloads = new Downloads({ downloader, cas, recordsFor: () => records, ...limits })
  t.teardown(() => downloads.close())
  const common = { digestFunctions: [SHA256] }
  const pushing = { ...common, recordsFor: () => records, firstMissing: async () => undefined, isReadOnly: false }
  const fetching = { ...common, recordsFor: () => [records], acceptsPushes: true, downloads }
  const services = [
    pushService({ instances: new Map([['', pushing]]), clock: systemClock }),
    fetchService({ instances: new Map([['', fetching]]), clock: systemClock }),
  ]
  const listener = await listen({ address: '127.0.0.1:0', services })
  t.teardown(() => listener.close(0))
  const client = new TestClient(listener.address)
  t.teardown(() => client.close())
  return (name: string, request: object) => failure(client.unary(name, request).response)
}

const AWAY = { code: 'UNAVAILABLE', message: 'the records are away' }

t.test('a push whose record is not stored is not acknowledged, also for the last of its URIs', async (t) => {
  const call = await served(t, 2)
  const request = { uris: ['urn:a', 'urn:b'], blobDigest: digestOf(random(10)) }
  t.match(await call(`${PUSH}/PushBlob`, request), AWAY)
})

t.test('a download whose record is not stored is not acknowledged, in whichever way it is remembered', async (t) => {
  const content = random(10)
  const { url, port } = await origin(t, (_, response) => void response.writeHead(200).end(content))
  const ways = [
    ['by its checksum', 1, 'revalidate', [checksum(sri(content))]],
    ['by its URI', 1, 'revalidate', []],
    ['by its URI, to be used again', 2, 'reuse', []],
  ] as const
  for (const [way, number, withoutChecksum, qualifiers] of ways) {
    const call = await served(t, number, port, withoutChecksum)
    t.match(await call(`${FETCH}/FetchBlob`, { uris: [url], qualifiers }), AWAY, way)
  }
})
