import type { DirectoryBytes, Store } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import { FilesAhead } from './files-ahead.js'

/**
 * How deep trees are read level by level. Directories above are new in most actions, while many of those below are known:
 * a whole tree that is fetched for its root would mostly be there already.
 */
const FIRST_LEVEL = 2
/** More unknown Directories on that level are fetched by one request for the whole tree. */
const MAX_SUBTREES = 16

/**
 * Has the store fetch subtrees of an input tree from a far server before they are read. Otherwise each level of the tree
 * costs a round trip. The files of what arrives are fetched meanwhile.
 */
export class TreesAhead {
  readonly #root: Digest
  readonly #store: Store
  readonly #call: Call
  readonly #beside: FilesAhead | undefined
  #subtrees = 0
  #whole: Promise<void> | undefined

  constructor(root: Digest, store: Store, call: Call) {
    this.#root = root
    this.#store = store
    this.#call = call
    this.#beside = store.files && new FilesAhead(store.files, call)
  }

  /** The tree is known. */
  end(): void {
    this.#beside?.end()
  }

  /** To be awaited before an unknown Directory is read. `depth` is 0 for the root. */
  async fetch(digest: Digest, depth: number): Promise<void> {
    const { files } = this.#store
    if (depth !== FIRST_LEVEL || files?.populateTree === undefined || digest.isEmpty) return
    const onArrived = (directories: readonly DirectoryBytes[]): void => this.#beside?.add(directories)
    if (++this.#subtrees <= MAX_SUBTREES) return files.populateTree(digest, this.#call, onArrived)
    this.#whole ??= files.populateTree(this.#root, this.#call, onArrived)
    return this.#whole
  }
}
