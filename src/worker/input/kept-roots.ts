import type { Clock } from '../../base/clock.js'
import type { OpenDirectory } from '../disk/open-directory.js'
import { newName, type RunDirectory } from '../disk/session.js'
import { type Difference, difference } from './difference.js'
import type { InputDirectory } from './merkle-tree.js'
import { restoreRoot } from './restore-root.js'
import type { RootState } from './root-state.js'

/** Bound on the memory of the bookkeeping: some hundred bytes an entry of a root. */
const MAX_ENTRIES = 1_000_000
/** Roots whose differences are computed to find the best of them. Sketches choose them. */
const MAX_CANDIDATES = 4
/** A root is changed into another only if at most this share of the entries of the new one is made or removed for it. */
const MAX_CHANGED = 0.5
const SWEEP_MS = 60_000
/** Roots that the scheduler is told of, the ones used last. */
const MAX_TOLD = 1000

/** A reusable input root, which is exactly this tree. */
export interface KeptRoot {
  /** Identifies the callers that may see it, and the digest function. */
  readonly group: string
  readonly tree: InputDirectory
  readonly state: RootState
  readonly directory: RunDirectory
  /** The name of the root in `directory`; nothing else is there. */
  readonly name: string
  /** What the scheduler knows it by (`reapi/root-keys.ts`); none if it costs less to make than to wait for. */
  readonly warmKeys: readonly string[]
}

/** A root to change, and how. */
export interface SimilarRoot {
  readonly root: KeptRoot
  readonly difference: Difference
}

export interface KeptRootsOptions {
  readonly maxEntries: number
  /** Total size of the files in them; 0 for no limit. */
  readonly maxBytes: number
  /** How long an unused root is kept; 0 for no limit. */
  readonly maxAgeMs: number
  /** Removes the directory of a root. */
  readonly discard: (directory: RunDirectory) => void
  /** Called when `warmKeys`, `size` or `counts` may have changed. */
  readonly onChange?: (() => void) | undefined
  readonly clock: Clock
}

/** What became of input roots since the worker started, of those that are no private copies. */
export interface RootCounts {
  /** A kept root that was the wanted tree. */
  equal: number
  /** A similar kept root that was changed into it. */
  changed: number
  /** Made anew. */
  fresh: number
  /** Files of all these roots that were linked or copied, and that were there already. */
  placedFiles: number
  untouchedFiles: number
}

/** How the command left a root that is given back. */
export interface Leaving {
  /** Whether no process can write to the root any more. */
  readonly isQuiet: boolean | Promise<boolean>
  /** When the command began, in milliseconds since the epoch. */
  readonly sinceMs: number
}

/**
 * Keeps whole input roots between actions, so that an action with equal or similar inputs need not create them again. Each
 * root is used by one action at a time. The least recently used ones are removed first. A root that is taken is no longer
 * owned by this object until it is given back.
 */
export class KeptRoots {
  readonly #options: KeptRootsOptions
  /** By name of the directory, most recently used last. */
  readonly #kept = new Map<string, KeptRoot & { readonly keptMs: number }>()
  readonly #byKey = new Map<string, KeptRoot[]>()
  readonly #coming = new Set<Promise<void>>()
  /** In use, or given back and being verified: most of them are kept again soon. */
  readonly #lent = new Set<KeptRoot>()
  readonly counts: RootCounts = { equal: 0, changed: 0, fresh: 0, placedFiles: 0, untouchedFiles: 0 }
  readonly #endSweeps: () => void
  #bytes = 0
  #entries = 0
  #isClosed = false

  constructor(options: KeptRootsOptions) {
    this.#options = options
    this.#endSweeps = options.clock.every(SWEEP_MS, () => this.#removeOld())
  }

  get size(): number {
    return this.#kept.size
  }

  get fileBytes(): number {
    return this.#bytes
  }

  /** What actions ask the scheduler for that find a root here, or will when the one that uses it ends. */
  get warmKeys(): readonly string[] {
    const named = [...this.#kept.values(), ...this.#lent].filter(({ warmKeys }) => warmKeys.length > 0)
    return [...new Set(named.slice(-MAX_TOLD).flatMap(({ warmKeys }) => warmKeys))]
  }

  /** An attempt has got its input root in this way. */
  count(way: 'equal' | 'changed' | 'fresh', files: { readonly placed: number; readonly untouched: number }): void {
    this.counts[way] += 1
    this.counts.placedFiles += files.placed
    this.counts.untouchedFiles += files.untouched
    this.#options.onChange?.()
  }

  /** Takes a root with this key (`keyOf`) that is not in use; the caller owns it. */
  take(key: string): KeptRoot | undefined {
    for (let root = this.#byKey.get(key)?.at(-1); root !== undefined; root = this.#byKey.get(key)?.at(-1)) {
      if (this.#takeOut(root)) return root
    }
    return undefined
  }

  /**
   * Takes the root of this group that needs the fewest changes to become `wanted`; the caller owns it. Undefined if none
   * has so much in common with it that a change is worth it.
   */
  takeSimilar(group: string, wanted: InputDirectory): SimilarRoot | undefined {
    let best: SimilarRoot | undefined
    for (const root of this.#candidates(group, wanted)) {
      const found = { root, difference: difference(root.tree, wanted) }
      if (best === undefined || changesOf(found) < changesOf(best)) best = found
    }
    if (best === undefined || changesOf(best) > wanted.entryCount * MAX_CHANGED) return undefined
    return this.#takeOut(best.root) ? best : undefined
  }

  /** The roots whose sketches are the most similar, recently used ones first. */
  #candidates(group: string, wanted: InputDirectory): KeptRoot[] {
    const found: { readonly root: KeptRoot; readonly similarity: number }[] = []
    for (const root of this.#kept.values()) {
      if (root.group !== group) continue
      const similarity = wanted.sketch.similarity(root.tree.sketch)
      if (similarity > 0) found.push({ root, similarity })
    }
    found.reverse().sort((one, other) => other.similarity - one.similarity)
    return found.slice(0, MAX_CANDIDATES).map(({ root }) => root)
  }

  /** False if the directory is gone. */
  #takeOut(root: KeptRoot): boolean {
    this.#leave(root)
    if (root.directory.isThere()) {
      this.#lent.add(root)
      return true
    }
    this.#options.discard(root.directory)
    return false
  }

  /** The attempt that took this root has ended, whatever became of the root. */
  ended(root: KeptRoot): void {
    this.#lent.delete(root)
    this.#options.onChange?.()
  }

  /**
   * Keeps the root if it is quiet and unchanged except for additions of the command, which are removed. This is checked in
   * the background.
   */
  giveBack(root: KeptRoot, { isQuiet, sinceMs }: Leaving): void {
    this.#lent.add(root)
    const coming = Promise.resolve(isQuiet)
      .then((quiet) => quiet && this.#restored(root, sinceMs))
      .catch(() => false)
      .then((isRestored) => {
        if (isRestored && !this.#isClosed) this.keep(root)
        else this.#options.discard(root.directory)
        this.#coming.delete(coming)
        this.ended(root)
      })
    this.#coming.add(coming)
  }

  async #restored({ tree, state, directory, name }: KeptRoot, sinceMs: number): Promise<boolean> {
    const root: OpenDirectory | undefined = directory.open(name)
    if (root === undefined) return false
    const aside = { folder: directory.session.folder, newName, isOver: () => this.#isClosed }
    try {
      return await restoreRoot({ tree, state, sinceMs }, root, aside)
    } finally {
      root.close()
    }
  }

  /** The root must be exactly its tree. */
  keep(root: KeptRoot): void {
    const { maxEntries, maxBytes, discard, clock } = this.#options
    if (this.#isClosed) {
      discard(root.directory)
      return
    }
    const { tree, directory } = root
    const kept = { ...root, keptMs: clock.now() }
    this.#kept.set(directory.name, kept)
    const key = keyOf(root.group, tree)
    this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), kept])
    this.#bytes += tree.fileBytes
    this.#entries += tree.entryCount
    this.#options.onChange?.()
    for (const oldest of this.#kept.values()) {
      const isWithin = maxBytes === 0 || this.#bytes <= maxBytes
      if (this.#kept.size <= maxEntries && isWithin && this.#entries <= MAX_ENTRIES) return
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
    this.#endSweeps()
    await this.settle()
    for (const root of [...this.#kept.values()]) {
      this.#leave(root)
      this.#options.discard(root.directory)
    }
  }

  #removeOld(): void {
    const { maxAgeMs, clock, discard } = this.#options
    for (const root of this.#kept.values()) {
      if (maxAgeMs === 0 || root.keptMs + maxAgeMs > clock.now()) return
      this.#leave(root)
      this.#options.onChange?.()
      discard(root.directory)
    }
  }

  #leave(root: KeptRoot): void {
    if (!this.#kept.delete(root.directory.name)) return
    this.#bytes -= root.tree.fileBytes
    this.#entries -= root.tree.entryCount
    const key = keyOf(root.group, root.tree)
    const others = (this.#byKey.get(key) ?? []).filter(({ directory }) => directory !== root.directory)
    if (others.length > 0) this.#byKey.set(key, others)
    else this.#byKey.delete(key)
  }
}

/** The key of all roots that are equal and have the same group. */
export const keyOf = (group: string, { digest }: Pick<InputDirectory, 'digest'>): string => `${group}/${digest.key}`

const changesOf = ({ difference: { made, removed } }: SimilarRoot): number => made + removed
