import { chmodSync, mkdirSync } from 'node:fs'
import { StatusError } from '../../base/status-error.js'
import type { PrivateCopies } from '../../blobs/local-file.js'
import type { Store } from '../../blobs/store.js'
import type { Call } from '../../rpc/call.js'
import type { OpenDirectory } from '../disk/open-directory.js'
import type { Aside } from '../disk/remove-tree.js'
import { newName, type RunDirectory } from '../disk/session.js'
import type { WorkDirectory } from '../disk/work-directory.js'
import { changeRoot } from '../input/change-root.js'
import { difference } from '../input/difference.js'
import type { InputTree } from '../input/merkle-tree.js'
import { restoreRoot, type UsedRoot } from '../input/restore-root.js'
import { filePlacer, type InputLink, makeInputRoot } from '../input/root.js'
import { linksOf, type RootState, readState } from '../input/root-state.js'

const ROOT = 'root'
/** As of the directories of other actions: a mistake like `rm -rf ../*` fails. */
const READ_ONLY = 0o555

/** Where the files of a root come from. */
export interface FileSource {
  readonly store: Store
  readonly privateCopies: PrivateCopies
}

/** The input root of one process: the same folder for its whole life, with the inputs of one request after the other. */
export class ProcessRoot {
  readonly directory: RunDirectory
  readonly path: string
  readonly #workDirectory: WorkDirectory
  #kept: UsedRoot | undefined

  private constructor(workDirectory: WorkDirectory, directory: RunDirectory) {
    this.#workDirectory = workDirectory
    this.directory = directory
    this.path = `${directory.path}/${ROOT}`
  }

  /** An empty one. UNAVAILABLE if it cannot be made. */
  static create(workDirectory: WorkDirectory): ProcessRoot {
    const root = new ProcessRoot(workDirectory, workDirectory.create())
    try {
      mkdirSync(root.path)
      chmodSync(root.directory.path, READ_ONLY)
      return root
    } catch (error) {
      root.discard()
      throw error
    }
  }

  /**
   * Makes it the root of this tree, all blobs of which are leased: only what differs from the last one is touched. Returns the files
   * that are links to the store. After a rejection the root is of no use.
   */
  async become(tree: InputTree, source: FileSource, call: Call): Promise<readonly InputLink[]> {
    const before = this.#kept
    this.#kept = undefined
    const state = before === undefined ? await this.#make(tree, source, call) : before.state
    if (before !== undefined) await this.#change(before, tree, source, call)
    this.#kept = { tree: tree.root, state, sinceMs: Date.now() }
    return linksOf(state)
  }

  async #make(tree: InputTree, { store, privateCopies }: FileSource, call: Call): Promise<RootState> {
    const links = await makeInputRoot(tree, this.path, store, { copies: false, privateCopies }, call)
    return readState(tree.root, this.path, links)
  }

  async #change(
    { tree, state }: UsedRoot,
    wanted: InputTree,
    { store, privateCopies }: FileSource,
    call: Call,
  ): Promise<void> {
    const { signal } = call
    const place = filePlacer(this.path, store, { copies: false, privateCopies }, call)
    const aside = this.#aside(() => signal.aborted)
    const open = this.#opened()
    if (open === undefined) throw new StatusError('UNAVAILABLE', 'the input root of a persistent worker is gone')
    try {
      await changeRoot(difference(tree, wanted.root), open, state, { aside, place, signal })
    } finally {
      open.close()
    }
  }

  /** Removes what a request added. False if one of its inputs is not as it was: then the root is of no use any more. */
  async restore(isOver: () => boolean): Promise<boolean> {
    const open = this.#kept && this.#opened()
    if (open === undefined || this.#kept === undefined) return false
    try {
      return await restoreRoot(this.#kept, open, this.#aside(isOver))
    } finally {
      open.close()
    }
  }

  /** Call it when no process can reach it any more. */
  discard(): void {
    this.#workDirectory.discard(this.directory, [ROOT])
  }

  #opened(): OpenDirectory | undefined {
    return this.directory.open(ROOT)
  }

  #aside(isOver: () => boolean): Aside {
    return { folder: this.directory.session.folder, newName, isOver }
  }
}
