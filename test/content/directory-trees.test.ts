import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { Code } from '../../src/base/status-error.js'
import { DirectoryTrees } from '../../src/content/directory-trees.js'
import { codec } from '../../src/proto/codec.js'
import { Digest } from '../../src/reapi/digest.js'
import { type Blob, blobOf, put, SHA256, wire } from '../service/harness.js'
import { call } from '../store/blobs.js'
import { memoryStore } from '../store/build.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')

/** A chain of so many directories, the root first. */
const chain = (count: number): Blob[] => {
  const blobs: Blob[] = []
  for (let at = 0; at < count; at++) {
    const [below] = blobs
    const directories = below === undefined ? [] : [{ name: 'below', digest: wire(below.digest) }]
    blobs.unshift(blobOf(directoryCodec.encode({ directories })))
  }
  return blobs
}

const WALK = { maxDirectoryBytes: 1000, onMissing: (digest: Digest) => t.fail(`${digest.key} is missing`) }

t.test('a tree may have as many directories as the limit says, and no more', async (t) => {
  const cas = await memoryStore()
  const directories = chain(4)
  await put(cas, ...directories)
  const walked = async (root: Blob | undefined): Promise<number> => {
    const digest = root?.digest ?? Digest.of(Buffer.alloc(0), SHA256)
    let count = 0
    for await (const _ of new DirectoryTrees({ maxDirectories: 3 }).walk(cas, digest, call, WALK)) count++
    return count
  }
  t.equal(await walked(directories[1]), 3)
  await t.rejects(walked(directories[0]), { code: Code.RESOURCE_EXHAUSTED })
})

t.test('a tree waits for its turn, and the next one for its end', async (t) => {
  const trees = new DirectoryTrees({ permits: 1, maxWaiting: 1 })
  const parts = async function* (text: string): AsyncGenerator<string> {
    yield text
  }
  const first = trees.inTurn(call, () => parts('first'))
  t.same(await first.next(), { done: false, value: 'first' })
  let said = ''
  const second = trees
    .inTurn(call, () => parts('second'))
    .next()
    .then(({ value }) => {
      said = value
    })
  for (let turn = 0; turn < 20; turn++) await setImmediate()
  t.equal(said, '', 'the first has not ended')
  await first.return(undefined)
  await second
  t.equal(said, 'second')
})
