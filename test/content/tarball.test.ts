import { text } from 'node:stream/consumers'
import t from 'tap'
import { tarball } from '../../src/content/tarball.js'
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
