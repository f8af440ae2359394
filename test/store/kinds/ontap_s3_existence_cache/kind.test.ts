import { readFile, rm, truncate, writeFile } from 'node:fs/promises'
import t, { type Test } from 'tap'
import { ManualClock } from '../../../../src/base/clock.js'
import { missingOf } from '../../../../src/blobs/store.js'
import { textLog } from '../../../../src/log/log.js'
import { ontapS3ExistenceCache } from '../../../../src/store/kinds/ontap_s3_existence_cache/kind.js'
import { Resources } from '../../../../src/work/resources.js'
import { until } from '../../../until.js'
import { bytesOf, call, digestOf, get, isPresent, put, putAll } from '../../blobs.js'
import { buildStore } from '../../build.js'
import { TcpProxy } from '../../remote/proxy.js'
import { storeSuite } from '../../suite.js'
import { openObjectStore } from '../experimental_cloud_object_store/open.js'
import { S3_KEYS, startS3, withoutS3 } from '../experimental_cloud_object_store/s3-server.js'

t.setTimeout(600_000)

process.env['AWS_ACCESS_KEY_ID'] = S3_KEYS.accessKeyId
process.env['AWS_SECRET_ACCESS_KEY'] = S3_KEYS.secretAccessKey

let opened = 0

const openListed = async (
  t: Test,
  place: { readonly port: number; readonly bucket: string },
  { clock = new ManualClock(Date.now()), key_prefix = `listed-${opened++}/`, folder = t.testdir() } = {},
) => {
  const said: string[] = []
  const log = textLog('warn', (line) => void said.push(line))
  const resources = new Resources(log)
  const backend = {
    endpoint: `http://127.0.0.1:${place.port}`,
    vserver_name: 'us-east-1',
    bucket: place.bucket,
    key_prefix,
    retry: { max_retries: 0, delay: 0, jitter: 0, budget_s: 60 },
    consider_expired_after_s: 0,
    max_retry_buffer_per_request: 20_000_000,
    multipart_max_concurrent_uploads: 10,
    insecure_allow_http: true,
  }
  const indexPath = `${folder}/keys/list`
  const options = { index_path: indexPath, sync_interval_seconds: 60, backend }
  const store = await buildStore(ontapS3ExistenceCache, options, { resources, clock, log })
  return { store, clock, key_prefix, folder, indexPath, said, close: () => resources.close() }
}

t.test('a list of the keys of an S3 bucket', { skip: withoutS3 }, async (t) => {
  const server = await startS3(t)
  storeSuite(t, {
    name: 'ontap_s3_existence_cache',
    open: (t) => openListed(t, server),
    isPersistent: false,
    isBrief: true,
    runs: 5,
  })
})

/** Whether the file of a list is whole. */
const isListed = (path: string): Promise<boolean> =>
  readFile(path, 'utf8').then(
    (text) => text.endsWith('end\n'),
    () => false,
  )

const behindProxy = async (t: Test) => {
  const server = await startS3(t)
  const proxy = await TcpProxy.start(t, server.port)
  return { proxy, place: { port: proxy.port, bucket: server.bucket } }
}

t.test('blobs in the list need no request, not even after a restart', { skip: withoutS3 }, async (t) => {
  const { proxy, place } = await behindProxy(t)
  // More than the server gives by one request.
  const blobs = Array.from({ length: 1200 }, (_, at) => Buffer.from(`blob ${at}`))
  const first = await openListed(t, place)
  await putAll(
    first.store,
    blobs.map((bytes) => ({ digest: digestOf(bytes), bytes })),
  )
  await first.close()
  await rm(first.indexPath, { force: true })
  const lister = await openListed(t, place, first)
  await until(() => isListed(lister.indexPath), 'the list')
  await lister.close()
  t.notMatch(`${first.said} ${lister.said}`, 'the list of keys cannot be used', 'it is not told that there is none yet')

  proxy.refuses = true
  const again = await openListed(t, place, first)
  t.same(await missingOf(again.store, blobs.map(digestOf), call), [], 'all are there by the list')
  await t.rejects(isPresent(again.store, digestOf(Buffer.from('another'))), 'what is not in it is asked for')
  await again.close()
})

t.test(
  'blobs deleted by others are missing after the next listing, and blobs written by others are found',
  { skip: withoutS3 },
  async (t) => {
    const server = await startS3(t)
    const { store, clock, key_prefix, close } = await openListed(t, server)
    const other = await openObjectStore({
      provider: 'ontap',
      endpoint: `http://127.0.0.1:${server.port}`,
      vserver_name: 'us-east-1',
      bucket: server.bucket,
      key_prefix,
    })
    const [gone, read, fresh] = ['gone', 'read', 'fresh'].map((seed) => bytesOf(100, seed)) as [Buffer, Buffer, Buffer]
    for (const bytes of [gone, read]) await put(store, digestOf(bytes), bytes)
    for (const bytes of [gone, read]) await other.store.remove(digestOf(bytes), 'unwanted', call)
    await put(other.store, digestOf(fresh), fresh)
    t.ok(await isPresent(store, digestOf(fresh)), 'found at once')
    t.ok(await isPresent(store, digestOf(gone)), 'still in the list')
    await t.rejects(get(store, digestOf(read)))
    t.notOk(await isPresent(store, digestOf(read)), 'forgotten by a read')
    await until(async () => {
      clock.advance(61_000)
      return !(await isPresent(store, digestOf(gone)))
    }, 'the next list')
    await Promise.all([other.close(), close()])
  },
)

t.test('a list that is damaged or of another bucket is replaced', { skip: withoutS3 }, async (t) => {
  const { proxy, place } = await behindProxy(t)
  const bytes = bytesOf(100)
  const first = await openListed(t, place)
  await put(first.store, digestOf(bytes), bytes)
  await first.close()
  for (const damage of [
    (path: string) => truncate(path, 120),
    (path: string) => writeFile(path, `remexec keys 1 other\n${digestOf(bytes).key}\nend\n`),
  ]) {
    await rm(first.indexPath, { force: true })
    const listing = await openListed(t, place, first)
    await until(() => isListed(first.indexPath), 'the list')
    await listing.close()
    proxy.refuses = true
    const believing = await openListed(t, place, first)
    t.ok(await isPresent(believing.store, digestOf(bytes)), 'believed as it was written')
    await believing.close()
    await damage(first.indexPath)
    const without = await openListed(t, place, first)
    await t.rejects(isPresent(without.store, digestOf(bytes)), 'not believed')
    await without.close()
    proxy.refuses = false
  }
})
