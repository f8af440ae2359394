import { codec } from '../../../proto/codec.js'
import { absentDigest, onResult, onTree } from '../../execution.js'
import type { Mutation } from '../../mutation.js'

const directoryCodec = codec('build.bazel.remote.execution.v2.Directory')
const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

export const outputTreeMutations: readonly Mutation[] = [
  {
    name: 'tree-not-stored',
    breaks: 'The Tree of an output directory is not in the CAS.',
    caughtBy: ['OUT-02', 'OUT-03', 'OUT-11', 'OUT-12', 'CMD-11'],
    tamper: () =>
      onResult(({ outputDirectories }) => {
        for (const directory of outputDirectories) directory.treeDigest = absentDigest()
      }),
  },
  {
    name: 'tree-file-not-stored',
    breaks: 'A Tree names a file that is not in the CAS.',
    caughtBy: ['OUT-02'],
    tamper: () =>
      onTree(({ root }) => {
        if (root?.files[0]) root.files[0].digest = absentDigest()
        return undefined
      }),
  },
  {
    name: 'tree-without-children',
    breaks: 'A Tree holds its root only.',
    caughtBy: ['OUT-02', 'OUT-03'],
    tamper: () =>
      onTree((tree) => {
        tree.children = []
        return undefined
      }),
  },
  {
    name: 'tree-with-stray-child',
    breaks: 'A Tree holds a Directory that its root does not reach.',
    caughtBy: ['OUT-03'],
    tamper: () =>
      onTree((tree) => {
        tree.children.push(directoryCodec.decode(directoryCodec.encode({ symlinks: [{ name: 'x', target: 'stray' }] })))
        return undefined
      }),
  },
  {
    name: 'tree-not-canonical',
    breaks: 'A Tree is written with children before the root.',
    caughtBy: ['OUT-03', 'OUT-05'],
    tamper: () =>
      onTree((tree) => {
        const { root, children } = tree
        return Buffer.concat([treeCodec.encode({ children }), treeCodec.encode({ root })])
      }),
  },
  {
    name: 'tree-sorted-claimed-in-reverse',
    breaks: 'A Tree whose children stand before their parents is said to be topologically sorted.',
    caughtBy: ['OUT-05'],
    tamper: () =>
      onTree((tree, directory) => {
        tree.children.reverse()
        directory.isTopologicallySorted = true
        return undefined
      }),
  },
  {
    name: 'tree-sorted-claimed-with-duplicates',
    breaks: 'A Tree that holds a Directory twice is said to be topologically sorted.',
    caughtBy: ['OUT-05'],
    tamper: () =>
      onTree((tree, directory) => {
        tree.children.push(...tree.children.slice(-1))
        directory.isTopologicallySorted = true
        return undefined
      }),
  },
  {
    name: 'tree-differs-each-time',
    breaks: 'Equal directories get different Trees.',
    caughtBy: ['OUT-04'],
    tamper: () => {
      let made = 0
      return onTree((tree) => {
        if (made++ % 2 === 0) tree.children.reverse()
        return undefined
      })
    },
  },
  {
    name: 'tree-follows-symlinks',
    breaks: 'Symlinks inside an output directory are left out of its Tree.',
    caughtBy: ['OUT-11'],
    tamper: () =>
      onTree(({ root }) => {
        if (root) root.symlinks = []
        return undefined
      }),
  },
  {
    name: 'tree-of-empty-directory-missing',
    breaks: 'An empty output directory has no tree_digest.',
    caughtBy: ['OUT-12'],
    tamper: () =>
      onResult(({ outputDirectories }) => {
        for (const directory of outputDirectories) {
          if ((directory.treeDigest?.sizeBytes ?? 0) < 10) directory.treeDigest = null
        }
      }),
  },
  {
    name: 'directory-digest-not-stored',
    breaks: 'root_directory_digest names a Directory that is not in the CAS.',
    caughtBy: ['OUT-06', 'OUT-07'],
    tamper: () =>
      onResult(({ outputDirectories }) => {
        for (const directory of outputDirectories)
          if (directory.rootDirectoryDigest) directory.rootDirectoryDigest = absentDigest()
      }),
  },
  {
    name: 'directory-format-without-digest',
    breaks: 'With a format other than TREE_ONLY an output directory has no digest at all.',
    caughtBy: ['OUT-06'],
    tamper: () =>
      onResult(({ outputDirectories }) => {
        for (const directory of outputDirectories) {
          directory.treeDigest = null
          directory.rootDirectoryDigest = null
        }
      }),
  },
]
