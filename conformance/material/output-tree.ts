import { type Digest, digestOf, EMPTY_DIGEST, type Exam } from '../exam/exam.js'
import { codec, type Output } from '../proto/codec.js'
import { type ActionResult, readBlob } from './action.js'
import { canonicalTarget } from './edges.js'
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

/** A digest in full, as the entries of a Tree tell it. */
export const told = (digest: Digest | null | undefined): string => `${digest?.hash}/${digest?.sizeBytes}`

/** The entries of a Tree by path, with kind and content (hash and size) or canonical target. */
export const entriesOf = (exam: Exam, tree: Tree): string[] => {
  const all = new Map([tree.root, ...tree.children].map((each) => [told(each && digestOf(rawDirectory(each))), each]))
  const walk = (at: Tree['root'], path: string): string[] => [
    ...(at?.files ?? []).map(
      ({ name, digest, isExecutable }) => `${isExecutable ? 'x' : 'f'} ${path}${name} ${told(digest)}`,
    ),
    ...(at?.symlinks ?? []).map(({ name, target }) => `l ${path}${name} ${canonicalTarget(target)}`),
    ...(at?.directories ?? []).flatMap(({ name, digest }) => {
      const below = told(digest) === told(EMPTY_DIGEST) ? null : all.get(told(digest))
      exam.expect(below !== undefined, `the Directory of ${path}${name} in the Tree`, `none of ${told(digest)}`)
      return [`d ${path}${name}`, ...walk(below ?? null, `${path}${name}/`)]
    }),
  ]
  return walk(tree.root, '')
}
