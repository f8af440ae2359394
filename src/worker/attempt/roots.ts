import { errnoOf, inWords } from '../../base/errno.js'
import type { Store } from '../../blobs/store.js'
import type { Digest } from '../../reapi/digest.js'
import { rootKeysOf } from '../../reapi/root-keys.js'
import type { Call } from '../../rpc/call.js'
import { newName } from '../disk/session.js'
import { changeRoot } from '../input/change-root.js'
import { type KeptRoot, keyOf, type SimilarRoot } from '../input/kept-roots.js'
import { leaseInputs } from '../input/lease.js'
import { InputTree } from '../input/merkle-tree.js'
import { type FileOptions, filePlacer, type InputLink } from '../input/root.js'
import { readState } from '../input/root-state.js'
import type { Execution, Processes } from './execution.js'
import type { AttemptRequest } from './request.js'
import type { ActionSource } from './source.js'

/** An input root before its command runs, without its location. */
type MadeRoot = Omit<KeptRoot, 'directory' | 'name'>

/**
 * Roots that are at least as large are told to the scheduler. Where there is none, making one takes about as long as an action
 * waits for a worker that has one.
 */
const TOLD_ENTRIES = 1000
const TOLD_BYTES = 64 * 1024 * 1024

const FRESH = { name: 'fresh', placedFiles: 0 } as const

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
  readonly #instanceName: string
  readonly #callerScope: string
  #taken: KeptRoot | undefined
  /** Of this attempt until it ends, as it was when it was taken. */
  #lent: KeptRoot | undefined
  #way: { readonly name: 'equal' | 'changed' | 'fresh'; readonly placedFiles: number } = FRESH
  #left: { readonly execution: Execution; readonly made: MadeRoot; readonly sinceMs: number } | undefined

  constructor(processes: Processes, { isIsolated, instanceName, scope = '' }: AttemptRequest) {
    this.#processes = processes
    this.#instanceName = instanceName
    this.#callerScope = scope
    this.#scope = JSON.stringify([isIsolated === true ? instanceName : null, scope])
  }

  /** Takes a kept root, if there is one, and returns its tree. The root is owned by this attempt from then on. */
  take(root: Digest): InputTree | undefined {
    this.#taken = this.#processes.keptRoots?.take(keyOf(this.#groupOf(root), { digest: root }))
    this.#lent = this.#taken
    return this.#taken && new InputTree(this.#taken.tree)
  }

  /** Returns the taken root once, then undefined. */
  taken(): KeptRoot | undefined {
    const taken = this.#taken
    this.#taken = undefined
    if (taken !== undefined) this.#way = { name: 'equal', placedFiles: 0 }
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
    this.#lent = root
    const { store, call, onFetch } = parts
    let lease: Awaited<ReturnType<typeof leaseInputs>>
    try {
      lease = await leaseInputs({ blobs: difference.blobs, missing: tree.missing }, store, call, onFetch)
    } catch (error) {
      keptRoots?.keep(root)
      throw error
    }
    try {
      if (await this.#change(similar, parts)) {
        this.#way = { name: 'changed', placedFiles: difference.placedFiles }
        return { ...root, tree: tree.root }
      }
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

  /** The root with its present state, known as that of this action; undefined if roots are not kept. */
  async made(
    { tree, command, commandDigest }: ActionSource,
    execution: Execution,
    { kept, links }: { readonly kept: KeptRoot | undefined; readonly links: () => readonly InputLink[] },
  ): Promise<MadeRoot | undefined> {
    const { keptRoots } = this.#processes
    const { digest: inputRoot, fileCount, entryCount, fileBytes } = tree.root
    if (keptRoots === undefined || fileCount === 0) return undefined
    const { name, placedFiles: placed } = kept === undefined ? { name: FRESH.name, placedFiles: fileCount } : this.#way
    keptRoots.count(name, { placed, untouched: fileCount - placed })
    const isWorthTelling = entryCount >= TOLD_ENTRIES || fileBytes >= TOLD_BYTES
    const facts = { instanceName: this.#instanceName, scope: this.#callerScope, inputRoot, command: commandDigest }
    const warmKeys = isWorthTelling ? rootKeysOf({ ...facts, program: command.arguments[0] ?? '' }) : []
    if (kept !== undefined) return { ...kept, warmKeys }
    const state = await readState(tree.root, execution.root, links())
    return { group: this.#groupOf(inputRoot), tree: tree.root, state, warmKeys }
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
    if (this.#left !== undefined) {
      const { execution, made, sinceMs } = this.#left
      const isQuiet = sandbox !== undefined || leftovers.areNone()
      keptRoots?.giveBack({ ...made, ...execution.leaveDirectory() }, { isQuiet, sinceMs })
    }
    if (this.#lent !== undefined) keptRoots?.ended(this.#lent)
    this.#lent = undefined
  }

  #groupOf(root: Digest): string {
    return `${root.function.name}/${this.#scope}`
  }
}
