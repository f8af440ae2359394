/** The stores of a server as a worker on its machine uses them: both ends, with what travels between them encoded. */
import { existsSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { ForwardingStore } from '../../../src/blobs/forwarding.js'
import type { BlobFiles, Store } from '../../../src/blobs/store.js'
import { codec } from '../../../src/proto/codec.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { LentStoreClient } from '../../../src/store/lent/client.js'
import { LentStoreServer } from '../../../src/store/lent/server.js'
import { asCas } from '../../../src/store/view/cas.js'
import { until } from '../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll } from '../blobs.js'
import { memoryStore } from '../build.js'
import { openFilesystem } from '../kinds/filesystem/open.js'
import { storeSuite } from '../suite.js'
import { Watched } from '../watched.js'

const fromWorker = codec('remexec.worker.v1.WorkerMessage')
const fromServer = codec('remexec.worker.v1.StoreResponse')

const connected = (cas: Store) => {
  const server = new LentStoreServer({ cas, results: undefined, history: cas }, call)
  let isConnected = true
  const client = new LentStoreClient((message) => {
    const { storeRequest } = fromWorker.decode(fromWorker.encode(message))
    if (isConnected && storeRequest !== null)
      void server.receive(storeRequest, async (answer) => {
        await setImmediate()
        client.receive(fromServer.decode(fromServer.encode({ ...answer, id: storeRequest.id })))
      })
    return isConnected
  })
  const disconnect = (): void => {
    isConnected = false
    server.close()
    client.lost()
  }
  return { client, server, disconnect }
}

t.test('small and large blobs of one batch are stored, with one outcome each in their order', async (t) => {
  const files = await openFilesystem(t.testdir())
  const { client, disconnect } = connected(asCas(files.store))
  const blobs = [100, 3_000_000, 200, 2_000_000].map((sizeBytes) => bytesOf(sizeBytes))
  const outcomes = await putAll(
    client.cas,
    blobs.map((bytes) => ({ digest: digestOf(bytes), bytes })),
  )
  t.same(outcomes, [undefined, undefined, undefined, undefined])
  for (const bytes of blobs) t.ok((await get(client.cas, digestOf(bytes))).equals(bytes))
  disconnect()
  await files.close()
})

t.test('a store learns why a worker removes a blob', async (t) => {
  const reasons: string[] = []
  class Noting extends Watched {
    override async remove(...[digest, why, by]: Parameters<Store['remove']>): Promise<void> {
      reasons.push(why)
      await super.remove(digest, why, by)
    }
  }
  const { client, disconnect } = connected(asCas(new Noting(await memoryStore())))
  const bytes = bytesOf(100)
  for (const why of ['wrong', 'unwanted'] as const) {
    await put(client.cas, digestOf(bytes), bytes)
    await client.cas.remove(digestOf(bytes), why, call)
    t.notOk(await isPresent(client.cas, digestOf(bytes)))
  }
  t.same(reasons, ['wrong', 'unwanted'])
  disconnect()
})

t.test('a worker has the server fetch a tree from the store behind', async (t) => {
  const files = await openFilesystem(t.testdir())
  const asked: Digest[] = []
  class WithTrees extends ForwardingStore {
    override get files(): BlobFiles {
      const populateTree = async (root: Digest): Promise<void> => void asked.push(root)
      return Object.assign(Object.create(super.files ?? null), { populateTree })
    }
  }
  const { client, disconnect } = connected(asCas(new WithTrees(files.store)))
  const root = digestOf(bytesOf(100))
  await client.cas.files?.populateTree?.(root, call)
  t.same(
    asked.map(({ key }) => key),
    [root.key],
  )
  disconnect()
  const without = connected(asCas(files.store))
  await without.client.cas.files?.populateTree?.(root, call)
  t.pass('a store without one behind fetches nothing')
  without.disconnect()
  await files.close()
})

t.test('a worker that has gone leaves no lease and no reserved file, also if it asked for them last', async (t) => {
  const folder = t.testdir()
  const files = await openFilesystem(folder, { policy: { max_count: 1 }, retention: 0, small_blob_size: 0 })
  const bytes = bytesOf(1000)
  await put(files.store, digestOf(bytes), bytes)
  const { client, server, disconnect } = connected(asCas(files.store))
  await client.cas.files?.lease([digestOf(bytes)], call)
  const place = await client.cas.files?.reserve(call)
  disconnect()
  const digests = [digestOf(bytes).toMessage()]
  const late = fromWorker.decode(fromWorker.encode({ storeRequest: { id: 9, lease: { leaseId: 9, digests } } }))
  if (late.storeRequest !== null) await server.receive(late.storeRequest, async () => {})
  await until(async () => !existsSync(place?.path ?? ''), 'the reserved file')
  const other = bytesOf(1000, 'other')
  await put(files.store, digestOf(other), other)
  await until(async () => !(await isPresent(files.store, digestOf(bytes))), 'the eviction of what was leased')
  await files.close()
})

// Last, because the first store of a process opens descriptors that stay open.
storeSuite(t, {
  name: 'a lent filesystem',
  isPersistent: false,
  isBrief: true,
  checksUploads: true,
  isElsewhere: true,
  runs: 3,
  open: async (t: Test) => {
    const files = await openFilesystem(t.testdir())
    const { client, disconnect } = connected(asCas(files.store))
    const close = async (): Promise<void> => {
      disconnect()
      await files.close()
    }
    // As a worker does: an adopted file is not read again by the server.
    return { store: asCas(client.cas), close, leftovers: () => files.tempFiles() }
  },
})
