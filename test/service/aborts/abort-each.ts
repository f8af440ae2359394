import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import type { Test } from 'tap'
import { assemble } from '../../../src/assembly/main.js'
import { ManualClock } from '../../../src/base/clock.js'
import { parseConfig } from '../../../src/config/load.js'
import { silentLog } from '../../../src/log/log.js'
import { cacheKinds } from '../../../src/service/http-cache/kinds/kinds.js'
import { checkFolder } from '../../../src/store/kinds/filesystem/check-folder.js'
import { drawnBytes } from '../../drawn.js'
import { TestClient } from '../../server/client.js'
import { messagesOf, read, uploadName, write } from '../bytestream-client.js'
import { randomBlob } from '../harness.js'
import { type Held, holdAt, pointCount } from './disk-gates.js'
import { hashOf, openOrigin, pathOf, type Server, split, type Transfer } from './ways.js'

/** A filesystem store in a folder of this name. */
export type Files = (name: string, options?: object) => object

/** More points than any transfer here has. */
const POINTS_MAX = 400

const turns = async (count = 20): Promise<void> => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

const serving = async (t: Test, storeOf: (files: Files) => object) => {
  const folder = t.testdir()
  const folders: string[] = []
  const files: Files = (name, options = {}) => {
    folders.push(join(folder, name))
    const content_path = join(folder, name)
    return {
      filesystem: {
        content_path,
        temp_path: join(folder, `${name}-temp`),
        scrub_bytes_per_s: 0,
        small_blob_size: 4096,
        ...options,
      },
    }
  }
  const http_cache = Object.fromEntries(
    Object.keys(cacheKinds).map((kind) => [`/${kind}`, { kind, instance_name: 'main' }]),
  )
  const origin = await openOrigin()
  const download = { allow: ['127.0.0.1'], allow_addresses: ['127.0.0.1'], ports: [origin.port] }
  const text = JSON.stringify({
    stores: { CAS: storeOf(files), AC: { memory: {} }, ASSETS: { memory: {} } },
    servers: {
      main: {
        listener: { http: { socket_address: '127.0.0.1:0' } },
        services: {
          cas: { main: { cas_store: 'CAS', experimental_chunking: {} } },
          ac: { main: { ac_store: 'AC' } },
          fetch: { main: { fetch_store: 'ASSETS', download } },
          http_cache,
        },
      },
    },
  })
  const { config, problems } = parseConfig(text, 'test.json', { env: {} })
  if (config === undefined) throw new Error(problems.map(({ path, message }) => `${path}: ${message}`).join('\n'))
  const running = await assemble(config, { clock: new ManualClock(Date.now()), log: silentLog })
  const { address = '' } = running.addresses[0] ?? {}
  const client = new TestClient(address)
  const close = async (): Promise<void> => {
    origin.breakOff()
    origin.close()
    client.close()
    await running.close()
  }
  t.teardown(close)
  return { port: Number(address.split(':').at(-1)), client, origin, folders, close }
}

type Served = Awaited<ReturnType<typeof serving>>

const ask = async ({ port }: Pick<Served, 'port'>, method: string, path: string, body?: Buffer) => {
  const sent = request({ port, host: '127.0.0.1', method, path, agent: false })
  sent.end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  return { status: response.statusCode, bytes: Buffer.concat(chunks) }
}

/** Two uploads by others, which are half way when the held operation of the aborted transfer goes on. */
const besideOthers = async (served: Served, held: Held): Promise<string | undefined> => {
  const body = drawnBytes(800 * 1024)
  const sent = request({
    ...{ port: served.port, host: '127.0.0.1', method: 'PUT', path: `/opaque/${hashOf(body)}`, agent: false },
    headers: { 'content-length': body.length },
  })
  const answered = once(sent, 'response')
  sent.write(body.subarray(0, 400 * 1024))
  const { bytes, digest } = randomBlob(800 * 1024)
  const { call, response } = served.client.clientStream('google.bytestream.ByteStream/Write')
  const messages = messagesOf(uploadName(digest, { instanceName: 'main' }), bytes)
  for (const message of messages.slice(0, 7)) call.write(message)
  await turns()
  held.open()
  await turns()
  for (const message of messages.slice(7)) call.write(message)
  call.end()
  sent.end(body.subarray(400 * 1024))
  const [[put]] = (await Promise.all([answered, response])) as [[IncomingMessage], unknown]
  put.resume()
  if (put.statusCode !== 200) return `the other PUT was answered ${put.statusCode}`
  const got = await ask(served, 'GET', `/opaque/${hashOf(body)}`)
  if (!got.bytes.equals(body)) return 'the other PUT has wrong bytes'
  const back = await read(served.client, `main/blobs/${digest.hash}/${digest.sizeBytes}`)
  return back.bytes.equals(bytes) ? undefined : 'the other Write has wrong bytes'
}

/** Until the disk has come to no further point for a while: the client of an aborted transfer is silent. */
const untilQuiet = async (): Promise<void> => {
  for (let [before, quiet] = [-1, 0]; quiet < 3; ) {
    // biome-ignore lint/plugin: the silent end has no event; too short, fewer points are tried
    await new Promise((resolve) => setTimeout(resolve, 15))
    const now = pointCount()
    quiet = now === before ? quiet + 1 : 0
    before = now
  }
}

/**
 * Gives up a transfer at every point at which the disk can be while it runs, with two uploads of others beside it. Their bytes are compared as they
 * are read and as they lie on the disk. A buffer that is written to after its release ends the process.
 */
export const abortEach = async (
  t: Test,
  storeOf: (files: Files) => object,
  ways: Readonly<Record<string, (server: Server) => Transfer>>,
): Promise<void> => {
  const served = await serving(t, storeOf)
  const name = `main/uploads/split/blobs/${hashOf(split)}/${split.length}`
  await write(served.client, messagesOf(name, split))
  const present = pathOf.opaque(split)
  t.equal((await ask(served, 'PUT', `/opaque${present}`, split)).status, 200)
  const server: Server = { ...served, present: present.slice(1) }
  // What is used for the first time takes longer than what `untilQuiet` waits for.
  for (const begin of Object.values(ways)) {
    const transfer = begin(server)
    await Promise.race([transfer.sent, transfer.over])
    await untilQuiet()
    transfer.abort()
    await transfer.over
  }
  for (const [way, begin] of Object.entries(ways)) {
    const faults: string[] = []
    let points = 0
    for (; points < POINTS_MAX; points++) {
      const held = holdAt(points)
      const transfer = begin(server)
      const quiet = Promise.race([transfer.sent, transfer.over]).then(untilQuiet)
      const isHeld = await Promise.race([held.reached.then(() => true), quiet.then(() => false)])
      transfer.abort()
      if (!isHeld) {
        held.open()
        await transfer.over
        break
      }
      await turns()
      const fault = await besideOthers(served, held)
      if (fault !== undefined) faults.push(`at point ${points}: ${fault}`)
      await transfer.over
    }
    t.same(faults, [], `${way}: given up at ${points} points`)
    t.ok(points < POINTS_MAX)
  }
  await served.close()
  for (const folder of served.folders) {
    const { damage } = await checkFolder(folder, () => {})
    t.same(damage, [], `what is kept in ${folder.split('/').at(-1)} is what its keys say`)
  }
}
