import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import t, { type Test } from 'tap'
import { StatusError } from '../../../src/base/status-error.js'
import { missingOf } from '../../../src/blobs/store.js'
import { Ledger } from '../../../src/ledger/ledger.js'
import { codec } from '../../../src/proto/codec.js'
import type { Command, DigestInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from '../../../src/reapi/digest.js'
import { digestFunctions } from '../../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../../src/reapi/directory.js'
import { internalCall } from '../../../src/rpc/call.js'
import { claimsOf } from '../../../src/worker/command/claim.js'
import { loadLibc } from '../../../src/worker/command/libc.js'
import { collectOutputs, makeOutputParents } from '../../../src/worker/output/collect.js'
import type { OutputBlob } from '../../../src/worker/output/file.js'
import { LinkTargets } from '../../../src/worker/output/links.js'
import { OutputSizes } from '../../../src/worker/output/sizes.js'
import { uploadBlobs } from '../../../src/worker/output/upload.js'
import { deepest } from '../disk/deep.js'
import { FileStore } from '../file-store.js'

const { SHA256, BLAKE3 } = digestFunctions
const links = new LinkTargets({ root: '/nosuch/work/root', covered: [], workDirectory: '/nosuch/work' })
const call = internalCall()
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')
const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')
const commandCodec = codec('build.bazel.remote.execution.v2.Command')

const kept = () => {
  const ledger = new Ledger()
  return ledger.kinds.outputs.reserveOrThrow(ledger.attempt(), 0)
}

const command = (parts: Parameters<typeof commandCodec.encode>[0]): Command =>
  commandCodec.decode(commandCodec.encode({ arguments: ['x'], ...parts }))

const setUp = (t: Test) => {
  const directory = t.testdir({ root: {}, outside: { secret: 'secret' } })
  const root = join(directory, 'root')
  return {
    directory,
    root,
    store: new FileStore(join(directory, 'cas')),
    file: (path: string, text = path) => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
      return Digest.of(Buffer.from(text), SHA256)
    },
    collect: (parts: Parameters<typeof commandCodec.encode>[0], digestFunction = SHA256) =>
      collectOutputs(command(parts), root, { digestFunction, kept: kept(), signal: call.signal, links }),
  }
}

const blobOf = (blobs: readonly OutputBlob[], digest: DigestInput | null | undefined): Buffer => {
  const blob = blobs.find((blob) => blob.digest.hash === digest?.hash)
  if (!Buffer.isBuffer(blob?.source)) throw new Error(`no bytes for ${digest?.hash}`)
  return blob.source
}

t.test('OUT-01, OUT-14, CMD-13 a file', async (t) => {
  const { collect, file, root } = setUp(t)
  const digest = file('a/plain')
  file('a/tool')
  chmodSync(join(root, 'a/tool'), 0o755)
  const { result, blobs } = await collect({ outputPaths: ['a/plain', 'a/tool'] })
  t.match(result.outputFiles, [
    { path: 'a/plain', digest: digest.toMessage(), isExecutable: false, nodeProperties: null },
    { path: 'a/tool', isExecutable: true },
  ])
  t.equal(blobs.length, 2)
})

t.test('CMD-04 outputs are relative to the working directory, their paths are as requested', async (t) => {
  const { collect, file } = setUp(t)
  file('a/x')
  file('y')
  const { result } = await collect({ workingDirectory: 'a', outputPaths: ['x', '../y', './x'] })
  t.same(
    result.outputFiles?.map(({ path }) => path),
    ['x', '../y', './x'],
  )
})

t.test('CMD-05 only parent directories are created before the run', async (t) => {
  const { root, file, directory } = setUp(t)
  file('there/f')
  const parts = { workingDirectory: 'there', outputPaths: ['p/q/out', 'f', '', '../other/dir'] }
  makeOutputParents(command(parts), root)
  t.ok(existsSync(join(root, 'there/p/q')) && existsSync(join(root, 'other')))
  t.notOk(existsSync(join(root, 'there/p/q/out')) || existsSync(join(root, 'other/dir')))
  makeOutputParents(command({ outputFiles: ['l/f'], outputDirectories: ['m/d'] }), root)
  t.ok(existsSync(join(root, 'l')) && existsSync(join(root, 'm')))
  t.notOk(existsSync(join(root, 'm/d')))

  symlinkSync('there', join(root, 'inside'))
  makeOutputParents(command({ outputPaths: ['inside/new/x'] }), root)
  t.ok(existsSync(join(root, 'there/new')))
  symlinkSync(join(directory, 'outside'), join(root, 'out'))
  t.throws(() => makeOutputParents(command({ outputPaths: ['out/new/x'] }), root), { code: 9, message: /"out" is not/ })
  t.notOk(existsSync(join(directory, 'outside/new')))
  t.throws(() => makeOutputParents(command({ outputPaths: ['there/f/x'] }), root), {
    code: 9,
    message: /"there\/f" is not/,
  })
})

t.test('CMD-06, CMD-07 legacy fields count when output_paths is empty', async (t) => {
  const { collect, file } = setUp(t)
  for (const name of ['p', 'f', 'd/x']) file(name)
  const legacy = { outputFiles: ['f'], outputDirectories: ['d'] }
  t.match((await collect(legacy)).result, { outputFiles: [{ path: 'f' }], outputDirectories: [{ path: 'd' }] })
  const { result } = await collect({ ...legacy, outputPaths: ['p'] })
  t.match(result, { outputFiles: [{ path: 'p' }] })
  t.same(result.outputDirectories, [])
})

t.test(
  'a directory at a path of output_files is an output directory, also with symlinks to directories in it',
  async (t) => {
    const { collect, file, root } = setUp(t)
    file('d/real/x')
    symlinkSync('real', join(root, 'd/alias'))
    symlinkSync('d', join(root, 'link'))
    const { result, blobs } = await collect({ outputFiles: ['d', 'link', 'd/alias/x'] })
    t.match(result.outputDirectories, [{ path: 'd' }])
    const tree = treeCodec.decode(blobOf(blobs, result.outputDirectories?.[0]?.treeDigest))
    t.match(tree.root, { directories: [{ name: 'real' }], symlinks: [{ name: 'alias', target: 'real' }] })
    t.match(result.outputFiles, [{ path: 'd/alias/x' }])
    t.match(result.outputDirectorySymlinks, [{ path: 'link', target: 'd' }], 'the kind is that of its target')
    t.same(result.outputFileSymlinks, [])
  },
)

t.test('CMD-08 an output of the wrong kind', async (t) => {
  const { collect, file } = setUp(t)
  file('f')
  await t.rejects(collect({ outputDirectories: ['f'] }), {
    code: 9,
    message: /output "f": .* a file there, expected a dir/,
  })
})

t.test('CMD-09, CMD-12 outputs that do not exist are left out, undeclared files are discarded', async (t) => {
  const { collect, file } = setUp(t)
  file('there')
  file('extra')
  const { result, blobs } = await collect({ outputPaths: ['no', 'no/such', 'there/below', 'there'] })
  t.same(
    result.outputFiles?.map(({ path }) => path),
    ['there'],
  )
  t.equal(blobs.length, 1)
})

t.test('OUT-02, OUT-03, OUT-11 a directory with all kinds of entries', async (t) => {
  const { collect, file, root } = setUp(t)
  file('d/b/deep/leaf', 'same')
  file('d/a/deep/leaf', 'same')
  file('d/f')
  mkdirSync(join(root, 'd/empty'))
  symlinkSync('../f', join(root, 'd/a/link'))
  symlinkSync('/nosuch', join(root, 'd/dangling'))
  symlinkSync('a', join(root, 'd/to-directory'))
  const { result, blobs } = await collect({ outputPaths: ['d'] })
  t.match(result.outputDirectories, [{ path: 'd', isTopologicallySorted: true }])
  const tree = treeCodec.decode(blobOf(blobs, result.outputDirectories?.[0]?.treeDigest))
  t.same(
    tree.root?.directories.map(({ name }) => name),
    ['a', 'b', 'empty'],
  )
  t.match(tree.root?.symlinks, [
    { name: 'dangling', target: '/nosuch' },
    { name: 'to-directory', target: 'a' },
  ])
  t.equal(tree.children.length, 4, 'a, b, empty and the one deep, which is shared')
  const known = new Map(tree.children.map((child) => [SHA256.hash(encodeDirectory(child)), child]))
  const a = known.get(tree.root?.directories[0]?.digest?.hash ?? '')
  t.match(a?.symlinks, [{ name: 'link', target: '../f' }])
  t.match(known.get(a?.directories[0]?.digest?.hash ?? '')?.files, [{ name: 'leaf' }])
})

t.test('an output whose name or target is not UTF-8 is an error, not left out', async (t) => {
  const { collect, file, root } = setUp(t)
  file('d/fine')
  const bytes = (text: string) => Buffer.from(join(root, text), 'latin1')
  writeFileSync(bytes('d/caf\xe9'), '')
  const refusal = (problem: RegExp) => ({ code: 9, message: problem })
  await t.rejects(collect({ outputPaths: ['d'] }), refusal(/^output "d": the command made a name .*: "caf\\xe9"$/))
  rmSync(bytes('d/caf\xe9'))
  mkdirSync(bytes('d/x\xff'))
  await t.rejects(collect({ outputPaths: ['d'] }), refusal(/"x\\xff"$/))
  rmdirSync(bytes('d/x\xff'))
  symlinkSync(Buffer.from('\xe9', 'latin1'), join(root, 'd/link'))
  await t.rejects(collect({ outputPaths: ['d'] }), refusal(/^output "d": .* a symlink target .*: "\\xe9"$/))
  await t.rejects(collect({ outputPaths: ['d/link'] }), refusal(/^output "d\/link": .*: "\\xe9"$/))
  rmSync(join(root, 'd/link'))
  writeFileSync(join(root, 'd/caf\u00e9 \ufffd'), '')
  const { result, blobs } = await collect({ outputPaths: ['d'] })
  const tree = treeCodec.decode(blobOf(blobs, result.outputDirectories?.[0]?.treeDigest))
  t.match(tree.root, { files: [{ name: 'caf\u00e9 \ufffd' }, { name: 'fine' }] })
})

t.test('OUT-04 equal directories give equal Trees', async (t) => {
  const { collect, file } = setUp(t)
  const names = ['x/1', 'x/2/3', 'y/1', 'z', 'y/2/3', 'x/é', 'x/\u{10000}', 'x/\uffee']
  for (const name of names) file(`one/${name}`, name)
  for (const name of names.toReversed()) file(`two/${name}`, name)
  const { result } = await collect({ outputPaths: ['one', 'two'] })
  const [one, two] = result.outputDirectories ?? []
  t.same(one?.treeDigest, two?.treeDigest)
})

t.test('OUT-06, OUT-07 the requested format', async (t) => {
  const { collect, file } = setUp(t)
  file('d/a/b')
  const directoryOf = async (outputDirectoryFormat: number) => {
    const { result, blobs } = await collect({ outputPaths: ['d'], outputDirectoryFormat })
    return { blobs, directory: result.outputDirectories?.[0] }
  }
  t.notOk((await directoryOf(0)).directory?.rootDirectoryDigest)
  const only = await directoryOf(1)
  t.notOk(only.directory?.treeDigest || only.directory?.isTopologicallySorted)
  const root = directoryCodec.decode(blobOf(only.blobs, only.directory?.rootDirectoryDigest))
  t.match(directoryCodec.decode(blobOf(only.blobs, root.directories[0]?.digest)).files, [{ name: 'b' }])
  const both = await directoryOf(2)
  const tree = treeCodec.decode(blobOf(both.blobs, both.directory?.treeDigest))
  t.equal(both.directory?.rootDirectoryDigest?.hash, tree.root && SHA256.hash(encodeDirectory(tree.root)))
  const unknown = await directoryOf(99)
  t.ok(unknown.directory?.treeDigest)
  t.notOk(unknown.directory?.rootDirectoryDigest)
})

t.test('OUT-08, OUT-09 symlinks are reported as they are', async (t) => {
  const { collect, file, root, directory } = setUp(t)
  file('f')
  mkdirSync(join(root, 'd'))
  symlinkSync('f', join(root, 'to-file'))
  symlinkSync('nosuch', join(root, 'dangling'))
  symlinkSync(join(directory, 'outside'), join(root, 'absolute'))
  symlinkSync('nowhere', join(root, 'lost'))
  const outputPaths = ['to-file', 'dangling', 'absolute']
  const { result } = await collect({ outputPaths })
  t.match(result.outputSymlinks, [
    { path: 'to-file', target: 'f' },
    { path: 'dangling', target: 'nosuch' },
    { path: 'absolute', target: join(directory, 'outside') },
  ])
  t.same([result.outputFiles, result.outputFileSymlinks, result.outputDirectorySymlinks], [[], [], []])
  const legacy = (await collect({ outputFiles: ['to-file'], outputDirectories: ['absolute', 'lost'] })).result
  t.match(legacy.outputFileSymlinks, [{ path: 'to-file', target: 'f' }])
  t.match(legacy.outputDirectorySymlinks, [{ path: 'absolute' }, { path: 'lost' }])
  t.match(legacy.outputSymlinks, [{ path: 'to-file' }, { path: 'absolute' }, { path: 'lost' }])
})

t.test('symlinks are not followed out of the input root', async (t) => {
  const { collect, root, directory, file } = setUp(t)
  symlinkSync(join(directory, 'outside'), join(root, 'out'))
  await t.rejects(collect({ outputPaths: ['out/secret'] }), { code: 9, message: /"out" leads out of the input root/ })
  file('real/x')
  symlinkSync('real', join(root, 'alias'))
  t.match((await collect({ outputPaths: ['alias/x'] })).result, { outputFiles: [{ path: 'alias/x' }] })
})

t.test('OUT-12 an empty directory', async (t) => {
  const { collect, root } = setUp(t)
  mkdirSync(join(root, 'd'))
  const { result, blobs } = await collect({ outputPaths: ['d'] })
  const tree = treeCodec.decode(blobOf(blobs, result.outputDirectories?.[0]?.treeDigest))
  t.not(tree.root, null)
  t.same(tree.root?.files, [])
})

t.test('CMD-11 "" is the whole working directory', async (t) => {
  const { collect, file } = setUp(t)
  file('above')
  file('w/x')
  for (const parts of [{ outputPaths: [''] }, { outputDirectories: [''] }]) {
    const { result, blobs } = await collect({ workingDirectory: 'w', ...parts })
    t.match(result.outputDirectories, [{ path: '' }])
    const tree = treeCodec.decode(blobOf(blobs, result.outputDirectories?.[0]?.treeDigest))
    t.match(tree.root?.files, [{ name: 'x' }])
  }
})

t.test('OUT-13 special files are left out and not read', async (t) => {
  const { collect, file, root } = setUp(t)
  file('d/x')
  execFileSync('mkfifo', [join(root, 'fifo'), join(root, 'd/fifo')])
  const { result, blobs } = await collect({ outputPaths: ['fifo', 'd'] })
  t.same(result.outputFiles, [])
  const tree = treeCodec.decode(blobOf(blobs, result.outputDirectories?.[0]?.treeDigest))
  t.same(
    tree.root?.files.map(({ name }) => name),
    ['x'],
  )
})

t.test('CMD-22 requested node properties', async (t) => {
  const { collect, file, root } = setUp(t)
  file('d/x')
  chmodSync(join(root, 'd/x'), 0o640)
  utimesSync(join(root, 'd/x'), 1_000_000_000.5, 1_000_000_000.5)
  symlinkSync('x', join(root, 'd/link'))
  const both = { mtime: { seconds: 1_000_000_000, nanos: 500_000_000 }, unixMode: { value: 0o640 } }
  const { result, blobs } = await collect({ outputPaths: ['d/x', 'd'], outputNodeProperties: ['mtime', 'unix_mode'] })
  t.match(result.outputFiles, [{ nodeProperties: both }])
  const tree = treeCodec.decode(blobOf(blobs, result.outputDirectories?.[0]?.treeDigest))
  t.match(tree.root?.files, [{ nodeProperties: both }])
  t.ok(tree.root?.nodeProperties?.unixMode?.value)
  t.ok(tree.root?.symlinks[0]?.nodeProperties?.mtime)
  const mode = await collect({ outputPaths: ['d/x'], outputNodeProperties: ['unix_mode'] })
  t.match(mode.result.outputFiles, [{ nodeProperties: { mtime: null, unixMode: { value: 0o640 } } }])
})

t.test('EXE-45 digests use the digest function of the action', async (t) => {
  const { collect, file } = setUp(t)
  file('f', 'text')
  const { result } = await collect({ outputPaths: ['f'] }, BLAKE3)
  t.equal(result.outputFiles?.[0]?.digest?.hash, BLAKE3.hash(Buffer.from('text')))
})

t.test('EXE-50, OUT-15 only missing blobs of any size are uploaded, each once', async (t) => {
  const { collect, file, root, store } = setUp(t)
  store.keep('known')
  const sizes = [0, 1, 65_536, 65_537, 9_000_000]
  for (const [index, size] of sizes.entries()) {
    file(`d/${index}`)
    truncateSync(join(root, `d/${index}`), size)
  }
  for (let index = 0; index < 200; index++) file(`d/many${index}`, `${index}`.repeat(20_000))
  file('d/known', 'known')
  file('d/twice1', 'twice')
  file('d/twice2', 'twice')
  const { blobs } = await collect({ outputPaths: ['d'] })
  let uploads = 0
  await uploadBlobs(blobs, store.cas, 60_000, call, { onUpload: () => uploads++ })
  t.equal(uploads, 1)
  t.same(
    await missingOf(
      store,
      blobs.map(({ digest }) => digest),
      call,
    ),
    [],
  )
  t.equal(new Set(store.written).size, store.written.length)
  t.notOk(store.written.includes(Digest.of(Buffer.from('known'), SHA256).key))
  for (const { digest } of blobs.filter(({ digest }) => !digest.isEmpty)) {
    if (SHA256.hash(store.bytesOf(digest)) !== digest.hash) t.fail(`wrong bytes under ${digest}`)
  }
  await uploadBlobs(blobs, store.cas, 60_000, call, { onUpload: () => uploads++ })
  t.equal(uploads, 1, 'nothing to do the second time')
})

t.test('outputs are uploaded concurrently', async (t) => {
  const { collect, file, store } = setUp(t)
  for (let index = 0; index < 16; index++) file(`d/${index}`, `${index}`.repeat(100_000))
  const { blobs } = await collect({ outputPaths: ['d'] })
  let isFull: () => void = () => {}
  const full = new Promise<void>((resolve) => {
    isFull = resolve
  })
  let coming = 0
  const { reserve } = store.files
  store.files.reserve = async (call) => {
    if (++coming === 16) isFull()
    // With sequential uploads, the sixteenth would never start.
    await full
    return reserve(call)
  }
  await uploadBlobs(blobs, store.cas, 60_000, call)
  t.equal(coming, 16)
})

t.test('an upload that hangs is ended', async (t) => {
  const { collect, file, store } = setUp(t)
  file('f')
  const { blobs } = await collect({ outputPaths: ['f'] })
  store.put = (_digest, blob, { signal }) => blob.into([new Writable({ write: () => {} })], signal)
  await t.rejects(uploadBlobs(blobs, store.cas, 50, call), { code: 4, message: /could not be uploaded in 0.05 s/ })
})

t.test('an output directory of 3,000 nested directories is collected', async (t) => {
  const { root, collect } = setUp(t)
  mkdirSync(join(root, 'd'))
  try {
    const last = deepest(join(root, 'd'), 3000, 'a')
    writeFileSync(last.below('f'), 'deep')
    last.close()
    const { result, blobs } = await collect({ outputPaths: ['d'] })
    const { root: top, children } = treeCodec.decode(blobOf(blobs, result.outputDirectories?.[0]?.treeDigest))
    t.equal(children.length, 3000)
    const messages = new Map(
      children.map((directory) => [Digest.of(encodeDirectory(directory), SHA256).hash, directory] as const),
    )
    let directory = top
    for (let depth = 0; depth < 3000; depth++)
      directory = messages.get(directory?.directories[0]?.digest?.hash ?? '') ?? null
    t.match(directory?.files, [{ name: 'f', digest: Digest.of(Buffer.from('deep'), SHA256).toMessage() }])
  } finally {
    // Node cannot remove a directory whose path exceeds the maximum length.
    execFileSync('rm', ['-rf', join(root, 'd')])
  }
})

t.test('hashing a large output ends with its call', async (t) => {
  const { root, file } = setUp(t)
  file('out')
  truncateSync(join(root, 'out'), 2 ** 40)
  const controller = new AbortController()
  const collected = collectOutputs(command({ outputPaths: ['out'] }), root, {
    digestFunction: SHA256,
    kept: kept(),
    signal: controller.signal,
    links,
  })
  controller.abort(new StatusError('ABORTED', 'killed'))
  await t.rejects(collected, { code: 10, message: 'killed' })
})

t.test('the length of an output is checked against the limits before its bytes are read', async (t) => {
  const { root, file } = setUp(t)
  const asked: string[] = []
  const sizesOf = (diskBytes: number) =>
    new OutputSizes({
      diskBytes,
      maxBlobBytes: async () => {
        asked.push('the store')
        return 1e9
      },
    })
  const collect = (sizes: OutputSizes) =>
    collectOutputs(command({ outputPaths: ['d'] }), root, {
      digestFunction: SHA256,
      kept: kept(),
      signal: call.signal,
      sizes,
      links,
    })
  file('d/small')
  const fitting = sizesOf(1_000_000)
  await collect(fitting)
  t.notOk(fitting.isExceeded)
  t.same(asked, [], 'the store is not asked about small files')
  file('d/long')
  truncateSync(join(root, 'd/long'), 2 ** 40)
  const disk = sizesOf(1_000_000)
  await t.rejects(collect(disk), { code: 8, message: 'output "d": the outputs have more than 1000000 bytes' })
  t.ok(disk.isExceeded)
  const store = sizesOf(0)
  const message = 'output "d": the file has 1099511627776 bytes, the store takes at most 1000000000'
  await t.rejects(collect(store), { code: 8, message })
  t.ok(store.isExceeded)
  t.same(asked, ['the store'])
})

const libc = loadLibc()

t.test(
  'a process that keeps an output open cannot write to the blob',
  { skip: !libc && 'without koffi' },
  async (t) => {
    const { root, store, file, collect } = setUp(t)
    const text = 'x'.repeat(300_000)
    const digest = file('out', text)
    const place = join(root, 'out')
    const before = statSync(place)
    const spoil = (fd: number): void => {
      writeSync(fd, 'spoilt', 0)
      utimesSync(place, before.atime, before.mtime)
      closeSync(fd)
    }
    const options = { claim: claimsOf(libc) }
    const inode = () => statSync(store.path(digest)).ino

    await t.test('a file that is not open is moved', async (t) => {
      const { blobs } = await collect({ outputPaths: ['out'] })
      await uploadBlobs(blobs, store.cas, 60_000, call, options)
      t.equal(inode(), before.ino)
      store.drop(digest)
    })
    await t.test('a file that is open for writing is copied', async (t) => {
      file('out', text)
      const fd = openSync(place, 'r+')
      const { blobs } = await collect({ outputPaths: ['out'] })
      await uploadBlobs(blobs, store.cas, 60_000, call, options)
      spoil(fd)

      t.equal(store.bytesOf(digest).toString(), text)
    })
    await t.test(
      'a file that is open for reading is copied, because the reader may reopen it for writing',
      async (t) => {
        store.drop(digest)
        file('out', text)
        const fd = openSync(place, 'r')
        const { blobs } = await collect({ outputPaths: ['out'] })
        await uploadBlobs(blobs, store.cas, 60_000, call, options)
        spoil(openSync(`/proc/self/fd/${fd}`, 'r+'))
        closeSync(fd)
        t.equal(store.bytesOf(digest).toString(), text)
      },
    )
    await t.test('a file that was changed after it was hashed is refused', async (t) => {
      store.drop(digest)
      file('out', text)
      const { blobs } = await collect({ outputPaths: ['out'] })
      // The clock of the file system is coarse.
      const { ctimeMs } = statSync(place)
      do spoil(openSync(place, 'r+'))
      while (statSync(place).ctimeMs === ctimeMs)
      await t.rejects(uploadBlobs(blobs, store.cas, 60_000, call, options), { code: 13, message: /changed meanwhile/ })
      t.notOk(store.has(digest))
    })
  },
)
