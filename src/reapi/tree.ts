import { codec } from '../proto/codec.js'
import type { DirectoryInput } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from './digest.js'
import type { DigestFunction } from './digest-function.js'
import { canonical, encodeDirectory } from './directory.js'

const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

/** A blob that was made here. */
export interface MadeBlob {
  readonly digest: Digest
  readonly bytes: Buffer
}

/**
 * Makes the Tree of an output directory. Directories are added children first, the root last; equal ones are kept once.
 * The reverse of that order has every parent before its children, which is what `is_topologically_sorted` promises
 * (REAPI OutputDirectory), and equal directories give equal Trees as long as they are added in the order of their names.
 */
export class TreeBuilder {
  readonly #digestFunction: DigestFunction
  readonly #directories = new Map<string, { readonly message: DirectoryInput; readonly blob: MadeBlob }>()
  #root: { readonly message: DirectoryInput; readonly blob: MadeBlob } | undefined

  constructor(digestFunction: DigestFunction) {
    this.#digestFunction = digestFunction
  }

  /** The digest under which a parent refers to this directory. */
  add(directory: DirectoryInput): Digest {
    const message = canonical(directory)
    const bytes = encodeDirectory(message)
    const digest = Digest.of(bytes, this.#digestFunction)
    const added = { message, blob: { digest, bytes } }
    if (!this.#directories.has(digest.key)) this.#directories.set(digest.key, added)
    this.#root = added
    return digest
  }

  /** The Tree whose root is the directory added last. */
  tree(): MadeBlob {
    const root = this.#root
    const children = [...this.#directories.values()].filter(({ blob }) => blob.digest.key !== root?.blob.digest.key)
    const bytes = treeCodec.encode({
      root: root?.message ?? {},
      children: children.reverse().map(({ message }) => message),
    })
    return { digest: Digest.of(bytes, this.#digestFunction), bytes }
  }

  /** Every Directory by itself, for `root_directory_digest`. */
  directories(): MadeBlob[] {
    return [...this.#directories.values()].map(({ blob }) => blob)
  }
}
