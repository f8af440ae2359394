// For changes in: src/store/kinds/experimental_cloud_object_store, src/store/objects
import t, { type Test } from 'tap'
import { bytesOf, digestOf, get, isPresent, put } from '../../blobs.js'
import type { Backend } from '../../remote/backend.js'
import { TcpProxy } from '../../remote/proxy.js'
import { rejects } from '../../suite.js'
import { startAzure, withoutAzure } from './azure-server.js'
import { type OpenOptions, openObjectStore } from './open.js'
import { S3_KEYS, startS3, withoutS3 } from './s3-server.js'

t.setTimeout(170_000)
t.jobs = 2

process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey

/** How long S3 and Azure may be silent. For each change faults.test.ts shows it with Google, whose limit is an option. */
const SILENCE_MS = 30_000

const MIB = 1024 * 1024

const slowly = (
  name: string,
  skip: string | false,
  start: (t: Test) => Promise<[Backend & { readonly port: number }, (port: number) => OpenOptions]>,
) =>
  t.test(`${name} may be slow, but is DEADLINE_EXCEEDED in time when silent`, { skip }, async (t) => {
    const [server, at] = await start(t)
    const proxy = await TcpProxy.start(t, server.port)
    const { store, close } = await openObjectStore(at(proxy.port))
    t.teardown(close)
    const bytes = bytesOf(6 * MIB)
    const digest = digestOf(bytes)
    proxy.delayMs = 10
    await put(store, digest, bytes)
    t.ok((await get(store, digest)).equals(bytes), 'every byte comes, 64 KiB in 10 ms')
    proxy.delayMs = 0
    server.pause()
    const other = bytesOf(1000)
    // biome-ignore lint/plugin: a lower limit
    const sinceMs = performance.now()
    await Promise.all([
      rejects(t, get(store, digest), 'DEADLINE_EXCEEDED'),
      rejects(t, isPresent(store, digestOf(other)), 'DEADLINE_EXCEEDED'),
    ])
    // biome-ignore lint/plugin: a lower limit
    t.ok(performance.now() - sinceMs >= SILENCE_MS - 100, 'not before its time')
    server.resume()
    await put(store, digestOf(other), other)
    t.ok((await get(store, digest)).equals(bytes), 'and well again')
  })

void slowly('S3', withoutS3, async (t) => {
  const server = await startS3(t)
  const { bucket } = server
  return [server, (port) => ({ provider: 'aws', bucket, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` })]
})

void slowly('Azure', withoutAzure, async (t) => {
  const server = await startAzure(t)
  const { container, sasUrl } = server
  return [server, (port) => ({ provider: 'azure', container, sas_url: sasUrl(3_600_000, port) })]
})
