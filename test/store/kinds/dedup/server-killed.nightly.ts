// For changes in: src/store/kinds/dedup, src/stream/chunking, src/content/chunk-writer.ts, src/store/kinds/filesystem

import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { isStatus } from '../../../../src/base/status-error.js'
import type { Store } from '../../../../src/blobs/store.js'
import { until } from '../../../until.js'
import { bytesOf, digestOf, get, isPresent, put } from '../../blobs.js'
import { folderOf } from '../../remote/backend.js'
import { endpoint, openGrpcStore, startRemexec } from '../grpc/remexec.js'

t.setTimeout(300_000)

const ROUNDS = 8
const LANES = 6

/** A third of each blob is in its neighbours too. */
const blobAt = (number: number): Buffer =>
  Buffer.concat([0, 1, 2].map((part) => bytesOf(60_000 + 1000 * ((number + part) % 7), `part ${number + part}`)))

const read = async (store: Store, number: number): Promise<'right' | 'absent'> => {
  const bytes = blobAt(number)
  if (!(await isPresent(store, digestOf(bytes)))) return 'absent'
  const found = await get(store, digestOf(bytes))
  if (!found.equals(bytes)) throw new Error(`blob ${number} has other bytes`)
  return 'right'
}

t.test(
  'kill -9 of a server over chunks loses nothing that was acknowledged, and a damaged chunk is a miss',
  async (t) => {
    const data = await folderOf(t)
    const filesystem = (name: string): object => ({
      filesystem: { content_path: join(data, name), temp_path: join(data, `${name}-temp`), small_blob_size: 1024 },
    })
    const stores = {
      CAS: {
        dedup: {
          ...{ chunking_function: 'fast_cdc_2020', avg_chunk_size_bytes: 8192 },
          ...{
            index_store: filesystem('lists'),
            content_store: filesystem('chunks'),
            whole_store: filesystem('whole'),
          },
        },
      },
    }
    let server = await startRemexec(t, { stores })
    const acknowledged = new Set<number>()
    let next = 0
    for (let round = 0; round < ROUNDS; round++) {
      const { store, close } = await openGrpcStore(t, { endpoints: [endpoint(server.port)] })
      let isKilled = false
      const lane = async (): Promise<void> => {
        // biome-ignore lint/plugin: ends with the server, which the round kills
        while (!isKilled) {
          const number = next++
          const failure = await put(store, digestOf(blobAt(number)), blobAt(number)).catch((error: unknown) => error)
          if (failure === undefined) acknowledged.add(number)
          else if (!isKilled) throw failure
        }
      }
      const before = acknowledged.size
      const lanes = Array.from({ length: LANES }, lane)
      await Promise.race([...lanes, until(() => acknowledged.size >= before + 10 + 7 * round)])
      isKilled = true
      await server.kill()
      await Promise.allSettled(lanes)
      await close()
      server = await server.restart()
    }
    const { store } = await openGrpcStore(t, { endpoints: [endpoint(server.port)] })
    const lost: number[] = []
    for (let number = 0; number < next; number++) {
      const found = await read(store, number)
      if (found === 'absent' && acknowledged.has(number)) lost.push(number)
    }
    t.same(lost, [], `${acknowledged.size} blobs were acknowledged, ${next} begun`)

    await server.kill()
    const entries = await readdir(join(data, 'chunks', 'packs'), { recursive: true, withFileTypes: true })
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    for (const path of files.filter((_, at) => at % 5 === 0)) await truncate(path, 2000)
    server = await server.restart()
    const damaged = await openGrpcStore(t, { endpoints: [endpoint(server.port)] })
    let missing = 0
    for (const number of acknowledged) {
      const found = await read(damaged.store, number).catch((error: unknown) => {
        if (isStatus(error, 'NOT_FOUND') || isStatus(error, 'DATA_LOSS')) return 'absent' as const
        throw error
      })
      if (found === 'right') continue
      missing += 1
      for (
        let upload = 0;
        upload < 20 && (await read(damaged.store, number).catch(() => 'absent')) !== 'right';
        upload++
      )
        await put(damaged.store, digestOf(blobAt(number)), blobAt(number))
      t.equal(await read(damaged.store, number), 'right', `blob ${number} is mended`)
    }
    t.ok(missing > 0, `${missing} blobs had a damaged chunk`)
  },
)
