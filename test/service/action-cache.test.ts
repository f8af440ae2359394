import t from 'tap'
import { putBytes, type Store } from '../../src/blobs/store.js'
import { codec, EncodedMessage, type Input } from '../../src/proto/codec.js'
import type { ActionResult } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../src/reapi/digest.js'
import { internalCall } from '../../src/rpc/call.js'
import { getActionResult } from '../../src/service/action-cache/get-action-result.js'
import { asCas } from '../../src/store/view/cas.js'
import type { TestClient } from '../server/client.js'
import { FaultyStore } from './faulty-store.js'
import { AC, type Blob, blobOf, CAS, failure, has, MIB, memoryStore, put, randomBlob, serve, wire } from './harness.js'

type ResultInput = Input<'build.bazel.remote.execution.v2.ActionResult'>

const resultCodec = codec('build.bazel.remote.execution.v2.ActionResult')
const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')
const actionCodec = codec('build.bazel.remote.execution.v2.Action')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

const update = (client: TestClient, action: object | null, actionResult: ResultInput | null, more: object = {}) =>
  client.unary(`${AC}/UpdateActionResult`, { actionDigest: action, actionResult, ...more }).response

const get = (client: TestClient, action: object | null, more: object = {}) =>
  client.unary(`${AC}/GetActionResult`, { actionDigest: action, ...more }).response

/** A server with a CAS and an action cache that a test can make fail. */
const served = async (t: Parameters<typeof serve>[0], setting: object = {}) => {
  const faultyCas = new FaultyStore(await memoryStore())
  const faultyAc = new FaultyStore(await memoryStore())
  const cas = asCas(faultyCas)
  const server = await serve(t, { instances: { '': { cas, ac: faultyAc, ...setting } } })
  return { ...server, cas, faultyCas, faultyAc }
}

const forget = (store: Store, { digest }: Blob): Promise<void> => store.remove(digest, 'unwanted', internalCall())

const action = blobOf('action')
const key = wire(action.digest)

t.test('ACG-01, ACG-02, ACG-05, ACU-01, ACU-02, ACU-03, ACU-07, ACU-14, INS-06', async (t) => {
  const { client, connect } = await serve(t, { instances: { '': {}, other: {} } })
  t.match(
    await failure(get(client, key)),
    { code: 'NOT_FOUND', message: /no result for action .* is not in memory/ },
    'ACG-01',
  )
  t.equal(
    (await update(client, key, { exitCode: 0, stdoutRaw: Buffer.from('one') })).stdoutRaw.toString(),
    'one',
    'ACU-01',
  )
  t.equal((await get(connect(), key)).stdoutRaw.toString(), 'one', 'ACU-02, ACG-02, ACU-07')
  await update(client, key, { stdoutRaw: Buffer.from('two') })
  t.equal((await get(client, key)).stdoutRaw.toString(), 'two', 'ACU-03')
  t.equal((await failure(get(client, { ...key, sizeBytes: 7 }))).code, 'NOT_FOUND', 'ACG-05')
  t.equal((await failure(get(client, key, { instanceName: 'other' }))).code, 'NOT_FOUND', 'INS-06')
  const { missingBlobDigests } = await client.unary(`${CAS}/FindMissingBlobs`, { blobDigests: [key] }).response
  t.equal(missingBlobDigests.length, 1, 'ACU-14: an entry is no blob')
})

t.test('ACG-06, DIG-04, DIG-06, INS-02: invalid or absent actions', async (t) => {
  const { client } = await serve(t)
  const bad = [null, {}, { hash: key.hash.slice(1), sizeBytes: 6 }, { ...key, sizeBytes: -1 }]
  for (const digest of bad) {
    t.equal((await failure(get(client, digest))).code, 'INVALID_ARGUMENT', JSON.stringify(digest))
    t.equal((await failure(update(client, digest, {}))).code, 'INVALID_ARGUMENT', JSON.stringify(digest))
  }
  t.match(await failure(get(client, key, { digestFunction: 3 })), { code: 'INVALID_ARGUMENT', message: /not served/ })
  t.equal((await failure(get(client, key, { instanceName: 'nope' }))).code, 'INVALID_ARGUMENT')
  t.equal((await failure(update(client, key, {}, { instanceName: 'nope' }))).code, 'INVALID_ARGUMENT')
})

t.test('ACU-04: invalid results', async (t) => {
  const { client } = await serve(t)
  const good = wire(blobOf('x').digest)
  const bad = { hash: 'zz', sizeBytes: 1 }
  const results: [string, ResultInput | null, RegExp][] = [
    ['no result', null, /action_result is missing/],
    [
      'output file',
      {
        outputFiles: [
          { path: 'a', digest: good },
          { path: 'b', digest: bad },
        ],
      },
      /output_files\[1\]/,
    ],
    ['output file without digest', { outputFiles: [{ path: 'a' }] }, /output_files\[0\]/],
    ['tree', { outputDirectories: [{ path: 'a', treeDigest: bad }] }, /output_directories\[0\]\.tree_digest/],
    ['root', { outputDirectories: [{ path: 'a', rootDirectoryDigest: bad }] }, /root_directory_digest/],
    ['directory without digest', { outputDirectories: [{ path: 'a' }] }, /neither tree_digest nor/],
    ['stdout', { stdoutDigest: bad }, /stdout_digest/],
    ['stderr', { stderrDigest: { ...good, sizeBytes: -2 } }, /stderr_digest/],
    ['too large', { stdoutRaw: Buffer.alloc(4 * MIB) }, /expected at most 4194304/],
  ]
  for (const [title, result, message] of results) {
    t.match(await failure(update(client, key, result)), { code: 'INVALID_ARGUMENT', message }, title)
  }
  t.equal((await failure(get(client, key))).code, 'NOT_FOUND', 'nothing was kept')
})

t.test('results with invalid output paths are refused by field, valid ones are stored', async (t) => {
  const { client, cas } = await serve(t)
  const digest = wire(blobOf('x').digest)
  const command = blobOf(commandCodec.encode({ arguments: ['x'], workingDirectory: 'out/debug' }))
  const inDebug = blobOf(actionCodec.encode({ commandDigest: wire(command.digest) }))
  await put(cas, command, inDebug)
  const file = (path: string): ResultInput => ({ outputFiles: [{ path, digest }] })
  const directory = (path: string): ResultInput => ({ outputDirectories: [{ path, treeDigest: digest }] })
  const link = (path: string, target: string): ResultInput => ({ outputSymlinks: [{ path, target }] })
  const refused: [ResultInput, RegExp][] = [
    [file(''), /action_result\.output_files\[0\]\.path: "" is not valid, expected the path of a file/],
    [file('.'), /output_files\[0\]\.path: "\." is not valid/],
    [file('/etc/x'), /output_files\[0\]\.path: "\/etc\/x" is not valid, expected a relative path/],
    [file('../../x'), /output_files\[0\]\.path: "\.\.\/\.\.\/x" is not valid, expected a path inside/],
    [file('a/../../x'), /output_files\[0\]\.path/],
    [file('a/../b'), /output_files\[0\]\.path: "a\/\.\.\/b" is not valid, expected "\.\." only at its beginning/],
    [file('a//b'), /output_files\[0\]\.path: "a\/\/b"/],
    [file('a/'), /output_files\[0\]\.path: "a\/"/],
    [directory('a/'), /output_directories\[0\]\.path: "a\/"/],
    [link('a/b/../../c', 't'), /output_symlinks\[0\]\.path/],
    [file('a\0b'), /output_files\[0\]\.path.*NUL/],
    [
      {
        outputFiles: [
          { path: 'a', digest },
          { path: '', digest },
        ],
      },
      /output_files\[1\]\.path/,
    ],
    [directory('/'), /output_directories\[0\]\.path: "\/" is not valid/],
    [directory('..'), /output_directories\[0\]\.path/],
    [link('', 't'), /output_symlinks\[0\]\.path/],
    [link('/l', 't'), /output_symlinks\[0\]\.path/],
    [link('l', ''), /output_symlinks\[0\]\.target: "" is not valid, expected a path/],
    [link('l', 'a\0b'), /output_symlinks\[0\]\.target/],
    [{ outputFileSymlinks: [{ path: 'l', target: '' }] }, /output_file_symlinks\[0\]\.target/],
    [{ outputDirectorySymlinks: [{ path: '../l', target: 't' }] }, /output_directory_symlinks\[0\]\.path/],
  ]
  for (const [result, message] of refused) {
    t.match(await failure(update(client, key, result)), { code: 'INVALID_ARGUMENT', message }, String(message))
  }
  t.equal((await failure(get(client, key))).code, 'NOT_FOUND', 'nothing was kept')

  const lawful: [string, ResultInput][] = [
    ['the working directory itself', directory('')],
    ['a link to anywhere', link('l', '/usr/lib')],
    ['a link upwards', link('a/l', '../../x')],
    ['two dots in a name', file('a..b/..c')],
  ]
  for (const [title, result] of lawful) t.ok(await update(client, key, result), title)
  const above = wire(inDebug.digest)
  t.ok(await update(client, above, file('../../gen/x')), 'above the working directory and inside the input root')
  t.match(await failure(update(client, above, file('../../../x'))), { code: 'INVALID_ARGUMENT', message: /input root/ })
})

t.test('ACU-05, ACU-08: read-only, full', async (t) => {
  const { client } = await serve(t, { instances: { '': { isReadOnly: true } } })
  t.match(await failure(update(client, key, {})), { code: 'PERMISSION_DENIED', message: /read-only/ }, 'ACU-05')
  const full = await served(t)
  full.faultyAc.failWrites = 'RESOURCE_EXHAUSTED'
  t.equal((await failure(update(full.client, key, { exitCode: 1 }))).code, 'RESOURCE_EXHAUSTED', 'ACU-08')
})

t.test('ACU-09, ACU-12, ACU-13: all fields are returned', async (t) => {
  const { client, cas } = await serve(t)
  const [file, stdout, stderr] = [blobOf('file'), blobOf('stdout'), blobOf('stderr')]
  const tree = blobOf(treeCodec.encode({ root: {} }))
  await put(cas, file, stdout, stderr, tree)
  const nodeProperties = {
    properties: [{ name: 'p', value: 'v' }],
    mtime: { seconds: 5, nanos: 6 },
    unixMode: { value: 0o755 },
  }
  const symlink = { path: 'l', target: 't', nodeProperties }
  const result: ResultInput = {
    outputFiles: [{ path: 'f', digest: wire(file.digest), isExecutable: true, nodeProperties }],
    outputDirectories: [{ path: 'd', treeDigest: wire(tree.digest), isTopologicallySorted: true }],
    outputSymlinks: [symlink],
    outputFileSymlinks: [symlink],
    outputDirectorySymlinks: [symlink],
    exitCode: 3,
    stdoutDigest: wire(stdout.digest),
    stderrDigest: wire(stderr.digest),
    executionMetadata: {
      worker: 'w',
      queuedTimestamp: { seconds: 1, nanos: 2 },
      workerCompletedTimestamp: { seconds: 3 },
      virtualExecutionDuration: { seconds: 4 },
      auxiliaryMetadata: [{ typeUrl: 'type.googleapis.com/x', value: Buffer.from('any') }],
    },
  }
  await update(client, key, result, { resultsCachePolicy: { priority: -7 } })
  const found = await get(client, key)
  t.ok(resultCodec.encode(found).equals(resultCodec.encode(result)))
  t.equal(found.exitCode, 3, 'ACU-12')
})

t.test('ACU-10, ACU-11: raw outputs, and an empty result', async (t) => {
  const { client, cas } = await serve(t)
  const [stdout, file] = [blobOf('stdout'), blobOf('contents')]
  await update(client, key, {
    stdoutRaw: stdout.bytes,
    stdoutDigest: wire(stdout.digest),
    stderrRaw: Buffer.from('only raw'),
    outputFiles: [{ path: 'f', digest: wire(file.digest), contents: file.bytes }],
  })
  t.ok((await has(cas, stdout.digest)) && (await has(cas, file.digest)), 'moved to the CAS')
  const found = await get(client, key)
  t.equal(found.stderrRaw.toString(), 'only raw')
  t.match(found.stdoutDigest, wire(stdout.digest))
  t.equal(found.stdoutRaw.length, 0, 'ACG-07')
  const lie = { stdoutRaw: Buffer.from('other'), stdoutDigest: wire(blobOf('stdout2').digest) }
  t.equal(
    (await failure(update(client, key, lie))).code,
    'INVALID_ARGUMENT',
    'raw bytes that do not match their digest',
  )
  t.equal((await failure(update(client, key, {}))).code, 'OK', 'ACU-11')
  t.equal((await get(client, key)).exitCode, 0)
})

/** A result with every kind of output, and its blobs by kind. */
const fullResult = () => {
  const blobs = {
    'output file': blobOf('output file'),
    stdout: blobOf('stdout'),
    stderr: blobOf('stderr'),
    'file in the root of a tree': blobOf('in root'),
    'file below a tree': blobOf('below'),
    'file below a root directory': blobOf('below root directory'),
  }
  const file = (blob: Blob) => ({ name: 'f', digest: wire(blob.digest) })
  const child = { files: [file(blobs['file below a tree'])] }
  const childDigest = Digest.of(directoryCodec.encode(child), action.digest.function)
  const root = {
    files: [file(blobs['file in the root of a tree'])],
    directories: [{ name: 'd', digest: wire(childDigest) }],
  }
  const tree = blobOf(treeCodec.encode({ root, children: [child] }))
  const subdirectory = blobOf(directoryCodec.encode({ files: [file(blobs['file below a root directory'])] }))
  const rootDirectory = blobOf(
    directoryCodec.encode({ directories: [{ name: 's', digest: wire(subdirectory.digest) }] }),
  )
  const result: ResultInput = {
    outputFiles: [{ path: 'o', digest: wire(blobs['output file'].digest) }],
    stdoutDigest: wire(blobs.stdout.digest),
    stderrDigest: wire(blobs.stderr.digest),
    outputDirectories: [
      { path: 't', treeDigest: wire(tree.digest) },
      { path: 'r', rootDirectoryDigest: wire(rootDirectory.digest) },
    ],
  }
  return { result, blobs: { ...blobs, tree, 'root directory': rootDirectory, 'directory below it': subdirectory } }
}

t.test('ACG-03, ACU-06: an entry with a missing output is a miss', async (t) => {
  const { client, cas } = await served(t)
  const { result, blobs } = fullResult()
  await update(client, key, result)
  t.equal(
    (await failure(get(client, key))).code,
    'NOT_FOUND',
    'ACU-06: accepted, but no hit before its outputs are there',
  )
  await put(cas, ...Object.values(blobs))
  t.equal((await failure(get(client, key))).code, 'OK')
  for (const [title, blob] of Object.entries(blobs)) {
    await forget(cas, blob)
    t.match(await failure(get(client, key)), { code: 'NOT_FOUND', message: blob.digest.key }, `without ${title}`)
    await put(cas, blob)
  }
  t.equal((await failure(get(client, key))).code, 'OK', 'whole again')
})

t.test('ACG-04: a hit counts as a use of all its blobs, in one findMissing', async (t) => {
  const { client, cas, faultyCas } = await served(t)
  const { result, blobs } = fullResult()
  await put(cas, ...Object.values(blobs))
  await update(client, key, result)
  faultyCas.questions.length = 0
  await get(client, key)
  t.equal(faultyCas.questions.length, 1)
  const asked = new Set(faultyCas.questions[0]?.map((digest) => digest.key))
  for (const [title, { digest }] of Object.entries(blobs)) t.ok(asked.has(digest.key), title)
})

t.test('ACG-07, ACG-08, ACG-09, ACG-10: outputs inside the result', async (t) => {
  const { client, cas } = await serve(t)
  const [stdout, stderr, small] = [blobOf('stdout'), blobOf('stderr'), blobOf('small')]
  const [large, half, rest] = [randomBlob(10 * MIB), randomBlob(2 * MIB), randomBlob(2 * MIB)]
  await put(cas, stdout, stderr, small, large, half, rest)
  const outputFiles = Object.entries({ 'a/small': small, large, half, rest }).map(([path, { digest }]) => ({
    path,
    digest: wire(digest),
  }))
  await update(client, key, { stdoutDigest: wire(stdout.digest), stderrDigest: wire(stderr.digest), outputFiles })

  const plain = await get(client, key)
  t.equal(plain.stdoutRaw.length + plain.stderrRaw.length + plain.outputFiles[0].contents.length, 0, 'ACG-07')
  const streams = await get(client, key, { inlineStdout: true, inlineStderr: true })
  t.equal(`${streams.stdoutRaw} ${streams.stderrRaw}`, 'stdout stderr', 'ACG-08')
  t.match(streams.stdoutDigest, wire(stdout.digest), 'the digest stays')
  const files = await get(client, key, { inlineOutputFiles: ['a/small', 'unknown', 'small'] })
  t.equal(files.outputFiles[0].contents.toString(), 'small', 'ACG-09')
  t.equal(files.outputFiles[1].contents.length, 0)
  const much = await get(client, key, { inlineStdout: true, inlineOutputFiles: ['large', 'half', 'rest', 'a/small'] })
  const inlined = much.outputFiles.map(({ contents }: { contents: Buffer }) => contents.length)
  t.same(inlined, [5, 0, 2 * MIB, 0], 'ACG-10: as many as fit into a message')
})

t.test('ACG-03, ACG-07: a repeated request returns the current entry and checks it again', async (t) => {
  const cas = asCas(await memoryStore())
  const { client } = await serve(t, { instances: { '': { cas } } })
  const [first, second] = [randomBlob(100), randomBlob(100)]
  await put(cas, first, second)
  const hints = { inlineOutputFiles: ['out'] }
  const contentsOf = ({ outputFiles: [file] }: Awaited<ReturnType<typeof get>>) => file?.contents
  for (const blob of [first, second]) {
    await update(client, key, { outputFiles: [{ path: 'out', digest: wire(blob.digest) }] })
    for (let round = 0; round < 3; round++) {
      const plain = await get(client, key)
      t.match(plain.outputFiles, [{ path: 'out', digest: wire(blob.digest) }])
      t.equal(contentsOf(plain)?.length, 0, 'outputs that are not requested are left out')
      t.same(contentsOf(await get(client, key, hints)), blob.bytes, 'requested outputs are inlined')
    }
  }
  await forget(cas, second)
  t.equal((await failure(get(client, key))).code, 'NOT_FOUND', 'an output has left since')
})

t.test('ACG-11: failures of a store are not misses', async (t) => {
  const { client, cas, faultyCas, faultyAc } = await served(t)
  const file = blobOf('file')
  await put(cas, file)
  await update(client, key, { outputFiles: [{ path: 'f', digest: wire(file.digest) }] })
  faultyAc.failReads = 'UNAVAILABLE'
  t.equal((await failure(get(client, key))).code, 'UNAVAILABLE')
  faultyAc.failReads = undefined
  faultyCas.failReads = 'INTERNAL'
  t.equal((await failure(get(client, key))).code, 'INTERNAL')
  faultyCas.failReads = undefined
  t.equal((await failure(get(client, key))).code, 'OK')
})

t.test('a damaged entry is a miss and is dropped', async (t) => {
  const { client, faultyAc } = await served(t)
  const damaged = [
    Buffer.from('\xff\xff no ActionResult'),
    resultCodec.encode({ outputFiles: [{ path: 'f', digest: { hash: 'zz', sizeBytes: 1 } }] }),
  ]
  for (const bytes of damaged) {
    await put(faultyAc, { bytes, digest: action.digest })
    t.match(await failure(get(client, key)), { code: 'NOT_FOUND', message: /damaged/ })
    t.notOk(await has(faultyAc, action.digest))
  }
})

t.test('the files of a large Tree are checked in parts, and a missing last file is noticed', async (t) => {
  const { client, cas, faultyCas } = await served(t)
  const content = (index: number): Blob => blobOf(`content ${index}`)
  const children = Array.from({ length: 20 }, (_, child) => ({
    files: Array.from({ length: 1_250 }, (_, file) => {
      const index = child * 1_250 + file
      return { name: `file ${index} ${'n'.repeat(20)}`, digest: wire(content(index).digest) }
    }),
  }))
  const tree = blobOf(treeCodec.encode({ root: {}, children }))
  t.ok(tree.bytes.length > 2 * MIB)
  const all = Array.from({ length: 25_000 }, (_, index) => content(index))
  for (const { digest, bytes } of [tree, ...all]) await putBytes(cas, digest, bytes, internalCall())
  await update(client, key, { outputDirectories: [{ path: 'd', treeDigest: wire(tree.digest) }] })
  faultyCas.questions.length = 0
  t.ok(await get(client, key), 'a hit')
  const asked = faultyCas.questions.flat().map((digest) => digest.key)
  t.same(new Set(asked), new Set([tree, ...all].map(({ digest }) => digest.key)), 'each file counts as used')
  t.ok(faultyCas.questions.every((question) => question.length < 12_000))
  await forget(cas, content(24_999))
  t.match(await failure(get(client, key)), { code: 'NOT_FOUND', message: /is no longer in the CAS/ })
  await forget(cas, tree)
  t.equal((await failure(get(client, key))).code, 'NOT_FOUND')
})

t.test('an entry whose output directory is not a valid Tree is a miss', async (t) => {
  const { client, cas } = await served(t)
  for (const bytes of [Buffer.from([0x0a, 0x7f]), Buffer.from([0x12, 2, 0x0a, 0x7f]), Buffer.from([0x80])]) {
    const tree = blobOf(bytes)
    await put(cas, tree)
    await update(client, key, { outputDirectories: [{ path: 'd', treeDigest: wire(tree.digest) }] })
    t.match(await failure(get(client, key)), { code: 'NOT_FOUND', message: /not a valid .*(Tree|Directory)/ })
  }
})

t.test('a result whose directory trees hold another content is a miss, and its bytes are in no error', async (t) => {
  const { client, cas } = await served(t)
  const log = blobOf('hello world, this is a log file\n'.repeat(10))
  const dirCodec = codec('build.bazel.remote.execution.v2.Directory')
  const treeCodec = codec('build.bazel.remote.execution.v2.Tree')
  const hash = 'ab'.repeat(32)
  const names = ['f', '\n\u0001f\u001b[31m', 'x'.repeat(5000)]
  const digests = [null, { hash: 'AB', sizeBytes: 1 }, { hash, sizeBytes: -1 }, { hash: '', sizeBytes: 0 }]
  const directories = names.flatMap((name) => digests.map((digest) => ({ files: [{ name, digest }] })))
  const nested = digests.map((digest) => ({ directories: [{ name: 'd\u0000', digest }] }))
  const blobs = [
    ...directories.map((root) => ({ tree: blobOf(treeCodec.encode({ root })), root: blobOf(dirCodec.encode(root)) })),
    ...nested.map((root) => ({ tree: undefined, root: blobOf(dirCodec.encode(root)) })),
    { tree: log, root: log },
  ]
  for (const { tree, root } of blobs) {
    for (const blob of [tree, root]) if (blob !== undefined) await put(cas, blob)
    const outputs = [
      ...(tree === undefined ? [] : [{ path: 'd', treeDigest: wire(tree.digest) }]),
      { path: 'd', rootDirectoryDigest: wire(root.digest) },
    ]
    for (const output of outputs) {
      await update(client, key, { outputDirectories: [output] })
      const { code, message } = await failure(get(client, key))
      t.equal(code, 'NOT_FOUND', message)
      t.match(message, /cannot be decoded/)
      t.match(message, /^[\x20-\x7e]{0,900}$/, 'only text')
      t.notMatch(message, /u001b|u0001|x{500}/)
    }
  }
})

t.test('an entry without outputs inside is sent as it is stored, without them otherwise', async (t) => {
  const ac = await memoryStore()
  const results = { of: () => ac }
  const instance = {
    cas: asCas(await memoryStore()),
    results,
    digestFunctions: [action.digest.function],
    isReadOnly: false,
  }
  const get = getActionResult({ instances: new Map([['', instance]]), maxResponseBytes: MIB })
  const noHints = { inlineStdout: false, inlineStderr: false, inlineOutputFiles: [] }
  const request = { instanceName: '', actionDigest: action.digest.toMessage(), digestFunction: 1, ...noHints }
  const again = () => get(request, { ...internalCall(), peer: '', metadata: new Map(), note: () => {} })
  const answerTo = async (entry: Buffer) => {
    await putBytes(ac, action.digest, entry, internalCall())
    return again()
  }
  const digest = wire(blobOf('one').digest)
  const stored = Buffer.concat([
    resultCodec.encode({ outputFiles: [{ path: 'a', digest }], stdoutDigest: digest, exitCode: 3 }),
    // A field of a later version of the protocol.
    Buffer.from([0xfa, 0x07, 0x01, 0x41]),
  ])
  const answer = await answerTo(stored)
  t.ok(answer instanceof EncodedMessage && answer.bytes.equals(stored))
  const inlined = [
    { outputFiles: [{ path: 'a', digest, contents: Buffer.from('one') }] },
    { stdoutDigest: digest, stdoutRaw: Buffer.from('one') },
    { stderrDigest: digest, stderrRaw: Buffer.from('one') },
  ]
  const many = Array.from({ length: 100 }, (_, at) => ({ path: `b${at}`, digest }))
  for (const { outputFiles: files = [], ...result } of inlined) {
    for (const outputFiles of [files, [...files, ...many]]) {
      const entry = resultCodec.encode({ ...result, outputFiles })
      // The second time it is known what a large entry contains.
      for (const answer of [await answerTo(entry), await again()]) {
        const { outputFiles, stdoutRaw, stderrRaw } = answer as ActionResult
        t.same([stdoutRaw, stderrRaw, ...outputFiles.map(({ contents }) => contents)].join(''), '')
      }
    }
  }
})
