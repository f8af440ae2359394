import type { Digest } from '../../reapi/digest.js'
import type { KeptRoot } from '../input/kept-roots.js'
import type { InputLink } from '../input/root.js'
import { takeSnapshot } from '../input/snapshot.js'
import type { InputTree } from '../input/tree.js'
import type { Execution, Processes } from './execution.js'
import type { AttemptRequest } from './request.js'

/** An input root before its command runs, without its place. */
type MadeRoot = Omit<KeptRoot, 'directory' | 'name'>

/** The input roots that one attempt takes from those that are kept, and leaves for other attempts. */
export class AttemptRoots {
  readonly #processes: Processes
  readonly #scope: string
  #taken: KeptRoot | undefined
  #left: { readonly execution: Execution; readonly made: MadeRoot } | undefined

  constructor(processes: Processes, { isIsolated, instanceName }: AttemptRequest) {
    this.#processes = processes
    this.#scope = isIsolated ? `apart/${instanceName}` : ''
  }

  /** What a root consists of that is kept: it is this attempt's from now on. */
  take(root: Digest): InputTree | undefined {
    this.#taken = this.#processes.keptRoots?.take(this.#keyOf(root))
    return this.#taken?.tree
  }

  /** What was taken, once. */
  taken(): KeptRoot | undefined {
    const taken = this.#taken
    this.#taken = undefined
    return taken
  }

  /** How the root is now, where roots are kept. */
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

  /** At the end it may be kept for others. */
  leave(execution: Execution, made: MadeRoot | undefined): void {
    this.#left = made && { execution, made }
  }

  /** Before executions end. Where something of the command may be alive, its root is nobody's. */
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
