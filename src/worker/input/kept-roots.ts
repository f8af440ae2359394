import type { OpenDirectory } from '../disk/open-directory.js'
import { newName, type RunDirectory } from '../disk/session.js'
import type { InputLink } from './root.js'
import { type InputSnapshot, restoreRoot } from './snapshot.js'
import type { InputTree } from './tree.js'

/** Of what is known of them the files take some hundred bytes each. */
const MAX_FILES = 1_000_000

/** An input root that was made for an action, and how it was then. */
export interface KeptRoot {
  /** Of the tree, and of whom it may be shown to. */
  readonly key: string
  readonly tree: InputTree
  readonly directory: RunDirectory
  /** What the root is called in it; nothing else is there. */
  readonly name: string
  readonly links: readonly InputLink[]
  readonly snapshot: InputSnapshot
}

export interface KeptRootsOptions {
  readonly maxEntries: number
  /** Of the files in them; 0 for no limit. */
  readonly maxBytes: number
  /** Removes the directory of a root. */
  readonly discard: (directory: RunDirectory) => void
}

/**
 * Whole input roots between actions, each for one action at a time: what takes one has its inputs without a look at any of
 * them. Those that were used last stay. A root that is not given back is no more of this.
 */
export class KeptRoots {
  readonly #options: KeptRootsOptions
  /** The one used last is the last. */
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

  /** One that nobody else has now. */
  take(key: string): KeptRoot | undefined {
    for (let root = this.#byKey.get(key)?.at(-1); root !== undefined; root = this.#byKey.get(key)?.at(-1)) {
      this.#leave(root)
      if (root.directory.isThere()) return root
      this.#options.discard(root.directory)
    }
    return undefined
  }

  /**
   * It is kept when nothing can write to it any more (`isQuiet`) and it is as it was made, without what the command added; that is
   * looked at in the background.
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

  /** It has to be as it was made. */
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

  /** Resolves when what was given back is kept or discarded. */
  async settle(): Promise<void> {
    await Promise.all(this.#coming)
  }

  /** Discards all of them, and what is given back later. */
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
