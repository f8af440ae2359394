import type { KeptRootsInput } from '../../proto/generated/remexec.worker.v1.js'
import { Soon } from '../soon.js'
import type { KeptRoots, RootCounts } from './kept-roots.js'

/** Roots change with each action. */
const WITHIN_MS = 250

const NONE: RootCounts = { equal: 0, changed: 0, fresh: 0, placedFiles: 0, untouchedFiles: 0 }

/** Tells the scheduler which input roots are kept, and what became of those of actions since it was told last. */
export class RootsTelling {
  readonly #roots: KeptRoots
  /** Returns false if there is no connection. */
  readonly #send: (message: { readonly keptRoots: KeptRootsInput }) => boolean
  readonly #soon: Soon
  #told = NONE

  /** `onTold` is called together with each message: which roots are kept may have changed. */
  constructor(
    roots: KeptRoots,
    send: (message: { readonly keptRoots: KeptRootsInput }) => boolean,
    onTold: () => void,
  ) {
    this.#roots = roots
    this.#send = send
    this.#soon = new Soon(() => {
      this.#tell()
      onTold()
    }, WITHIN_MS)
  }

  /** Call it when something may have changed, and on each connection: whoever is there then may know nothing. */
  changed(): void {
    this.#soon.ask()
  }

  close(): void {
    this.#soon.close()
  }

  #tell(): void {
    const { size: kept, fileBytes, counts } = this.#roots
    const now = { ...counts }
    const since = (of: keyof RootCounts): number => now[of] - this.#told[of]
    const events = { equal: since('equal'), changed: since('changed'), fresh: since('fresh') }
    const files = { placedFiles: since('placedFiles'), untouchedFiles: since('untouchedFiles') }
    if (this.#send({ keptRoots: { kept, fileBytes, ...events, ...files } })) this.#told = now
  }
}
