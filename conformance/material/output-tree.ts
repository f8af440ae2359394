import { digestOf, type Exam } from '../exam/exam.js'
import { codec, type Output } from '../proto/codec.js'
import { type ActionResult, readBlob } from './action.js'
import { rawDirectory } from './input-tree.js'

export type Tree = Output<'build.bazel.remote.execution.v2.Tree'>
export const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

export const directoryOf = (exam: Exam, result: ActionResult, path: string) =>
  exam.present(
    result.outputDirectories.find((each) => each.path === path),
    `an OutputDirectory ${JSON.stringify(path)}`,
  )

/** The Tree of an output directory, and its bytes. */
export const treeOf = async (
  exam: Exam,
  result: ActionResult,
  path: string,
): Promise<{ tree: Tree; bytes: Buffer }> => {
  const digest = exam.present(directoryOf(exam, result, path).treeDigest, 'a tree_digest')
  const bytes = await readBlob(exam, digest)
  return { tree: treeCodec.decode(bytes), bytes }
}

/** The entries of a Tree by path, with kind and content or target. */
export const entriesOf = (exam: Exam, tree: Tree): string[] => {
  const all = new Map(
    [tree.root, ...tree.children].map((each) => [each ? digestOf(rawDirectory(each)).hash : '', each]),
  )
  const walk = (at: Tree['root'], path: string): string[] => [
    ...(at?.files ?? []).map(
      ({ name, digest, isExecutable }) => `${isExecutable ? 'x' : 'f'} ${path}${name} ${digest?.hash}`,
    ),
    ...(at?.symlinks ?? []).map(({ name, target }) => `l ${path}${name} ${target}`),
    ...(at?.directories ?? []).flatMap(({ name, digest }) => {
      const below = digest?.sizeBytes === 0 ? null : all.get(digest?.hash ?? '')
      exam.expect(below !== undefined, `the Directory of ${path}${name} in the Tree`, 'none')
      return [`d ${path}${name}`, ...walk(below ?? null, `${path}${name}/`)]
    }),
  ]
  return walk(tree.root, '')
}
