import type { Digest } from '../../reapi/digest.js'
import type { KeptRoot } from '../input/kept-roots.js'
import type { InputTree } from '../input/merkle-tree.js'
import type { InputLink } from '../input/root.js'
import { takeSnapshot } from '../input/snapshot.js'
import type { Execution, Processes } from './execution.js'
import type { AttemptRequest } from './request.js'

/** An input root before its command runs, without its location. */
type MadeRoot = Omit<KeptRoot, 'directory' | 'name'>

/** The input roots that one attempt takes from the kept ones, and leaves for other attempts. */
export class AttemptRoots {
  readonly #processes: Processes
  readonly #scope: string
  #taken: KeptRoot | undefined
  #left: { readonly execution: Execution; readonly made: MadeRoot } | undefined

  constructor(processes: Processes, { isIsolated, instanceName, scope = '' }: AttemptRequest) {
    this.#processes = processes
    this.#scope = JSON.stringify([isIsolated === true ? instanceName : null, scope])
  }

  /** Takes a kept root, if there is one, and returns its tree. The root is owned by this attempt from then on. */
  take(root: Digest): InputTree | undefined {
    this.#taken = this.#processes.keptRoots?.take(this.#keyOf(root))
    return this.#taken?.tree
  }

  /** Returns the taken root once, then undefined. */
  taken(): KeptRoot | undefined {
    const taken = this.#taken
    this.#taken = undefined
    return taken
  }

  /** The root with a snapshot of its present state; undefined if roots are not kept. */
  async made(
    root: Digest,
    {
      tree,
      links,
      execution,
      kept,
    }: {
      readonly tree: InputTree
      readonly links: readonly InputLink[]
      readonly execution: Execution
      readonly kept: KeptRoot | undefined
    },
  ): Promise<MadeRoot | undefined> {
    if (kept !== undefined) return kept
    if (this.#processes.keptRoots === undefined || tree.files.length === 0) return undefined
    return { key: this.#keyOf(root), tree, links, snapshot: await takeSnapshot(tree, execution.root) }
  }

  /** Marks the root as reusable: `end` may keep it for other attempts. */
  leave(execution: Execution, made: MadeRoot | undefined): void {
    this.#left = made && { execution, made }
  }

  /** Call before the executions end. A root is not kept if a process of its command may still be alive. */
  end(): void {
    const { keptRoots, sandbox, leftovers } = this.#processes
    const unused = this.taken()
    if (unused !== undefined) keptRoots?.keep(unused)
    if (this.#left === undefined) return
    const { execution, made } = this.#left
    const isQuiet = sandbox !== undefined || leftovers.areNone()
    keptRoots?.giveBack({ ...made, ...execution.leaveDirectory() }, isQuiet)
  }

  #keyOf(root: Digest): string {
    return `${root.function.name}/${root.key}/${this.#scope}`
  }
}
