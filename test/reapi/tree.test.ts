import fc from 'fast-check'
import t from 'tap'
import { codec } from '../../src/proto/codec.js'
import type { Tree } from '../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../src/reapi/directory.js'
import { TreeBuilder } from '../../src/reapi/tree.js'

const { SHA256 } = digestFunctions
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

interface Folder {
  readonly [name: string]: Folder
}

const add = (builder: TreeBuilder, folder: Folder): ReturnType<TreeBuilder['add']> =>
  builder.add({
    directories: Object.keys(folder)
      .sort()
      .map((name) => ({ name, digest: add(builder, folder[name] ?? {}).toMessage() })),
  })

const treeOf = (folder: Folder): { tree: Tree; bytes: Buffer; builder: TreeBuilder } => {
  const builder = new TreeBuilder(SHA256)
  add(builder, folder)
  const { bytes } = builder.tree()
  return { tree: treeCodec.decode(bytes), bytes, builder }
}

const { folder } = fc.letrec<{ folder: Folder }>((tie) => ({
  folder: fc.oneof(
    { maxDepth: 5, depthSize: 'large' },
    fc.constant({}),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('folder'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

t.test('OUT-03, OUT-05 a Tree is closed, unique and has parents before children', async (t) => {
  fc.assert(
    fc.property(folder, (folder) => {
      const { tree, bytes } = treeOf(folder)
      const place = new Map<string, number>()
      const all = tree.root === null ? [] : [tree.root, ...tree.children]
      for (const [index, directory] of all.entries()) {
        const hash = SHA256.hash(encodeDirectory(directory))
        if (place.has(hash)) throw new Error('a directory is stored twice')
        place.set(hash, index)
      }
      const referenced = new Set<string>()
      for (const [index, directory] of all.entries()) {
        for (const { digest } of directory.directories) {
          const child = place.get(digest?.hash ?? '') ?? -1
          if (child <= index) throw new Error('a child is missing or stands before its parent')
          referenced.add(digest?.hash ?? '')
        }
      }
      if (referenced.size !== all.length - 1) throw new Error('a directory has no parent')
      for (let at = 0, first = true; at < bytes.length; first = false) {
        if (bytes[at] !== (first ? 0x0a : 0x12)) throw new Error('an unexpected tag')
        let length = 0
        let shift = 0
        for (at++; ; at++) {
          const byte = bytes[at] ?? 0
          length |= (byte & 0x7f) << shift
          shift += 7
          if (byte < 0x80) break
        }
        at += 1 + length
      }
    }),
  )
  t.pass()
})

t.test('OUT-04 equal directories give equal Trees', async (t) => {
  const one = treeOf({ a: { x: {} }, b: { y: { z: {} } } })
  const two = treeOf({ b: { y: { z: {} } }, a: { x: {} } })
  t.ok(one.bytes.equals(two.bytes))
})

t.test('OUT-12 an empty directory is a Tree with an empty root', async (t) => {
  const { tree, bytes, builder } = treeOf({})
  t.not(tree.root, null)
  t.same(tree.children, [])
  t.same([...bytes], [0x0a, 0])
  t.equal(builder.directories().length, 1)
})

t.test('OUT-07 the last directory is the root', async (t) => {
  const { tree, builder } = treeOf({ a: {}, b: { c: {} } })
  const made = builder.directories().map(({ digest }) => digest.hash)
  t.equal(made.length, 3)
  t.equal(tree.root === null ? '' : SHA256.hash(encodeDirectory(tree.root)), made.at(-1))
})
