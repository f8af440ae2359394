import {
  appendFileSync,
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LruCache } from '../../../src/base/lru-cache.js'
import { StatusError } from '../../../src/base/status-error.js'
import { ForwardingStore } from '../../../src/blobs/forwarding.js'
import type { BlobFiles, Store } from '../../../src/blobs/store.js'
import { unpack } from '../../../src/proto/any.js'
import { codec } from '../../../src/proto/codec.js'
import type { DirectoryInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../../src/reapi/digest.js'
import { type DigestFunction, digestFunctions } from '../../../src/reapi/digest-function.js'
import { type Directory, encodeDirectory } from '../../../src/reapi/directory.js'
import { internalCall } from '../../../src/rpc/call.js'
import type { Blob } from '../../../src/stream/blob/blob.js'
import { changedInputs } from '../../../src/worker/input/changed.js'
import { leaseInputs } from '../../../src/worker/input/lease.js'
import { makeInputRoot } from '../../../src/worker/input/root.js'
import { readInputTree } from '../../../src/worker/input/tree.js'
import { FileStore } from '../file-store.js'

const nothingKnown = () => new LruCache<Directory>(1 << 20)

const { SHA256, BLAKE3 } = digestFunctions
const call = internalCall()
const preconditionFailure = codec('google.rpc.PreconditionFailure')

const setUp = (t: Test) => {
  const directory = t.testdir({ root: {}, again: {} })
  const store = new FileStore(join(directory, 'cas'))
  const put = (folder: DirectoryInput): Digest => store.keep(encodeDirectory(folder))
  return { root: join(directory, 'root'), again: join(directory, 'again'), store, put }
}

const make = async (root: Digest, at: string, store: FileStore, copies = false) => {
  const tree = await readInputTree(root, store.cas, nothingKnown(), call)
  const lease = await leaseInputs(tree, store.cas, call)
  return { tree, lease, links: await makeInputRoot(tree, at, store.cas, { copies }, call) }
}

const rejection = async (work: Promise<unknown>): Promise<StatusError> => {
  try {
    await work
  } catch (error) {
    if (error instanceof StatusError) return error
    throw error
  }
  throw new Error('was not rejected')
}

/** The subjects of the only error detail. */
const missingIn = (error: StatusError): string[] => {
  const [detail, ...others] = error.details
  if (detail === undefined || others.length > 0) throw new Error('not exactly one detail')
  const { violations } = unpack(preconditionFailure, { typeUrl: detail.typeUrl, value: detail.value })
  if (!detail.typeUrl.startsWith('type.googleapis.com/') || violations.some(({ type }) => type !== 'MISSING')) {
    throw new Error('not all are MISSING')
  }
  return violations.map(({ subject }) => subject).sort()
}

t.test('CMD-13, CMD-14 the input root matches the tree', async (t) => {
  const { root, store, put } = setUp(t)
  const data = store.keep('data')
  const tool = store.keep('#!/bin/sh\n')
  const leaf = put({ files: [{ name: 'same', digest: data.toMessage() }] })
  const top = put({
    files: [
      { name: 'data', digest: data.toMessage() },
      { name: 'empty', digest: Digest.of(Buffer.alloc(0), SHA256).toMessage() },
      { name: 'tool', digest: tool.toMessage(), isExecutable: true },
      { name: 'ünï cödé', digest: data.toMessage(), isExecutable: true },
    ],
    directories: [
      { name: 'a', digest: leaf.toMessage() },
      { name: 'b', digest: leaf.toMessage() },
      { name: 'none', digest: Digest.of(Buffer.alloc(0), SHA256).toMessage() },
    ],
    symlinks: [
      { name: 'absolute', target: '/nosuch/x' },
      { name: 'dangling', target: 'nosuch' },
      { name: 'up', target: '../..' },
    ],
  })
  const { lease } = await make(top, root, store)
  t.same(readdirSync(root).sort(), [
    'a',
    'absolute',
    'b',
    'dangling',
    'data',
    'empty',
    'none',
    'tool',
    'up',
    'ünï cödé',
  ])
  t.equal(readFileSync(join(root, 'a/same'), 'utf8'), 'data')
  t.equal(readFileSync(join(root, 'b/same'), 'utf8'), 'data')
  t.same(readdirSync(join(root, 'none')), [])
  t.equal(readFileSync(join(root, 'empty'), 'utf8'), '')
  t.equal(readlinkSync(join(root, 'absolute')), '/nosuch/x')
  t.equal(readlinkSync(join(root, 'dangling')), 'nosuch')
  t.equal(readlinkSync(join(root, 'up')), '../..')
  t.equal(lstatSync(join(root, 'tool')).mode & 0o777, 0o555)
  t.equal(lstatSync(join(root, 'data')).mode & 0o777, 0o444)
  t.equal(lstatSync(join(root, 'data')).ino, lstatSync(store.path(data)).ino, 'files are links')
  t.ok(store.leased.has(data.key) && store.leased.has(leaf.key))
  lease.release()
  t.equal(store.leased.size, 0)
})

t.test('a tree of 1,000 levels', async (t) => {
  const { root, store, put } = setUp(t)
  let digest = put({ files: [{ name: 'f', digest: store.keep('deep').toMessage() }] })
  for (let level = 0; level < 1000; level++) digest = put({ directories: [{ name: 'd', digest: digest.toMessage() }] })
  await make(digest, root, store)
  t.equal(readFileSync(join(root, `${'d/'.repeat(1000)}f`), 'utf8'), 'deep')
})

t.test('a small tree that describes 2^40 paths is refused', async (t) => {
  const { store, put } = setUp(t)
  let digest = put({})
  for (let level = 0; level < 40; level++) {
    const child = digest.toMessage()
    digest = put({
      directories: [
        { name: 'a', digest: child },
        { name: 'b', digest: child },
      ],
    })
  }
  await t.rejects(readInputTree(digest, store.cas, nothingKnown(), call), {
    code: 3,
    message: /more than 2000000 entries/,
  })
})

t.test('EXE-12, EXE-13, EXE-15 every missing blob is listed, in one detail', async (t) => {
  const { store, put } = setUp(t)
  const [gone1, gone2] = [store.keep('gone1'), store.keep('gone2')]
  const there = store.keep('there')
  const goneDirectory = put({ files: [{ name: 'x', digest: gone1.toMessage() }] })
  const top = put({
    files: [
      { name: '1', digest: gone1.toMessage() },
      { name: '2', digest: gone2.toMessage() },
      { name: '3', digest: there.toMessage() },
      { name: '4', digest: gone2.toMessage() },
    ],
    directories: [{ name: 'd', digest: goneDirectory.toMessage() }],
  })
  const subjectOf = ({ hash, sizeBytes }: Digest) => `blobs/${hash}/${sizeBytes}`
  for (const digest of [gone1, gone2, goneDirectory]) store.drop(digest)
  const tree = await readInputTree(top, store.cas, nothingKnown(), call)
  const error = await rejection(leaseInputs(tree, store.cas, call))
  t.equal(error.code, 9)
  t.same(missingIn(error), [gone1, gone2, goneDirectory].map(subjectOf).sort())
  t.match(error.message, /^the CAS lacks 3 blobs that the action needs/)
  t.equal(store.leased.size, 0, 'nothing stays leased')

  const known = nothingKnown()
  await readInputTree(top, store.cas, known, call)
  store.drop(top)
  const remembered = await readInputTree(top, store.cas, known, call)
  t.same(
    missingIn(await rejection(leaseInputs(remembered, store.cas, call))),
    [gone1, gone2, goneDirectory, top].map(subjectOf).sort(),
    'a Directory that is known and gone is missing all the same',
  )
  const noRoot = await rejection(
    readInputTree(top, store.cas, nothingKnown(), call).then((tree) => leaseInputs(tree, store.cas, call)),
  )
  t.same(missingIn(noRoot), [subjectOf(top)])
})

t.test('EXE-14 the subject names a digest function that the hash length does not determine', async (t) => {
  const { store } = setUp(t)
  const digest = Digest.of(Buffer.from('x'), BLAKE3)
  const error = await rejection(leaseInputs({ blobs: [digest], missing: [] }, store.cas, call))
  t.same(missingIn(error), [`blobs/blake3/${digest.hash}/1`])
})

t.test('EXE-17, EXE-45 blobs of the slow tier are fetched, with the digest function of the action', async (t) => {
  const { root, store } = setUp(t)
  const behind = (bytes: Buffer, digestFunction: DigestFunction): Digest => {
    const digest = Digest.of(bytes, digestFunction)
    store.behind.set(digest.key, bytes)
    return digest
  }
  const data = behind(Buffer.from('far'), BLAKE3)
  const top = behind(encodeDirectory({ files: [{ name: 'f', digest: data.toMessage() }] }), BLAKE3)
  let fetches = 0
  const tree = await readInputTree(top, store.cas, nothingKnown(), call)
  const lease = await leaseInputs(tree, store.cas, call, () => fetches++)
  t.equal(fetches, 1)
  store.drop(data)
  await makeInputRoot(tree, root, store.cas, { copies: false }, call)
  t.equal(readFileSync(join(root, 'f'), 'utf8'), 'far', 'a file that vanished while leased is fetched again')
  lease.release()
})

t.test('inputs are fetched concurrently', async (t) => {
  const { store } = setUp(t)
  const files = Array.from({ length: 16 }, (_, index) => {
    const bytes = Buffer.from(`far ${index}`)
    const digest = Digest.of(bytes, SHA256)
    store.behind.set(digest.key, bytes)
    return digest
  })
  let isFull: () => void = () => {}
  const full = new Promise<void>((resolve) => {
    isFull = resolve
  })
  let coming = 0
  const { populate } = store.files
  store.files.populate = async (digest, call) => {
    if (++coming === 16) isFull()
    // With sequential fetches, the sixteenth would never start.
    await full
    return populate(digest, call)
  }
  const lease = await leaseInputs({ blobs: files, missing: [] }, store.cas, call)
  t.equal(coming, 16)
  lease.release()
})

t.test('an input whose file another process has deleted is fetched again, or named as missing', async (t) => {
  const { root, again, store, put } = setUp(t)
  const content = Buffer.from('slower')
  const digest = store.keep(content)
  const top = put({ files: [{ name: 'a', digest: digest.toMessage() }] })
  const tree = await readInputTree(top, store.cas, nothingKnown(), call)
  const lease = await leaseInputs(tree, store.cas, call)
  const { populate } = store.files
  store.files.populate = async (...given) => {
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve))
    return populate(...given)
  }
  store.drop(digest)
  const absent = await rejection(makeInputRoot(tree, root, store.cas, { copies: false }, call))
  t.same([absent.code, missingIn(absent)], [9, [`blobs/${digest.hash}/${digest.sizeBytes}`]])
  store.behind.set(digest.key, content)
  await makeInputRoot(tree, again, store.cas, { copies: false }, call)
  t.equal(readFileSync(join(again, 'a'), 'utf8'), 'slower')
  lease.release()
})

t.test('a store that cannot hold the inputs is an error of the worker', async (t) => {
  const { store } = setUp(t)
  const bytes = Buffer.from('flighty')
  const digest = Digest.of(bytes, SHA256)
  store.behind.set(digest.key, bytes)
  const { files } = store
  const flighty = { ...files, populate: async () => {} }
  const error = await rejection(leaseInputs({ blobs: [digest], missing: [] }, new OtherFiles(store, flighty), call))
  t.equal(error.code, 8)
  t.match(error.message, /evicts the inputs/)
})

/** The same store with other `files`, or without. */
class OtherFiles extends ForwardingStore {
  readonly #files: BlobFiles | undefined

  constructor(store: Store, files?: BlobFiles) {
    super(store)
    this.#files = files
  }

  override get files(): BlobFiles | undefined {
    return this.#files
  }
}

const cas = (store: FileStore): Store => new OtherFiles(store)

t.test('inputs are copies if the store has no files', async (t) => {
  const { root, store, put } = setUp(t)
  const top = put({ files: [{ name: 'f', digest: store.keep('x').toMessage(), isExecutable: true }] })
  const tree = await readInputTree(top, cas(store), nothingKnown(), call)
  await leaseInputs(tree, cas(store), call)
  t.same(await makeInputRoot(tree, root, cas(store), { copies: false }, call), [])
  t.equal(lstatSync(join(root, 'f')).nlink, 1)
  t.equal(lstatSync(join(root, 'f')).mode & 0o100, 0o100)
  store.drop(Digest.of(Buffer.from('x'), SHA256))
  t.same(missingIn(await rejection(leaseInputs(tree, cas(store), call))).length, 1)
})

t.test('CMD-22 node properties set mode and mtime of inputs', async (t) => {
  const { root, store, put } = setUp(t)
  const data = store.keep('data')
  const nodeProperties = { unixMode: { value: 0o751 }, mtime: { seconds: 1_000_000_000, nanos: 500_000_000 } }
  const top = put({
    files: [
      { name: 'f', digest: data.toMessage(), nodeProperties },
      { name: 'tagged', digest: data.toMessage(), nodeProperties: { properties: [{ name: 'bazel_tool_input' }] } },
    ],
  })
  await make(top, root, store)
  t.equal(lstatSync(join(root, 'f')).mode & 0o7777, 0o751)
  t.equal(lstatSync(join(root, 'f')).mtimeMs, 1_000_000_000_500)
  t.equal(lstatSync(store.path(data)).mode & 0o777, 0o444)
  t.equal(lstatSync(join(root, 'tagged')).ino, lstatSync(store.path(data)).ino, 'other properties cost no link')
})

t.test('names that are not valid on this machine are an error of the action', async (t) => {
  const { store, put } = setUp(t)
  const read = (root: DirectoryInput) => readInputTree(put(root), store.cas, nothingKnown(), call)
  const digest = store.keep('x').toMessage()
  for (const name of ['x'.repeat(256), 'é'.repeat(128)]) {
    const refused = { code: 3, message: /input directory "d": .* has a name of 256 bytes, expected at most 255/ }
    for (const folder of [
      { files: [{ name, digest }] },
      { directories: [{ name, digest: put({}).toMessage() }] },
      { symlinks: [{ name, target: 'x' }] },
    ]) {
      await t.rejects(read({ directories: [{ name: 'd', digest: put(folder).toMessage() }] }), refused)
    }
  }
  t.equal((await read({ files: [{ name: 'é'.repeat(127), digest }] })).files.length, 1)
})

t.test('a path that is too long only with the work directory is also an error of the action', async (t) => {
  const { root, store, put } = setUp(t)
  const flat = put({ files: [{ name: 'f', digest: store.keep('x').toMessage() }] })
  await t.rejects(make(flat, `${root}${'/.'.repeat(2000)}`, store), { code: 3, message: /^input "f.*too long/ })
})

class CountingStore extends ForwardingStore {
  reads = 0

  override get(...args: Parameters<Store['get']>): Promise<Blob> {
    this.reads++
    return super.get(...args)
  }
}

t.test('a chain of 4,200 directories is refused before half of it is read', async (t) => {
  const { store, put } = setUp(t)
  const counting = new CountingStore(store)
  let digest = put({})
  for (let level = 0; level < 4_200; level++) digest = put({ directories: [{ name: 'd', digest: digest.toMessage() }] })
  await t.rejects(readInputTree(digest, counting, nothingKnown(), call), { code: 3, message: /longer than 4095 bytes/ })
  t.ok(counting.reads > 2000 && counting.reads < 2100, `${counting.reads} directories were read`)
})

t.test('CMD-15 only writes through a hard link are reported', async (t) => {
  const { root, again, store, put } = setUp(t)
  const names = ['appended', 'rewritten', 'replaced', 'removed', 'relinked', 'chmodded', 'untouched', 'tool', 'broken']
  names.push('backdated', 'touched')
  const blobs = new Map(names.map((name) => [name, store.keep(`${name}!`)]))
  const top = put({
    files: names.map((name) => ({
      name,
      digest: blobs.get(name)?.toMessage() ?? null,
      isExecutable: name === 'tool' || name === 'broken',
    })),
  })
  const { links } = await make(top, root, store)
  const sinceMs = Date.now()
  await make(top, again, store)
  const write = (name: string, act: (path: string) => void) => {
    chmodSync(join(root, name), 0o644)
    act(join(root, name))
  }
  write('appended', (path) => appendFileSync(path, 'more'))
  write('rewritten', (path) => writeFileSync(path, 'REWRITTEN!'))
  write('backdated', (path) => {
    writeFileSync(path, 'BACKDATED!')
    utimesSync(path, 1, 1)
  })
  const { mtimeMs } = lstatSync(join(root, 'touched'))
  utimesSync(join(root, 'touched'), 1, 1)
  write('broken', (path) => writeFileSync(path, 'BROKEN!'))
  write('chmodded', (path) => chmodSync(path, 0o777))
  for (const name of ['replaced', 'relinked', 'removed']) rmSync(join(root, name))
  writeFileSync(join(root, 'replaced'), 'private')
  writeFileSync(join(root, 'relinked'), 'private')
  linkSync(join(root, 'relinked'), join(root, 'twin'))
  const changed = await changedInputs(links, root, sinceMs, store.cas, call)
  const nameOf = ({ key }: Digest) => names.find((name) => blobs.get(name)?.key === key)
  t.same(changed.map(nameOf).sort(), ['appended', 'backdated', 'broken', 'rewritten'])
  t.equal(
    Math.round(lstatSync(join(again, 'touched')).mtimeMs),
    Math.round(mtimeMs),
    'the time is put right for everybody',
  )
  t.equal(lstatSync(join(again, 'chmodded')).mode & 0o777, 0o444, 'the mode is put right for everybody')
  t.equal(readFileSync(join(again, 'replaced'), 'utf8'), 'replaced!')
})

t.test('CMD-15 copies are private', async (t) => {
  const { root, store, put } = setUp(t)
  const data = store.keep('data')
  const { links } = await make(put({ files: [{ name: 'f', digest: data.toMessage() }] }), root, store, true)
  t.same(links, [])
  appendFileSync(join(root, 'f'), 'more')
  t.equal(store.bytesOf(data).toString(), 'data')
  mkdirSync(join(root, 'd'))
  t.ok(existsSync(join(root, 'd')))
})
