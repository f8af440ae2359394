import type { Store } from '../../src/blobs/store.js'
import { Digest } from '../../src/reapi/digest.js'
import { digestFunctions } from '../../src/reapi/digest-function.js'
import { encodeDirectory } from '../../src/reapi/directory.js'
import { put } from '../service/harness.js'

/** A file with its text, a symlink with its target, or a directory. */
export type Node = string | { readonly target: string } | { readonly program: string } | Tree
export interface Tree {
  readonly [name: string]: Node
}

export const isTree = (node: Node): node is Tree =>
  typeof node !== 'string' && !('target' in node) && !('program' in node)

const { SHA256 } = digestFunctions

export const digestOf = (text: string): Digest => Digest.of(Buffer.from(text), SHA256)

/** Stores the directories of a tree. The contents of its files are not needed. */
export const putTree = async (cas: Store, tree: Tree): Promise<Digest> => {
  const files = []
  const symlinks = []
  const directories = []
  for (const [name, node] of Object.entries(tree)) {
    if (typeof node === 'string') files.push({ name, digest: digestOf(node).toMessage() })
    else if (isTree(node)) directories.push({ name, digest: (await putTree(cas, node)).toMessage() })
    else if ('target' in node) symlinks.push({ name, target: String(node['target']) })
    else files.push({ name, digest: digestOf(String(node['program'])).toMessage(), isExecutable: true })
  }
  const bytes = encodeDirectory({ files, symlinks, directories })
  const digest = Digest.of(bytes, SHA256)
  await put(cas, { digest, bytes })
  return digest
}
