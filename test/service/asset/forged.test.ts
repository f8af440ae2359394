import t from 'tap'
import { pack } from '../../../src/proto/any.js'
import { codec } from '../../../src/proto/codec.js'
import { timestampOf } from '../../../src/proto/time.js'
import { assetServer, checksum, digestOf, random, sha, sri } from './server.js'

const assetCodec = codec('remexec.asset.v1.Asset')
const AC = 'build.bazel.remote.execution.v2.ActionCache'
const URI = 'https://example.com/a.tar'

/** A record as earlier builds wrote it, under a digest that everybody can compute. */
const olderRecord = (name: readonly string[], content: Buffer) => {
  const asset = pack(assetCodec, { uri: URI, validAt: timestampOf(Date.now()) })
  return {
    actionDigest: digestOf(Buffer.from(JSON.stringify(['remote asset', ...name]))),
    actionResult: {
      outputFiles: [{ path: 'asset', digest: digestOf(content) }],
      executionMetadata: { auxiliaryMetadata: [asset] },
    },
  }
}

const BY_URI = ['blob', 'SHA256', URI]

t.test('a client that may write results and may not push does not say what a URI or a checksum contains', async (t) => {
  for (const push of [undefined, { read_only: true }]) {
    const { client, fetchBlob, upload } = await assetServer(t, { push, results: 'AC' })
    const [good, evil] = [random(100), random(100)]
    await upload(good, evil)
    const byChecksum = ['checksum', 'SHA256', 'sha256', sha(good)]
    for (const name of [BY_URI, byChecksum])
      await client.unary(`${AC}/UpdateActionResult`, olderRecord(name, evil)).response
    t.match(await fetchBlob({ uris: [URI] }), { status: { code: 5 } }, 'by its URI')
    const request = { uris: [URI], qualifiers: [checksum(sri(good))] }
    t.match(await fetchBlob(request), { status: { code: 5 } }, 'by its checksum')
  }
})

t.test(
  'content behind a checksum is never that of an older record, because only this server has checked it',
  async (t) => {
    const { client, fetchBlob, upload } = await assetServer(t, { push: {}, results: 'AC' })
    const [good, evil] = [random(100), random(100)]
    await upload(good, evil)
    const forged = olderRecord(['checksum', 'SHA256', 'sha256', sha(good)], evil)
    await client.unary(`${AC}/UpdateActionResult`, forged).response
    const found = await fetchBlob({ uris: [URI], qualifiers: [checksum(sri(good))] })
    t.match(found, { status: { code: 5 } })
  },
)

t.test('a push to an older version is found until it is pushed again, if every caller may push', async (t) => {
  const { client, fetchBlob, pushBlob, upload } = await assetServer(t, { push: {}, results: 'AC' })
  const [older, newer] = [random(100), random(100)]
  await upload(older, newer)
  await client.unary(`${AC}/UpdateActionResult`, olderRecord(BY_URI, older)).response
  t.match(await fetchBlob({ uris: [URI] }), { status: { code: 0 }, blobDigest: digestOf(older) })
  await pushBlob({ uris: [URI], blobDigest: digestOf(newer) })
  t.match(await fetchBlob({ uris: [URI] }), { status: { code: 0 }, blobDigest: digestOf(newer) })
})

t.test('blobs and what is known of assets are in one store: NativeLink’s configuration for BuildStream', async (t) => {
  const { fetchBlob, pushBlob, upload, read } = await assetServer(t, { push: {}, results: 'CAS' })
  const content = random(100)
  await upload(content)
  await pushBlob({ uris: [URI], blobDigest: digestOf(content) })
  t.match(await fetchBlob({ uris: [URI] }), { status: { code: 0 }, blobDigest: digestOf(content) })
  t.ok((await read(digestOf(content))).equals(content))
})
