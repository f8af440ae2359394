import { codec } from '../proto/codec.js'
import type { DirectoryInput } from '../proto/generated/build.bazel.remote.execution.v2.js'
import { Digest } from './digest.js'
import type { DigestFunction } from './digest-function.js'
import { canonical, encodeDirectory } from './directory.js'

const treeCodec = codec('build.bazel.remote.execution.v2.Tree')

/** A blob created by this process. */
export interface MadeBlob {
  readonly digest: Digest
  readonly bytes: Buffer
}

/**
 * Builds the Tree of an output directory. Add children before their parents and the root last; equal
 * directories are stored once. The Tree lists them in reverse, so parents precede children, as
 * `is_topologically_sorted` promises (REAPI OutputDirectory). Add directories in the order of their names:
 * then equal directories give equal Trees.
 */
export class TreeBuilder {
  readonly #digestFunction: DigestFunction
  readonly #directories = new Map<string, { readonly message: DirectoryInput; readonly blob: MadeBlob }>()
  #root: { readonly message: DirectoryInput; readonly blob: MadeBlob } | undefined

  constructor(digestFunction: DigestFunction) {
    this.#digestFunction = digestFunction
  }

  /** Returns the digest by which a parent refers to this directory. */
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

  /** Every Directory as a blob of its own, for `root_directory_digest`. */
  directories(): MadeBlob[] {
    return [...this.#directories.values()].map(({ blob }) => blob)
  }
}
