import { buffer, text } from 'node:stream/consumers'
import t from 'tap'
import { putBytes } from '../../src/blobs/store.js'
import { checkTree, tarball } from '../../src/content/tarball.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../src/reapi/directory.js'
import { internalCall } from '../../src/rpc/call.js'
import { memoryStore } from '../service/harness.js'

const named = (count: number) => Array.from({ length: count }, (_, at) => `name ${at}`)

/** As a store has it that does not check digests: a directory whose subdirectories are itself. */
const cyclic = async (names: readonly string[], maxEntries: number): Promise<string> => {
  const root = Digest.of(Buffer.from('root'), digestFunctions.SHA256)
  const bytes = encodeDirectory({ directories: names.map((name) => ({ name, digest: root.toMessage() })) })
  const options = { cas: await memoryStore(), read: async () => bytes, call: internalCall(), maxEntries }
  return text(tarball(root, options))
}

t.test('a directory that contains itself breaks off, however often it does', async (t) => {
  await t.rejects(cyclic(['n'.repeat(100)], 1000), { message: /path of the tree has more than 4096 characters/ })
  await t.rejects(cyclic(['n'], 1000), { message: /too many entries/ })
  // The third directory would make 1,200 wait.
  await t.rejects(cyclic(named(400), 1000), { message: /too many entries/ })
})

t.test('a directory that is too large breaks off before it is read', async (t) => {
  const root = Digest.parse({ hash: 'a'.repeat(64), sizeBytes: 17 * 1024 * 1024 }, digestFunctions.SHA256)
  const read = () => t.fail('it is read')
  const options = { cas: await memoryStore(), read: async () => Buffer.from(String(read())), call: internalCall() }
  await t.rejects(text(tarball(root, options)), { message: /too large for a tarball/ })
})

t.test('modes and times of any value give a header that tar reads', async (t) => {
  const cas = await memoryStore()
  const digest = Digest.of(Buffer.alloc(0), digestFunctions.SHA256).toMessage()
  const files = [
    { name: 'a', digest, nodeProperties: { unixMode: { value: 0o104755 }, mtime: { seconds: -5 } } },
    { name: 'b', digest, nodeProperties: { unixMode: { value: 0xffffffff }, mtime: { seconds: 253_402_300_799 } } },
  ]
  const bytes = encodeDirectory({ files })
  await putBytes(cas, Digest.of(Buffer.alloc(0), digestFunctions.SHA256), Buffer.alloc(0), internalCall())
  const root = Digest.of(bytes, digestFunctions.SHA256)
  const tar = await buffer(tarball(root, { cas, read: async () => bytes, call: internalCall() }))
  const fields = [0, 512].map((at) => [
    tar.toString('latin1', at + 100, at + 107),
    tar.toString('latin1', at + 136, at + 147),
  ])
  t.same(fields, [
    ['0000755', '00000000000'],
    ['0000777', '77777777777'],
  ])
})

t.test('a name that is no path segment ends the tarball before its entry, however deep', async (t) => {
  const bad = encodeDirectory({ symlinks: [{ name: '..', target: 'x' }] })
  let bytes = bad
  const known = new Map<string, Buffer>()
  // More than are looked at before an answer begins.
  for (let depth = 0; depth < 300; depth++) {
    const digest = Digest.of(bytes, digestFunctions.SHA256)
    known.set(digest.key, bytes)
    bytes = encodeDirectory({ directories: [{ name: 'd', digest: digest.toMessage() }] })
  }
  const root = Digest.of(bytes, digestFunctions.SHA256)
  known.set(root.key, bytes)
  const read = async ({ key }: Digest): Promise<Buffer> => known.get(key) ?? Buffer.alloc(0)
  const options = { cas: await memoryStore(), read, call: internalCall() }
  await checkTree(root, options)
  await t.rejects(text(tarball(root, options)), { message: /is not a valid name, expected one path segment/ })
})

t.test('symlinks wait for their reader too: what comes behind them is not read before', async (t) => {
  const sub = encodeDirectory({})
  const symlinks = Array.from({ length: 20_000 }, (_, at) => ({ name: String(at).padStart(5, '0'), target: 'x' }))
  const directories = [{ name: 'sub', digest: Digest.of(sub, digestFunctions.SHA256).toMessage() }]
  const bytes = encodeDirectory({ symlinks, directories })
  const root = Digest.of(bytes, digestFunctions.SHA256)
  const asked: string[] = []
  const read = async ({ key }: Digest): Promise<Buffer> => {
    asked.push(key)
    return key === root.key ? bytes : sub
  }
  const tar = tarball(root, { cas: await memoryStore(), read, call: internalCall() })
  for (let turn = 0; turn < 500; turn++) await new Promise(setImmediate)
  t.same(asked, [root.key])
  t.equal((await buffer(tar)).length % 512, 0)
  t.equal(asked.length, 2)
})
