import fc from 'fast-check'
import t from 'tap'
import { Ledger } from '../../src/ledger/ledger.js'
import { compareTrees, type TreeSide } from '../../src/misses/tree-difference.js'
import { treeInBlob, treeInCas } from '../../src/misses/tree-sides.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../src/reapi/directory.js'
import { TreeBuilder } from '../../src/reapi/tree.js'
import { internalCall } from '../../src/rpc/call.js'
import { asCas } from '../../src/store/view/cas.js'
import { memoryStore, put } from '../service/harness.js'
import { digestOf, isTree, type Node, putTree, type Tree } from './trees.js'

const call = internalCall()

const names = fc.constantFrom('a', 'b', 'ä', 'lib', 'x.o')
const { tree: trees } = fc.letrec<{ node: Node; tree: Tree }>((tie) => ({
  node: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom('one', 'two'),
    fc.record({ target: fc.constantFrom('a', 'b') }),
    fc.record({ program: fc.constantFrom('one', 'two') }),
    tie('tree'),
  ),
  tree: fc.dictionary(names, tie('node'), { maxKeys: 4 }),
}))

/** What a comparison of all that both trees have finds. */
const naive = (before: Tree, now: Tree, at = ''): string[] =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((name) => {
    const [was, is] = [before[name], now[name]]
    const path = at === '' ? name : `${at}/${name}`
    if (was !== undefined && is !== undefined && isTree(was) && isTree(is)) return naive(was, is, path)
    const [a, b] = [was, is].map((node) => (node === undefined || isTree(node) ? typeof node : JSON.stringify(node)))
    return a === b ? [] : [path]
  })

t.test('random trees: the walk finds what a comparison of everything finds', async (t) => {
  const cas = asCas(await memoryStore())
  await fc.assert(
    fc.asyncProperty(trees, trees, async (before, now) => {
      const roots = [await putTree(cas, before), await putTree(cas, now)] as const
      const found = await compareTrees(treeInCas(cas, roots[0], call), treeInCas(cas, roots[1], call), call)
      t.strictSame(found.changes.map(({ path }) => path).sort(), naive(before, now).sort())
      t.equal(found.isComplete, true)
      t.strictSame(found.unread, [])
    }),
    { numRuns: 300 },
  )
})

t.test('what changed is told: contents, kind, permission, target', async (t) => {
  const cas = asCas(await memoryStore())
  const side = async (tree: Tree): Promise<TreeSide> => treeInCas(cas, await putTree(cas, tree), call)
  const before = await side({ a: '1', b: '1', c: '1', d: { target: 'a' }, e: { f: '1' }, g: {} })
  const now = await side({ a: '2', b: { program: '1' }, c: { target: 'a' }, d: { target: 'b' }, e: { f: '2' }, h: {} })
  const { changes } = await compareTrees(before, now, call)
  t.match(Object.fromEntries(changes.map(({ path, before: was, now: is }) => [path, [was, is]])), {
    a: [{ digest: digestOf('1') }, { digest: digestOf('2') }],
    b: [{ isExecutable: false }, { isExecutable: true }],
    c: [{ kind: 'file' }, { kind: 'symlink' }],
    d: [{ target: 'a' }, { target: 'b' }],
    g: [{ kind: 'directory' }, undefined],
    h: [undefined, { kind: 'directory' }],
    'e/f': [{ kind: 'file' }, { kind: 'file' }],
  })
})

t.test('of two trees of 100,000 files that differ in one, only the directories on its way are read', async (t) => {
  const blobs = new Map<string, Buffer>()
  const add = (directory: Parameters<typeof encodeDirectory>[0]): Digest => {
    const bytes = encodeDirectory(directory)
    const digest = Digest.of(bytes, digestFunctions.SHA256)
    blobs.set(digest.key, bytes)
    return digest
  }
  const digest = digestOf('same').toMessage()
  const treeOf = (special: number): Digest => {
    const directories = Array.from({ length: 100 }, (_, index) => {
      const file = (number: number) => ({
        name: `f${number}`,
        digest: index * 1000 + number === special ? digestOf('other').toMessage() : digest,
      })
      return { name: `d${index}`, digest: add({ files: Array.from({ length: 1000 }, (_, n) => file(n)) }).toMessage() }
    })
    return add({ directories })
  }
  let reads = 0
  const side = (root: Digest): TreeSide => ({
    root,
    read: async ({ key }) => {
      reads += 1
      return blobs.get(key) as Buffer
    },
  })
  const { changes } = await compareTrees(side(treeOf(-1)), side(treeOf(54_321)), call)
  t.strictSame(
    changes.map(({ path }) => path),
    ['d54/f321'],
  )
  t.equal(reads, 4)
})

t.test('a tree that differs everywhere, without end, reaches a bound', async (t) => {
  const digestAt = (side: string, depth: number): Digest => digestOf(`${side} ${depth}`)
  /** Two subdirectories in each directory, and each is as deep as one likes: a tree no store could hold. */
  const endless = (name: string): TreeSide => ({
    root: digestAt(name, 0),
    read: async (directory) => {
      const depth = depthOf.get(directory.key) ?? 0
      const next = digestAt(name, depth + 1)
      depthOf.set(next.key, depth + 1)
      const entry = (which: string) => ({ name: which, digest: next.toMessage() })
      return encodeDirectory({ directories: [entry('left'), entry('right')] })
    },
  })
  const depthOf = new Map<string, number>()
  const found = await compareTrees(endless('before'), endless('now'), call, { maxPairs: 500 })
  t.match(found, { changes: [], unread: [], isComplete: false })

  const cas = asCas(await memoryStore())
  const many = (text: string): Tree => Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, text]))
  const [one, other] = [await putTree(cas, many('one')), await putTree(cas, many('two'))]
  const bounded = await compareTrees(treeInCas(cas, one, call), treeInCas(cas, other, call), call, { maxChanges: 20 })
  t.match(bounded, { isComplete: false, changes: { length: 20 } })
})

t.test('a directory that is absent, too large or damaged is named; the rest is compared', async (t) => {
  const cas = asCas(await memoryStore())
  const before = await putTree(cas, { gone: { a: '1' }, there: { a: '1' }, 'other.txt': '1' })
  const now = await putTree(cas, { gone: { a: '2' }, there: { a: '2' }, 'other.txt': '2' })
  const gone = await putTree(cas, { a: '2' })
  const lost: TreeSide = {
    root: now,
    read: (digest) =>
      digest.key === gone.key && lostOnce.push(1) === 1 ? Promise.resolve(Buffer.from('\xff')) : readNow(digest),
  }
  const lostOnce: number[] = []
  const readNow = (digest: Digest): Promise<Buffer> => treeInCas(cas, now, call).read(digest)
  const damaged = await compareTrees(treeInCas(cas, before, call), lost, call)
  t.match(damaged.unread, [{ path: 'gone', side: 'now', reason: /not a valid/ }])
  t.strictSame(
    damaged.changes.map(({ path }) => path),
    ['other.txt', 'there/a'],
  )

  await cas.remove(gone, 'unwanted', call)
  const absent = await compareTrees(treeInCas(cas, before, call), treeInCas(cas, now, call), call)
  t.match(absent.unread, [
    { path: 'gone', side: 'now', reason: /not in the CAS/ },
    { path: 'there', side: 'now', reason: /not in the CAS/ },
  ])
  const large = await compareTrees(treeInCas(cas, before, call), treeInCas(cas, now, call), call, {
    maxDirectoryBytes: 10,
  })
  t.match(large, { changes: [], unread: [{ path: '', reason: /larger than 10 bytes/ }, { side: 'now' }] })
  const other = Digest.of(Buffer.from('x'), digestFunctions.BLAKE3)
  const functions = await compareTrees(treeInCas(cas, before, call), treeInCas(cas, other, call), call)
  t.match(functions, { isComplete: false, unread: [{ reason: /BLAKE3 .* SHA256/ }] })
})

/** As a store has it that does not check digests: a directory whose subdirectories are itself. */
const cyclic = (names: readonly string[], mark: string): TreeSide => {
  const root = digestOf(mark)
  const bytes = encodeDirectory({ directories: names.map((name) => ({ name, digest: root.toMessage() })) })
  return { root, read: async () => bytes }
}

t.test('trees that contain themselves end at a path that no system accepts, or at another bound', async (t) => {
  const found = await compareTrees(cyclic(['n'.repeat(100)], 'one'), cyclic(['n'.repeat(100)], 'other'), call)
  t.match(found, { changes: [], unread: [{ reason: /path has more than 4096/ }] })
  t.equal(found.unread[0]?.path.length, 4096)
  const names = Array.from({ length: 1000 }, (_, at) => `name ${at}`)
  let reads = 0
  const counted = ({ root, read }: TreeSide): TreeSide => ({
    root,
    read: (directory) => {
      reads += 1
      return read(directory)
    },
  })
  const wide = await compareTrees(counted(cyclic(names, 'one')), counted(cyclic(names, 'other')), call, {
    maxEntries: 20_000,
  })
  t.match(wide, { changes: [], unread: [], isComplete: false })
  t.ok(reads <= 40, `${reads} reads`)
})

t.test('directories that differ in too many entries are named, not compared', async (t) => {
  const symlinks = (target: string) => Array.from({ length: 140_000 }, (_, at) => ({ name: String(at), target }))
  const side = (target: string): TreeSide => {
    const bytes = encodeDirectory({ symlinks: symlinks(target) })
    return { root: Digest.of(bytes, digestFunctions.SHA256), read: async () => bytes }
  }
  const found = await compareTrees(side('a'), side('b'), call)
  t.match(found, { changes: [], unread: [{ path: '', reason: /280000 entries lie between/ }] })
})

t.test('a Tree of too many directories is refused', async (t) => {
  const cas = asCas(await memoryStore())
  const builder = new TreeBuilder(digestFunctions.SHA256)
  for (let at = 0; at < 20; at++) builder.add({ symlinks: [{ name: String(at), target: 'x' }] })
  const tree = builder.tree()
  await put(cas, tree)
  const ledger = new Ledger()
  const held = { ledger, holder: ledger.instance('') }
  const counted = { ...call, held } as typeof call
  await t.rejects(treeInBlob(cas, tree.digest, counted, 10), { message: /has more than 10 directories/ })
  t.equal(ledger.kinds.trees.heldBytes, 0)
  const side = await treeInBlob(cas, tree.digest, counted)
  t.ok(ledger.kinds.trees.heldBytes > tree.digest.sizeBytes)
  side.release()
  t.equal(ledger.kinds.trees.heldBytes, 0)
})

t.test('output directories are compared as the Tree that they are', async (t) => {
  const cas = asCas(await memoryStore())
  const treeWith = async (text: string): Promise<Digest> => {
    const builder = new TreeBuilder(digestFunctions.SHA256)
    const sub = builder.add({ files: [{ name: 'f', digest: digestOf(text).toMessage() }] })
    builder.add({ directories: [{ name: 'sub', digest: sub.toMessage() }] })
    const tree = builder.tree()
    await put(cas, tree)
    return tree.digest
  }
  const [before, now] = [await treeWith('1'), await treeWith('2')]
  const { changes } = await compareTrees(await treeInBlob(cas, before, call), await treeInBlob(cas, now, call), call)
  t.strictSame(
    changes.map(({ path }) => path),
    ['sub/f'],
  )
})

t.test('a comparison ends with its call', async (t) => {
  const cas = asCas(await memoryStore())
  const [one, other] = [await putTree(cas, { a: '1' }), await putTree(cas, { a: '2' })]
  const ended = internalCall({ signal: AbortSignal.abort() })
  await t.rejects(compareTrees(treeInCas(cas, one, call), treeInCas(cas, other, call), ended), { code: 1 })
})
