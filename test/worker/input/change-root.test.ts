import { lstatSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { LruCache } from '../../../src/base/lru-cache.js'
import type { DirectoryInput } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import type { Digest } from '../../../src/reapi/digest.js'
import { type Directory, encodeDirectory } from '../../../src/reapi/directory.js'
import { internalCall } from '../../../src/rpc/call.js'
import { OpenDirectory } from '../../../src/worker/disk/open-directory.js'
import { newName } from '../../../src/worker/disk/session.js'
import { changeRoot } from '../../../src/worker/input/change-root.js'
import { type Difference, difference } from '../../../src/worker/input/difference.js'
import type { InputTree } from '../../../src/worker/input/merkle-tree.js'
import { filePlacer, makeInputRoot } from '../../../src/worker/input/root.js'
import { type RootState, readState } from '../../../src/worker/input/root-state.js'
import { readInputTree } from '../../../src/worker/input/tree.js'
import { FileStore } from '../file-store.js'
import { looks, numbersFrom, randomTree } from './random-tree.js'

const call = internalCall()
const options = { copies: false }

const setUp = (t: Test) => {
  const folder = t.testdir({ aside: {} })
  const store = new FileStore(join(folder, 'cas'))
  const known = new LruCache<Directory>(1 << 20)
  const treeOf = (root: Digest): Promise<InputTree> => readInputTree(root, store.cas, known, call)
  const aside = join(folder, 'aside')
  let roots = 0
  const made = async (tree: InputTree): Promise<string> => {
    const root = join(folder, `root${++roots}`)
    mkdirSync(root)
    await makeInputRoot(tree, root, store.cas, options, call)
    return root
  }
  return {
    store,
    treeOf,
    made,
    put: (directory: DirectoryInput): Digest => store.keep(encodeDirectory(directory)),
    stateOf: async (tree: InputTree, root: string): Promise<RootState> =>
      readState(tree.root, root, await linksIn(tree, root)),
    change: async (found: Difference, root: string, state: RootState, signal = call.signal): Promise<void> => {
      const [open, asideOpen] = [OpenDirectory.open(root), OpenDirectory.open(aside)]
      const place = filePlacer(root, store.cas, options, call)
      try {
        const folder = { folder: asideOpen, newName, isOver: () => false }
        await changeRoot(found, open, state, { aside: folder, place, signal })
      } finally {
        open.close()
        asideOpen.close()
      }
      t.same(readdirSync(aside), [], 'nothing is left aside')
    },
  }
}

/** The test's store links all files that have no mode or time of their own. */
const linksIn = async ({ files }: InputTree, root: string) =>
  files
    .filter(({ entry: { nodeProperties } }) => nodeProperties?.unixMode == null && nodeProperties?.mtime == null)
    .map((file) => {
      const { ino: inode, mtimeMs } = lstatSync(join(root, file.path))
      return { ...file, inode, mtimeMs }
    })

/** Without ctimes, which each further link changes. */
const comparable = (state: RootState) =>
  [...state]
    .map(([path, { mark, files }]) => ({
      path,
      mark,
      files: [...files]
        .map(([name, { ctimeMs: _, entry, ...file }]) => ({ name, key: entry.digest.key, ...file }))
        .sort((one, other) => (one.name < other.name ? -1 : 1)),
    }))
    .sort((one, other) => (one.path < other.path ? -1 : 1))

const SEEDS = 20
const CHANGES = 5

t.test('a root that is changed from tree to tree looks like one that was made for the last tree', async (t) => {
  for (let seed = 1; seed <= SEEDS; seed++) {
    const pick = numbersFrom(seed)
    const { store, treeOf, made, stateOf, change } = setUp(t)
    let tree = await treeOf(randomTree(pick, store))
    const root = await made(tree)
    const state = await stateOf(tree, root)
    for (let round = 1; round <= CHANGES; round++) {
      const wanted = await treeOf(randomTree(pick, store))
      await change(difference(tree.root, wanted.root), root, state)
      const anew = await made(wanted)
      const name = `seed ${seed}, change ${round}`
      t.equal(looks(root).join('\n'), looks(anew).join('\n'), name)
      t.same(comparable(state), comparable(await stateOf(wanted, root)), `${name}: the state`)
      rmSync(anew, { recursive: true })
      tree = wanted
    }
  }
})

t.test('what is equal in both trees is not touched, and costs nothing', async (t) => {
  const { store, treeOf, made, stateOf, change, put } = setUp(t)
  const file = (name: string, content = name) => ({ name, digest: store.keep(content).toMessage() })
  const same = put({ files: [file('s1'), file('s2')], symlinks: [{ name: 'l', target: 's1' }] }).toMessage()
  const rootWith = (content: string) =>
    put({
      directories: [
        { name: 'same', digest: same },
        { name: 'other', digest: put({ files: [file('kept'), file('new', content)] }).toMessage() },
      ],
    })
  const [one, two] = [await treeOf(rootWith('1')), await treeOf(rootWith('2'))]
  const root = await made(one)
  const state = await stateOf(one, root)
  const inodeOf = (path: string): number => lstatSync(join(root, path)).ino
  const paths = ['', 'same', 'same/s1', 'same/s2', 'same/l', 'other', 'other/kept']
  const before = paths.map(inodeOf)
  const found = difference(one.root, two.root)
  t.match(found, { made: 1, removed: 0, changes: [{ path: 'other', files: [{ name: 'new' }] }] })
  t.equal(found.changes.length, 1)
  t.same(
    found.blobs.map(({ key }) => key).sort(),
    [two.root.digest, two.root.children[0]?.digest, store.keep('2')].map((digest) => digest?.key).sort(),
  )
  await change(found, root, state)
  t.same(paths.map(inodeOf), before)
  t.same(looks(root), looks(await made(two)))
  t.same(difference(two.root, two.root), { changes: [], made: 0, removed: 0, placedFiles: 0, blobs: [] })
})

t.test('properties that no file system shows make no difference', async (t) => {
  const { store, treeOf, put } = setUp(t)
  const digest = store.keep('tool').toMessage()
  const nodeProperties = { properties: [{ name: 'bazel_tool_input', value: '' }] }
  const [plain, marked] = [
    await treeOf(put({ files: [{ name: 'tool', digest }] })),
    await treeOf(put({ files: [{ name: 'tool', digest, nodeProperties }] })),
  ]
  t.match(difference(plain.root, marked.root), { changes: [], made: 0, removed: 0 })
})

t.test('a change that is cancelled ends between two steps', async (t) => {
  const { store, treeOf, made, stateOf, change, put } = setUp(t)
  const one = await treeOf(put({ files: [{ name: 'f', digest: store.keep('1').toMessage() }] }))
  const two = await treeOf(put({ files: [{ name: 'f', digest: store.keep('2').toMessage() }] }))
  const root = await made(one)
  const state = await stateOf(one, root)
  await t.rejects(change(difference(one.root, two.root), root, state, AbortSignal.abort()), { code: 1 })
  t.same(looks(root), looks(await made(one)))
})

t.test('a symlink in the place of a directory leads nowhere', async (t) => {
  const { store, treeOf, made, stateOf, change, put } = setUp(t)
  const inside = (content: string) =>
    put({ files: [{ name: 'f', digest: store.keep(content).toMessage() }] }).toMessage()
  const one = await treeOf(put({ directories: [{ name: 'd', digest: inside('1') }] }))
  const two = await treeOf(put({ directories: [{ name: 'd', digest: inside('2') }] }))
  const [root, elsewhere] = [await made(one), await made(one)]
  const state = await stateOf(one, root)
  renameSync(join(root, 'd'), join(root, 'e'))
  symlinkSync(join(elsewhere, 'd'), join(root, 'd'))
  await t.rejects(change(difference(one.root, two.root), root, state), { code: 'ENOTDIR' })
  t.same(looks(elsewhere), looks(await made(one)))
})

t.test('a tree of 1,000 levels is compared and changed', async (t) => {
  const { store, treeOf, made, stateOf, change, put } = setUp(t)
  const deep = async (content: string): Promise<InputTree> => {
    let digest = put({ files: [{ name: 'f', digest: store.keep(content).toMessage() }] })
    for (let level = 0; level < 1000; level++)
      digest = put({ directories: [{ name: 'd', digest: digest.toMessage() }] })
    return treeOf(digest)
  }
  const [one, two] = [await deep('1'), await deep('2')]
  const root = await made(one)
  const state = await stateOf(one, root)
  await change(difference(one.root, two.root), root, state)
  t.same(looks(root), looks(await made(two)))
})
