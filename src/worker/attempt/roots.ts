import { errnoOf, inWords } from '../../base/errno.js'
import type { Digest } from '../../reapi/digest.js'
import type { Call } from '../../rpc/call.js'
import type { Store } from '../../store/contract/store.js'
import { newName } from '../disk/session.js'
import { changeRoot } from '../input/change-root.js'
import { type KeptRoot, keyOf, type SimilarRoot } from '../input/kept-roots.js'
import { leaseInputs } from '../input/lease.js'
import { InputTree } from '../input/merkle-tree.js'
import { type FileOptions, filePlacer, type InputLink } from '../input/root.js'
import { readState } from '../input/root-state.js'
import type { Execution, Processes } from './execution.js'
import type { AttemptRequest } from './request.js'

/** An input root before its command runs, without its location. */
type MadeRoot = Omit<KeptRoot, 'directory' | 'name'>

/** What is needed to put other files into a root. */
export interface ChangeParts {
  readonly store: Store
  readonly files: FileOptions
  readonly call: Call
  /** Called when something has to be fetched. */
  readonly onFetch: () => void
}

/** The input roots that one attempt takes from the kept ones, and leaves for other attempts. */
export class AttemptRoots {
  readonly #processes: Processes
  readonly #scope: string
  #taken: KeptRoot | undefined
  #left: { readonly execution: Execution; readonly made: MadeRoot; readonly sinceMs: number } | undefined

  constructor(processes: Processes, { isIsolated, instanceName, scope = '' }: AttemptRequest) {
    this.#processes = processes
    this.#scope = JSON.stringify([isIsolated === true ? instanceName : null, scope])
  }

  /** Takes a kept root, if there is one, and returns its tree. The root is owned by this attempt from then on. */
  take(root: Digest): InputTree | undefined {
    this.#taken = this.#processes.keptRoots?.take(keyOf(this.#groupOf(root), { digest: root }))
    return this.#taken && new InputTree(this.#taken.tree)
  }

  /** Returns the taken root once, then undefined. */
  taken(): KeptRoot | undefined {
    const taken = this.#taken
    this.#taken = undefined
    return taken
  }

  /**
   * A similar kept root that has become `tree`; undefined if there is none. The caller owns it. Rejects like `leaseInputs`
   * and `makeInputRoot`. Blobs are leased only while they are linked, as files that are in the root need no blob.
   */
  async changed(tree: InputTree, parts: ChangeParts): Promise<KeptRoot | undefined> {
    const { keptRoots, workDirectory } = this.#processes
    const similar = keptRoots?.takeSimilar(this.#groupOf(tree.root.digest), tree.root)
    if (similar === undefined) return undefined
    const { root, difference } = similar
    const { store, call, onFetch } = parts
    let lease: Awaited<ReturnType<typeof leaseInputs>>
    try {
      lease = await leaseInputs({ blobs: difference.blobs, missing: tree.missing }, store, call, onFetch)
    } catch (error) {
      keptRoots?.keep(root)
      throw error
    }
    try {
      if (await this.#change(similar, parts)) return { ...root, tree: tree.root }
    } catch (error) {
      workDirectory.discard(root.directory)
      throw error
    } finally {
      lease.release()
    }
    workDirectory.discard(root.directory)
    return undefined
  }

  /** False if the root is not as it was left: something on this machine changed it meanwhile. */
  async #change({ root, difference }: SimilarRoot, { store, files, call }: ChangeParts): Promise<boolean> {
    const { directory, name, state } = root
    const open = directory.open(name)
    if (open === undefined) return false
    const aside = { folder: directory.session.folder, newName, isOver: () => false }
    const place = filePlacer(open.path, store, files, call)
    try {
      await changeRoot(difference, open, state, { aside, place, signal: call.signal })
      return true
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      call.log.warn('a kept input root could not be changed, a new one is made', { reason: inWords(error) })
      return false
    } finally {
      open.close()
    }
  }

  /** The root with its present state; undefined if roots are not kept. */
  async made(
    tree: InputTree,
    execution: Execution,
    { kept, links }: { readonly kept: KeptRoot | undefined; readonly links: () => readonly InputLink[] },
  ): Promise<MadeRoot | undefined> {
    if (kept !== undefined) return kept
    if (this.#processes.keptRoots === undefined || tree.root.fileCount === 0) return undefined
    const state = await readState(tree.root, execution.root, links())
    return { group: this.#groupOf(tree.root.digest), tree: tree.root, state }
  }

  /** Marks the root as reusable: `end` may keep it for other attempts. `sinceMs` is when the command began. */
  leave(execution: Execution, made: MadeRoot | undefined, sinceMs: number): void {
    this.#left = made && { execution, made, sinceMs }
  }

  /** Call before the executions end. A root is not kept if a process of its command may still be alive. */
  end(): void {
    const { keptRoots, sandbox, leftovers } = this.#processes
    const unused = this.taken()
    if (unused !== undefined) keptRoots?.keep(unused)
    if (this.#left === undefined) return
    const { execution, made, sinceMs } = this.#left
    const isQuiet = sandbox !== undefined || leftovers.areNone()
    keptRoots?.giveBack({ ...made, ...execution.leaveDirectory() }, { isQuiet, sinceMs })
  }

  #groupOf(root: Digest): string {
    return `${root.function.name}/${this.#scope}`
  }
}
