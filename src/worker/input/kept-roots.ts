import type { OpenDirectory } from '../disk/open-directory.js'
import { newName, type RunDirectory } from '../disk/session.js'
import type { InputTree } from './merkle-tree.js'
import type { InputLink } from './root.js'
import { type InputSnapshot, restoreRoot } from './snapshot.js'

/** Bound on the memory of the bookkeeping: some hundred bytes a file. */
const MAX_FILES = 1_000_000

/** A reusable input root, and its state when it was made. */
export interface KeptRoot {
  /** Identifies the tree and the instances that may see it. */
  readonly key: string
  readonly tree: InputTree
  readonly directory: RunDirectory
  /** The name of the root in `directory`; nothing else is there. */
  readonly name: string
  readonly links: readonly InputLink[]
  readonly snapshot: InputSnapshot
}

export interface KeptRootsOptions {
  readonly maxEntries: number
  /** Total size of the files in them; 0 for no limit. */
  readonly maxBytes: number
  /** Removes the directory of a root. */
  readonly discard: (directory: RunDirectory) => void
}

/**
 * Keeps whole input roots between actions, so that an action with the same inputs need not create them again. Each root
 * is used by one action at a time. The least recently used ones are removed first. A root that is taken is no longer
 * owned by this object until it is given back.
 */
export class KeptRoots {
  readonly #options: KeptRootsOptions
  /** Most recently used last. */
  readonly #kept = new Map<string, KeptRoot>()
  readonly #byKey = new Map<string, KeptRoot[]>()
  readonly #coming = new Set<Promise<void>>()
  #bytes = 0
  #files = 0
  #isClosed = false

  constructor(options: KeptRootsOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#kept.size
  }

  /** Takes a root that is not in use; the caller owns it. */
  take(key: string): KeptRoot | undefined {
    for (let root = this.#byKey.get(key)?.at(-1); root !== undefined; root = this.#byKey.get(key)?.at(-1)) {
      this.#leave(root)
      if (root.directory.isThere()) return root
      this.#options.discard(root.directory)
    }
    return undefined
  }

  /**
   * Keeps the root if no process can write to it any more (`isQuiet`) and its state is unchanged except for additions
   * of the command, which are removed. This is checked in the background.
   */
  giveBack(root: KeptRoot, isQuiet: boolean | Promise<boolean>): void {
    const coming = Promise.resolve(isQuiet)
      .then((quiet) => quiet && this.#restored(root))
      .catch(() => false)
      .then((isRestored) => {
        if (isRestored && !this.#isClosed) this.keep(root)
        else this.#options.discard(root.directory)
        this.#coming.delete(coming)
      })
    this.#coming.add(coming)
  }

  async #restored({ tree, snapshot, directory, name }: KeptRoot): Promise<boolean> {
    const root: OpenDirectory | undefined = directory.open(name)
    if (root === undefined) return false
    const aside = { folder: directory.session.folder, newName, isOver: () => this.#isClosed }
    try {
      return await restoreRoot(tree, snapshot, root, aside)
    } finally {
      root.close()
    }
  }

  /** The root must be in its original state. */
  keep(root: KeptRoot): void {
    const { maxEntries, maxBytes, discard } = this.#options
    this.#kept.set(root.directory.name, root)
    this.#byKey.set(root.key, [...(this.#byKey.get(root.key) ?? []), root])
    this.#bytes += bytesOf(root)
    this.#files += root.tree.files.length
    for (const oldest of this.#kept.values()) {
      const isWithin = maxBytes === 0 || this.#bytes <= maxBytes
      if (this.#kept.size <= maxEntries && isWithin && this.#files <= MAX_FILES) return
      this.#leave(oldest)
      discard(oldest.directory)
    }
  }

  /** Resolves when all roots given back are kept or discarded. */
  async settle(): Promise<void> {
    await Promise.all(this.#coming)
  }

  /** Discards all roots, also those given back later. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.settle()
    for (const root of [...this.#kept.values()]) {
      this.#leave(root)
      this.#options.discard(root.directory)
    }
  }

  #leave(root: KeptRoot): void {
    if (!this.#kept.delete(root.directory.name)) return
    this.#bytes -= bytesOf(root)
    this.#files -= root.tree.files.length
    const others = (this.#byKey.get(root.key) ?? []).filter((other) => other !== root)
    if (others.length > 0) this.#byKey.set(root.key, others)
    else this.#byKey.delete(root.key)
  }
}

const bytesOf = ({ tree }: KeptRoot): number => tree.files.reduce((sum, { entry }) => sum + entry.digest.sizeBytes, 0)
