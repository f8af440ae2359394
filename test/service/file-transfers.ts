/** Transfers of blobs that are stored as files, over one of the transports. */
import { readdirSync } from 'node:fs'
import { readdir, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import { getBytes } from '../../src/blobs/store.js'
import { formatReadName } from '../../src/reapi/resource-name.js'
import { internalCall } from '../../src/rpc/call.js'
import type { TransportName } from '../../src/server/listener.js'
import { asCas } from '../../src/store/view/cas.js'
import type { TestClient } from '../server/client.js'
import { openFilesystem } from '../store/kinds/filesystem/open.js'
import { until } from '../until.js'
import { messagesOf, openWrite, read, readBlob, uploadName, write } from './bytestream-client.js'
import { type Blob, BYTE_STREAM, failure, MIB, put, randomBlob, serve } from './harness.js'

/** The services over a CAS that stores blobs as files. */
export const serveFiles = async (t: Test, transport: TransportName = 'remexec') => {
  const folder = t.testdir()
  const files = await openFilesystem(folder)
  const cas = asCas(files.store)
  const served = await serve(t, { instances: { '': { cas } }, transport })
  t.teardown(() => files.close())
  return { ...served, cas, folder }
}

export const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

const descriptors = (): number => readdirSync('/proc/self/fd').length

export const transferFiles = (t: Test, transport: TransportName): void => {
  t.test(`files read over ${transport}`, async (t) => {
    t.test(
      'many concurrent reads, some cancelled: all others get the right bytes, and no file stays open',
      async (t) => {
        const { connect, cas } = await serveFiles(t, transport)
        const blobs = [3 * MIB, MIB + 1, 700_000, 256 * 1024, 65_537].map(randomBlob)
        for (const blob of blobs) await put(cas, blob)
        const clients = [connect(), connect(), connect()]
        const open = descriptors()
        for (let round = 0; round < 8; round++) {
          const reads = clients.flatMap((client) =>
            blobs.map(async ({ digest, bytes }, index) => {
              if ((round + index) % 3 > 0) {
                t.ok((await readBlob(client, digest)).equals(bytes))
                return
              }
              const call = client.serverStream(`${BYTE_STREAM}/Read`, { resourceName: formatReadName('', digest) })
              call.on('error', () => {})
              await new Promise((resolve) => call.once('data', resolve).once('end', resolve))
              call.cancel()
            }),
          )
          await Promise.all(reads)
        }
        // The clients have opened sockets in the meantime; both ends are in this process.
        await until(
          () => descriptors() <= open + 2 * clients.length,
          () => `${open} descriptors, then ${descriptors()}`,
        )
      },
    )

    t.test(
      'many concurrent uploads, some cancelled: all others are stored unchanged, for messages of any size',
      async (t) => {
        const { connect, cas } = await serveFiles(t, transport)
        const clients = [connect(), connect()]
        const sizes = [10_000, 65_536, 70_001, 300_000, MIB, 3 * MIB]
        const kept: Blob[] = []
        for (const chunkBytes of [5_000, 16_384, 65_536, 250_000, MIB]) {
          await Promise.all(
            clients.flatMap((client) =>
              sizes.map(async (sizeBytes, index) => {
                const blob = randomBlob(sizeBytes)
                const messages = messagesOf(uploadName(blob.digest), blob.bytes, chunkBytes)
                const isGivenUp = index % 3 === 1 && messages.length > 2
                if (!isGivenUp) {
                  t.equal((await write(client, messages)).committedSize, sizeBytes)
                  kept.push(blob)
                  return
                }
                const upload = openWrite(client)
                for (const message of messages.slice(0, -1)) void upload.send(message)
                upload.cancel()
                await t.rejects(upload.response)
              }),
            ),
          )
        }
        for (const { digest, bytes } of kept) t.ok((await getBytes(cas, digest, 4 * MIB, internalCall())).equals(bytes))
        for (const { digest, bytes } of kept) t.ok((await readBlob(clients[0] as TestClient, digest)).equals(bytes))
      },
    )

    t.test('an upload with a wrong last byte or with too many bytes is refused and leaves no file', async (t) => {
      const { client, folder } = await serveFiles(t, transport)
      const { digest, bytes } = randomBlob(MIB)
      const other = randomBlob(MIB)
      const wrong = messagesOf(uploadName(digest), other.bytes)
      t.match(await failure(write(client, wrong)), { code: 'INVALID_ARGUMENT', message: /are not that blob/ })
      const longer = messagesOf(uploadName(digest), Buffer.concat([bytes, bytes]))
      t.match(await failure(write(client, longer)), { code: 'INVALID_ARGUMENT' })
      await until(async () => (await readdir(join(folder, 'temp'))).length === 0, 'no temporary file')
    })

    t.test('a part of a file', async (t) => {
      const { client, cas } = await serveFiles(t, transport)
      const { digest, bytes } = randomBlob(2 * MIB)
      await put(cas, { digest, bytes })
      const part = await read(client, formatReadName('', digest), { readOffset: 777, readLimit: MIB })
      t.ok(part.bytes.equals(bytes.subarray(777, 777 + MIB)))
    })

    t.test('a file that is truncated during the read is DATA_LOSS', async (t) => {
      const { client, cas, folder } = await serveFiles(t, transport)
      const blob = randomBlob(32 * MIB)
      await put(cas, blob)
      const call = client.serverStream(`${BYTE_STREAM}/Read`, { resourceName: formatReadName('', blob.digest) })
      const failed = failure(new Promise((resolve, reject) => call.once('end', resolve).once('error', reject)))
      await new Promise((resolve) => call.once('readable', resolve))
      const names = await readdir(join(folder, 'content'), { recursive: true })
      const name = names.find((path) => path.includes(blob.digest.hash)) ?? ''
      await truncate(join(folder, 'content', name), 1000)
      call.resume()
      t.equal((await failed).code, 'DATA_LOSS')
    })
  })
}
