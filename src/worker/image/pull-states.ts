import { sizeText } from '../../base/quantities.js'

/** Told to those who wait for an image, in words. */
export type OnWait = (what: string) => void

/** Sizes change several times a second. */
const PERIOD_MS = 2_000

interface State {
  text: string
  toldMs: number
  readonly listeners: Set<OnWait>
}

/** What is being done for each image that actions wait for. */
export class PullStates {
  readonly #of = new Map<string, State>()

  /** Tells how it goes until the returned function is called, which tells that nobody waits any more. */
  listen(digest: string, onWait: OnWait): () => void {
    const state = this.#of.get(digest) ?? { text: '', toldMs: 0, listeners: new Set() }
    state.listeners.add(onWait)
    this.#of.set(digest, state)
    if (state.text !== '') onWait(state.text)
    return () => {
      state.listeners.delete(onWait)
      if (state.listeners.size === 0) this.#of.delete(digest)
      onWait('')
    }
  }

  /** A new step, with nothing done yet. */
  step(digest: string, text: string): void {
    this.#tell(digest, text)
  }

  /** So many bytes of the step are done. */
  grown(digest: string, text: string, bytes: number): void {
    const state = this.#of.get(digest)
    if (state !== undefined && performance.now() - state.toldMs >= PERIOD_MS)
      this.#tell(digest, `${text}, ${sizeText(bytes)} so far`)
  }

  #tell(digest: string, text: string): void {
    const state = this.#of.get(digest)
    if (state === undefined) return
    state.text = text
    state.toldMs = performance.now()
    for (const onWait of state.listeners) onWait(text)
  }
}
