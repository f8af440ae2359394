import t from 'tap'
import type { Store } from '../../src/blobs/store.js'
import { codec } from '../../src/proto/codec.js'
import type { DirectoryInput } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../src/reapi/digest.js'
import { internalCall } from '../../src/rpc/call.js'
import { collect, type TestClient } from '../server/client.js'
import { type Blob, blobOf, CAS, failure, MIB, put, SHA256, serve, wire } from './harness.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')
const responseCodec = codec('build.bazel.remote.execution.v2.GetTreeResponse')

const directory = (message: DirectoryInput): Blob => blobOf(directoryCodec.encode(message))

const below = (children: Readonly<Record<string, Blob>>, text = ''): Blob =>
  directory({
    files: text === '' ? [] : [{ name: 'file', digest: wire(blobOf(text).digest) }],
    directories: Object.entries(children).map(([name, { digest }]) => ({ name, digest: wire(digest) })),
  })

const tree = async (client: TestClient, root: Digest, request: object = {}) => {
  const stream = client.serverStream(`${CAS}/GetTree`, { rootDigest: wire(root), ...request })
  const { messages, status } = await collect(stream)
  const found: string[] = []
  for (const { directories } of messages) {
    for (const message of directories) found.push(Digest.of(directoryCodec.encode(message), SHA256).key)
  }
  return { messages, status, found }
}

const keys = (...blobs: readonly Blob[]): string[] => blobs.map(({ digest }) => digest.key).sort()

/** A root with two branches, one of three levels. */
const small = async (cas: Store) => {
  const leaf = below({}, 'leaf')
  const middle = below({ leaf }, 'middle')
  const other = below({}, 'other')
  const root = below({ a: middle, b: other }, 'root')
  await put(cas, leaf, middle, other, root)
  return { leaf, middle, other, root }
}

t.test('TRE-01, TRE-13: root and everything below it, in one go', async (t) => {
  const { client, cas } = await serve(t)
  const { leaf, middle, other, root } = await small(cas)
  const { messages, status, found } = await tree(client, root.digest)
  t.equal(status, undefined)
  t.same(found.sort(), keys(leaf, middle, other, root))
  t.equal(messages.length, 1)
  t.equal(messages[0].nextPageToken, '')
})

t.test('TRE-02, DIG-04, TRE-12: a root that is absent, not a digest, or not a Directory', async (t) => {
  const { client, cas } = await serve(t)
  const noDirectory = blobOf('\xff these bytes are no Directory')
  await put(cas, noDirectory)
  t.match(await failure(once(client, blobOf('x').digest)), { code: 'NOT_FOUND' }, 'TRE-02')
  t.match(await failure(once(client, noDirectory.digest)), { code: 'INVALID_ARGUMENT', message: /Directory/ }, 'TRE-12')
  const { status } = await collect(client.serverStream(`${CAS}/GetTree`, {}))
  t.equal(status?.code, 3, 'DIG-04: no root digest')
  t.match(
    await failure(once(client, noDirectory.digest, { instanceName: 'nope' })),
    { code: 'INVALID_ARGUMENT' },
    'INS-02',
  )
})

const once = async (client: TestClient, root: Digest, request: object = {}): Promise<void> => {
  const { status } = await tree(client, root, request)
  if (status !== undefined) throw status
}

t.test('TRE-03: a missing descendant is left out with its descendants', async (t) => {
  const { client, cas } = await serve(t)
  const { middle, leaf, other, root } = await small(cas)
  await cas.remove(middle.digest, 'unwanted', internalCall())
  const { status, found } = await tree(client, root.digest)
  t.equal(status, undefined)
  t.same(found.sort(), keys(root, other))
  t.notOk(found.includes(leaf.digest.key))
})

t.test('TRE-04: equal directories come once, and a lattice of them does not explode', async (t) => {
  const { client, cas } = await serve(t)
  let level = below({}, 'bottom')
  const levels = [level]
  for (let depth = 0; depth < 40; depth++) {
    level = below({ left: level, right: level })
    levels.push(level)
  }
  await put(cas, ...levels)
  const { found } = await tree(client, level.digest)
  t.same(found.sort(), keys(...levels))
})

t.test('TRE-05, TRE-06: pages, and resuming after any of them', async (t) => {
  const { client, cas } = await serve(t)
  const leaves = Array.from({ length: 7 }, (_, index) => below({}, `leaf ${index}`))
  const root = below(Object.fromEntries(leaves.map((leaf, index) => [`d${index}`, leaf])))
  await put(cas, root, ...leaves)
  for (const pageSize of [1, 2, 3, 8, 100]) {
    const { messages, found } = await tree(client, root.digest, { pageSize })
    t.same(
      found,
      [root, ...leaves].map(({ digest }) => digest.key),
      `page_size ${pageSize}`,
    )
    t.ok(messages.every(({ directories }) => directories.length <= pageSize))
    t.same(
      messages.map(({ nextPageToken }) => nextPageToken === ''),
      messages.map((_, index) => index === messages.length - 1),
    )
    let seen = 0
    for (const { directories, nextPageToken } of messages) {
      seen += directories.length
      if (nextPageToken === '') continue
      const rest = await tree(client, root.digest, { pageSize, pageToken: nextPageToken })
      t.same(rest.found, found.slice(seen), `resumed after ${seen}`)
    }
  }
})

t.test('TRE-07, TRE-08: tokens and sizes that make no sense', async (t) => {
  const { client, cas } = await serve(t)
  const { root, other } = await small(cas)
  const { messages } = await tree(client, root.digest, { pageSize: 1 })
  const foreign = Buffer.from(`${root.digest.key} ${blobOf('x').digest.key}`).toString('base64url')
  for (const pageToken of ['garbage', 'AAAA', messages[0].nextPageToken.slice(4), foreign]) {
    t.match(await failure(once(client, root.digest, { pageToken })), {
      code: 'INVALID_ARGUMENT',
      message: /page_token/,
    })
  }
  const another = { pageToken: messages[0].nextPageToken }
  t.match(await failure(once(client, other.digest, another)), { code: 'INVALID_ARGUMENT' }, 'of another tree')
  t.match(await failure(once(client, root.digest, { pageSize: -1 })), { code: 'INVALID_ARGUMENT' }, 'TRE-08')
})

t.test('TRE-09: the empty digest is one empty directory', async (t) => {
  const { client } = await serve(t)
  const { messages, status } = await tree(client, Digest.of(Buffer.alloc(0), SHA256))
  t.equal(status, undefined)
  t.equal(messages.length, 1)
  t.equal(messages[0].directories.length, 1)
})

t.test('TRE-10: a tree above 4 MiB comes in messages below it', async (t) => {
  const { client, cas } = await serve(t)
  const leaves = Array.from({ length: 3000 }, (_, index) => below({}, `leaf ${index} ${'x'.repeat(10)}`))
  const wide = (from: number) =>
    below(
      Object.fromEntries(
        leaves.slice(from, from + 1000).map((leaf, index) => [`name ${'n'.repeat(1500)} ${index}`, leaf]),
      ),
    )
  const branches = [wide(0), wide(1000), wide(2000)]
  const root = below(Object.fromEntries(branches.map((branch, index) => [`b${index}`, branch])))
  await put(cas, root, ...branches, ...leaves)
  const { messages, found, status } = await tree(client, root.digest)
  t.equal(status, undefined)
  t.equal(found.length, 3004)
  t.ok(messages.length > 1)
  for (const message of messages) t.ok(responseCodec.encode(message).length <= 4 * MIB)
})

t.test('TRE-11: a thousand levels', async (t) => {
  const { client, cas } = await serve(t)
  let level = below({}, 'bottom')
  const levels = [level]
  for (let depth = 0; depth < 1000; depth++) {
    level = below({ d: level })
    levels.push(level)
  }
  await put(cas, ...levels)
  const { found, status } = await tree(client, level.digest)
  t.equal(status, undefined)
  t.equal(found.length, 1001)
})

t.test('a descendant with a malformed digest is named', async (t) => {
  const { client, cas } = await serve(t)
  const root = directory({ directories: [{ name: 'sub', digest: { hash: 'zz', sizeBytes: 3 } }] })
  await put(cas, root)
  t.match(await failure(once(client, root.digest)), { code: 'INVALID_ARGUMENT', message: /"sub"/ })
})
