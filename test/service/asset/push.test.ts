import { Metadata } from '@grpc/grpc-js'
import t from 'tap'
import { codec } from '../../../src/proto/codec.js'
import { REQUEST_METADATA } from '../../../src/proto/request-metadata.js'
import { timestampOf } from '../../../src/proto/time.js'
import { failure } from '../harness.js'
import { assetServer, checksum, digestOf, FETCH, random, sri } from './server.js'

const metadataCodec = codec('build.bazel.remote.execution.v2.RequestMetadata')
const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')
const NOT_FOUND = 5
const URN = 'urn:fdc:buildstream.build:2020:artifact:project/element/key'

t.test(
  'a pushed blob is found under each of its URIs, with the same qualifiers in any order and no others',
  async (t) => {
    const { pushBlob, fetchBlob, upload } = await assetServer(t, { push: {} })
    const content = random(100)
    await upload(content)
    const qualifiers = [
      { name: 'vcs.branch', value: 'main' },
      { name: 'resource_type', value: 'application/x-git' },
    ]
    await pushBlob({ uris: [URN, `${URN}2`], qualifiers, blobDigest: digestOf(content) })
    for (const uri of [URN, `${URN}2`]) {
      const found = await fetchBlob({ uris: ['urn:other', uri], qualifiers: [...qualifiers].reverse() })
      t.match(found, { status: { code: 0 }, uri, blobDigest: digestOf(content), digestFunction: 1 })
      t.equal(found.qualifiers.length, 2)
    }
    for (const others of [[], qualifiers.slice(1), [...qualifiers, { name: 'x', value: 'y' }]])
      t.match(await fetchBlob({ uris: [URN], qualifiers: others }), { status: { code: NOT_FOUND } })
  },
)

t.test(
  'a failure has a digest that no blob has, because Bazel up to 8.0 reads the digest and not the status',
  async (t) => {
    const { fetchBlob } = await assetServer(t, { push: {} })
    const { blobDigest, digestFunction } = await fetchBlob({ uris: [URN] })
    t.strictSame({ ...blobDigest }, { hash: '0'.repeat(64), sizeBytes: 1 })
    t.equal(digestFunction, 1)
  },
)

t.test('Bazel up to 8.0, which reads no status, gets the failure of the call; later ones get the status', async (t) => {
  const { client } = await assetServer(t, { push: {} })
  const ask = (toolVersion: string, toolName = 'bazel') => {
    const metadata = new Metadata()
    metadata.set(REQUEST_METADATA, metadataCodec.encode({ toolDetails: { toolName, toolVersion } }))
    return client.unary(`${FETCH}/FetchBlob`, { uris: [URN] }, { metadata }).response
  }
  for (const version of ['4.2.3', '7.7.1', '8.0.1', 'no_version'])
    t.equal((await failure(ask(version))).code, 'NOT_FOUND')
  for (const version of ['8.1.0', '9.0.0', '10.0.0'])
    t.match(await ask(version), { status: { code: NOT_FOUND } }, version)
  t.match(await ask('1.0', 'please'), { status: { code: NOT_FOUND } })
})

t.test('BuildStream at its start: Fetch and Push without a URI are INVALID_ARGUMENT', async (t) => {
  const { fetchBlob, pushBlob } = await assetServer(t, { push: {} })
  t.match(await failure(fetchBlob({})), { code: 'INVALID_ARGUMENT', message: /at least one URI/ })
  t.match(await failure(pushBlob({})), { code: 'INVALID_ARGUMENT' })
})

t.test('content that is absent cannot be pushed, nor content that refers to what is absent', async (t) => {
  const { pushBlob, fetchBlob, upload } = await assetServer(t, { push: {} })
  const [content, other] = [random(10), random(20)]
  t.match(await failure(pushBlob({ uris: [URN], blobDigest: digestOf(content) })), {
    code: 'FAILED_PRECONDITION',
    message: /upload first/,
  })
  await upload(content)
  const request = { uris: [URN], blobDigest: digestOf(content), referencesBlobs: [digestOf(other)] }
  t.match(await failure(pushBlob(request)), { code: 'FAILED_PRECONDITION' })
  t.match(await fetchBlob({ uris: [URN] }), { status: { code: NOT_FOUND } })
  await upload(other)
  await pushBlob(request)
  t.match(await fetchBlob({ uris: [URN] }), { status: { code: 0 } })
})

t.test('a pushed directory is found only while all of it is in the CAS', async (t) => {
  const { pushDirectory, fetchDirectory, fetchBlob, upload, client } = await assetServer(t, { push: {} })
  const file = random(30)
  const inner = directoryCodec.encode({ files: [{ name: 'f', digest: digestOf(file) }] })
  const root = directoryCodec.encode({ directories: [{ name: 'd', digest: digestOf(inner) }] })
  const push = () => pushDirectory({ uris: [URN], rootDirectoryDigest: digestOf(root) })
  await upload(root, inner)
  t.match(await failure(push()), { code: 'FAILED_PRECONDITION' }, 'a file inside is absent')
  await upload(file)
  await push()
  t.match(await fetchDirectory({ uris: [URN] }), { status: { code: 0 }, rootDirectoryDigest: digestOf(root) })
  t.match(await fetchBlob({ uris: [URN] }), { status: { code: NOT_FOUND } }, 'a directory is no blob')
  client.close()
})

t.test('content that has expired, or is older than the client accepts, is not found', async (t) => {
  const { pushBlob, fetchBlob, upload } = await assetServer(t, { push: {} })
  const content = random(10)
  await upload(content)
  const blobDigest = digestOf(content)
  await pushBlob({ uris: ['urn:old'], blobDigest, expireAt: timestampOf(Date.now() - 1000) })
  t.match(await fetchBlob({ uris: ['urn:old'] }), { status: { code: NOT_FOUND } })
  const expireAt = timestampOf(Date.now() + 60_000)
  await pushBlob({ uris: ['urn:new'], blobDigest, expireAt })
  t.match(await fetchBlob({ uris: ['urn:new'] }), { status: { code: 0 }, expiresAt: expireAt })
  const oldestContentAccepted = timestampOf(Date.now() + 3_600_000)
  t.match(await fetchBlob({ uris: ['urn:new'], oldestContentAccepted }), { status: { code: NOT_FOUND } })
})

t.test('a blob that was pushed without a checksum is found with its own, and never with another', async (t) => {
  const { pushBlob, fetchBlob, upload } = await assetServer(t, { push: {} })
  const [content, other] = [random(10), random(10)]
  await upload(content)
  await pushBlob({ uris: [URN], blobDigest: digestOf(content) })
  const ask = (value: string) => fetchBlob({ uris: [URN], qualifiers: [checksum(value)] })
  t.match(await ask(sri(content)), { status: { code: 0 }, blobDigest: digestOf(content) })
  t.match(await ask(`${sri(other)} ${sri(content)}`), { status: { code: 0 } }, 'any of several')
  t.match(await ask(sri(other)), { status: { code: NOT_FOUND } })
  t.match(await ask(`${sri(other, 'sha512')} ${sri(content)}`), { status: { code: NOT_FOUND } }, 'the strongest counts')
})

t.test('a read-only instance refuses pushes and still finds what is there', async (t) => {
  const { pushBlob, upload } = await assetServer(t, { push: { read_only: true } })
  const content = random(10)
  await upload(content)
  const refused = await failure(pushBlob({ uris: [URN], blobDigest: digestOf(content) }))
  t.match(refused, { code: 'PERMISSION_DENIED', message: /read-only/ })
})

t.test('without Push an unknown qualifier is INVALID_ARGUMENT and named', async (t) => {
  const { fetchBlob } = await assetServer(t)
  t.match(await failure(fetchBlob({ uris: [URN], qualifiers: [{ name: 'foo', value: '1' }] })), {
    code: 'INVALID_ARGUMENT',
    message: /"foo"/,
  })
  const twice = [checksum(sri(random(1))), checksum(sri(random(1)))]
  t.match(await failure(fetchBlob({ uris: [URN], qualifiers: twice })), {
    code: 'INVALID_ARGUMENT',
    message: /occurs twice/,
  })
  t.match(await failure(fetchBlob({ uris: [URN], qualifiers: [checksum('md5-xx')] })), {
    code: 'INVALID_ARGUMENT',
    message: /sha512/,
  })
})
