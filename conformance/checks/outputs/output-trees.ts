import protobuf from 'protobufjs/light.js'
import { CommandOutputDirectoryFormat } from '../../../src/proto/generated/build.bazel.remote.execution.v2.js'
import { type Digest, digestOf, EMPTY_DIGEST, type Exam } from '../../exam/exam.js'
import { onWorkers, RANDOM_LINE, readBlob, run } from '../../material/action.js'
import { decodeDirectory, rawDirectory } from '../../material/input-tree.js'
import { directoryOf, entriesOf, type Tree, told, treeCodec, treeOf } from '../../material/output-tree.js'
import type { Check } from '../../requirements/check.js'

const NESTED = 'mkdir -p d/a/b d/c && echo 1 > d/f && echo 2 > d/a/g && echo 3 > d/a/b/h && echo 4 > d/c/i'

/** Every Directory of a Tree by its digest; `reached` are those reachable from the root. */
const closure = (exam: Exam, tree: Tree): { known: Map<string, number>; reached: Set<string> } => {
  const all = [exam.present(tree.root, 'a root'), ...tree.children]
  const known = new Map(all.map((each, index) => [digestOf(rawDirectory(each)).hash, index]))
  const reached = new Set<string>()
  const walk = (index: number): void => {
    for (const { digest } of all[index]?.directories ?? []) {
      const next = known.get(digest?.hash ?? '')
      exam.expect(next !== undefined, 'every child named to be in the Tree', digest?.hash ?? 'no digest')
      if (next === undefined || reached.has(digest?.hash ?? '')) continue
      reached.add(digest?.hash ?? '')
      walk(next)
    }
  }
  walk(0)
  return { known, reached }
}

/** The field tags of a message in wire order. All its fields are length-delimited and numbered below 16. */
const tagsOf = (bytes: Buffer): number[] => {
  const reader = protobuf.Reader.create(bytes)
  const tags: number[] = []
  while (reader.pos < reader.len) {
    tags.push(reader.uint32())
    reader.skip(reader.uint32())
  }
  return tags
}

/** Every Directory below this one must be a blob. */
const expectDirectories = async (exam: Exam, root: Digest, count: number): Promise<void> => {
  const waiting = [root]
  let seen = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    seen++
    const { directories } = decodeDirectory(await readBlob(exam, next))
    waiting.push(...directories.map(({ digest }) => exam.present(digest, 'a digest for every DirectoryNode')))
  }
  exam.expectEqual(seen, count, 'the number of Directories in the CAS')
}

export const outputTreeChecks: readonly Check[] = onWorkers([
  {
    id: 'OUT-02',
    sends: 'A command that makes a directory; its Tree and all files in it are in the CAS.',
    run: async (exam) => {
      const { result } = await run(exam, { script: NESTED, command: { outputPaths: ['d'] }, outputDirectories: ['d'] })
      const { tree } = await treeOf(exam, result, 'd')
      const files = [tree.root, ...tree.children].flatMap((each) => each?.files ?? [])
      exam.expectEqual(files.map(({ name }) => name).sort(), ['f', 'g', 'h', 'i'], 'the names of the files')
      const digests = files.map(({ digest }) => exam.present(digest, 'a digest for every file'))
      exam.expectEqual(await exam.missing(digests), [], 'the missing files')
    },
  },
  {
    id: 'OUT-03',
    sends:
      'A directory of three levels; the Tree holds exactly the Directories reachable from its root, in canonical form.',
    run: async (exam) => {
      const { result } = await run(exam, { script: NESTED, command: { outputPaths: ['d'] }, outputDirectories: ['d'] })
      const { tree, bytes } = await treeOf(exam, result, 'd')
      const { known, reached } = closure(exam, tree)
      exam.expectEqual(reached.size, 3, 'the number of directories below the root')
      exam.expectEqual(known.size - 1, reached.size, 'the number of distinct children')
      exam.expectBytes(treeCodec.encode(tree), bytes, 'the Tree written again in canonical form')
      for (const each of [tree.root, ...tree.children]) {
        const names = (each?.files ?? []).map(({ name }) => name)
        exam.expectEqual(names, [...names].sort(), 'the names of a Directory')
      }
    },
  },
  {
    id: 'OUT-04',
    sends: 'Two commands that make equal directories in another order; equal Tree digests.',
    run: async (exam) => {
      const scripts = [
        'mkdir -p d/a d/b; echo 1 > d/a/f; echo 2 > d/b/g',
        'mkdir -p d/b d/a; echo 2 > d/b/g; echo 1 > d/a/f',
      ]
      const hashes: (string | undefined)[] = []
      for (const script of scripts) {
        const { result } = await run(exam, { script, command: { outputPaths: ['d'] }, outputDirectories: ['d'] })
        hashes.push(directoryOf(exam, result, 'd').treeDigest?.hash)
      }
      exam.expectEqual(hashes[0], hashes[1], 'the hash of the Tree')
    },
  },
  {
    id: 'OUT-05',
    sends: 'A directory with two equal subdirectories; is_topologically_sorted only if the Tree is.',
    run: async (exam) => {
      const script = `${NESTED} && cp -r d/a d/z && ${RANDOM_LINE} > d/r`
      const { result } = await run(exam, { script, command: { outputPaths: ['d'] }, outputDirectories: ['d'] })
      if (!directoryOf(exam, result, 'd').isTopologicallySorted) return exam.chose('does not claim sorted Trees')
      exam.chose('claims sorted Trees')
      const { tree, bytes } = await treeOf(exam, result, 'd')
      const all = [exam.present(tree.root, 'a root'), ...tree.children].map((each) => digestOf(rawDirectory(each)).hash)
      exam.expectEqual(new Set(all).size, all.length, 'the number of distinct Directories')
      for (const [index, each] of [tree.root, ...tree.children].entries()) {
        for (const { digest } of each?.directories ?? []) {
          exam.expect(all.indexOf(digest?.hash ?? '') > index, 'parents before children', `entry ${index}`)
        }
      }
      exam.expectEqual(tagsOf(bytes), [0x0a, ...tree.children.map(() => 0x12)], 'the tags of the Tree')
    },
  },
  {
    id: 'OUT-06',
    sends: 'DIRECTORY_ONLY, TREE_AND_DIRECTORY and an unknown format; the digests asked for, or those of TREE_ONLY.',
    run: async (exam) => {
      const { DIRECTORY_ONLY, TREE_AND_DIRECTORY } = CommandOutputDirectoryFormat
      for (const outputDirectoryFormat of [DIRECTORY_ONLY, TREE_AND_DIRECTORY, 99]) {
        const command = { outputPaths: ['d'], outputDirectoryFormat }
        const { result } = await run(exam, { script: NESTED, command, outputDirectories: ['d'] })
        const { treeDigest, rootDirectoryDigest } = directoryOf(exam, result, 'd')
        const isSet = treeDigest !== null || rootDirectoryDigest !== null
        exam.expect(isSet, 'tree_digest or root_directory_digest', 'neither')
        if (rootDirectoryDigest !== null) await expectDirectories(exam, rootDirectoryDigest, 4)
        const shown = [treeDigest && 'tree', rootDirectoryDigest && 'root'].filter(Boolean).join(' and ')
        exam.chose(`format ${outputDirectoryFormat}: ${shown}`)
        if (outputDirectoryFormat === 99) exam.expect(treeDigest !== null, 'a tree_digest', 'none')
      }
    },
  },
  {
    id: 'OUT-07',
    sends: 'TREE_AND_DIRECTORY; root_directory_digest is the digest of the root of the Tree.',
    run: async (exam) => {
      const outputDirectoryFormat = CommandOutputDirectoryFormat.TREE_AND_DIRECTORY
      const { result } = await run(exam, {
        script: NESTED,
        command: { outputPaths: ['d'], outputDirectoryFormat },
        outputDirectories: ['d'],
      })
      const { rootDirectoryDigest } = directoryOf(exam, result, 'd')
      if (rootDirectoryDigest === null) return exam.notApplicable('the server makes Trees only')
      const { tree } = await treeOf(exam, result, 'd')
      const root = rawDirectory(exam.present(tree.root, 'a root'))
      exam.expectEqual(rootDirectoryDigest.hash, digestOf(root).hash, 'the hash in root_directory_digest')
    },
  },
  {
    id: 'OUT-11',
    sends: 'A directory with symlinks to a file, a directory and nothing; they are SymlinkNodes.',
    run: async (exam) => {
      const script = 'mkdir -p d/sub; echo > d/sub/f; ln -s sub/f d/file; ln -s sub d/dir; ln -s nowhere d/none'
      const { result } = await run(exam, { script, command: { outputPaths: ['d'] }, outputDirectories: ['d'] })
      const { tree } = await treeOf(exam, result, 'd')
      const links = (tree.root?.symlinks ?? []).map(({ name, target }) => `${name}=${target}`)
      exam.expectEqual(links.sort(), ['dir=sub', 'file=sub/f', 'none=nowhere'], 'the symlinks')
    },
  },
  {
    id: 'OUT-16',
    sends: 'A directory of files, modes, symlinks and empty directories; the Tree holds exactly these entries.',
    run: async (exam) => {
      const script = `mkdir -p d/.a/b d/e/e d/x; printf 1 > d/.a/plain; printf 2 > d/.a/b/run; : > d/none
        chmod +x d/.a/b/run; chmod -x d/.a/plain d/none; ln -s ../none d/x/up; ln -s no/where d/dangling; ln -s b d/.a/dir`
      const { result } = await run(exam, { script, command: { outputPaths: ['d'] }, outputDirectories: ['d'] })
      const { tree } = await treeOf(exam, result, 'd')
      const expected = [
        'd .a',
        'd .a/b',
        'd e',
        'd e/e',
        'd x',
        `f .a/plain ${told(exam.digest(Buffer.from('1')))}`,
        `f none ${told(EMPTY_DIGEST)}`,
        'l .a/dir b',
        'l dangling no/where',
        'l x/up ../none',
        `x .a/b/run ${told(exam.digest(Buffer.from('2')))}`,
      ]
      exam.expectEqual(entriesOf(exam, tree).sort(), expected.sort(), 'the entries of the Tree')
    },
  },
  {
    id: 'OUT-12',
    sends: 'An empty directory; a Tree whose root is empty.',
    run: async (exam) => {
      const { result } = await run(exam, {
        script: 'mkdir -p d',
        command: { outputPaths: ['d'] },
        outputDirectories: ['d'],
      })
      const { tree } = await treeOf(exam, result, 'd')
      const root = tree.root === null ? Buffer.alloc(0) : rawDirectory(tree.root)
      exam.expectEqual([root.length, tree.children.length], [0, 0], 'the length of the root and the number of children')
    },
  },
])
