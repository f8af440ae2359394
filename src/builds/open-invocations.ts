import type { About } from './about.js'
import type { Entry } from './entry.js'

/** The invocations that are published to now, by their ids. One id may be that of several, in different instances. */
export class OpenInvocations {
  readonly #byId = new Map<string, Set<Entry>>()
  /** Called before the last of those that publish to an invocation leaves it. */
  onLeave: ((invocationId: string) => void) | undefined

  get isEmpty(): boolean {
    return this.#byId.size === 0
  }

  has(invocationId: string): boolean {
    return this.#byId.has(invocationId)
  }

  /**
   * Adds a record of the server itself to those with this id. `recordFor` returns it for each of them, or undefined for none.
   */
  note(invocationId: string, recordFor: (about: About) => Buffer | undefined): void {
    for (const { summary, invocation } of this.#byId.get(invocationId) ?? []) {
      const record = summary && recordFor(summary.about)
      if (record !== undefined) invocation?.note(record)
    }
  }

  opened(entry: Entry, invocationId: string): void {
    const open = this.#byId.get(invocationId) ?? new Set()
    this.#byId.set(invocationId, open.add(entry))
  }

  left(entry: Entry, invocationId: string): void {
    const open = this.#byId.get(invocationId)
    if (open?.has(entry) !== true) return
    this.onLeave?.(invocationId)
    open.delete(entry)
    if (open.size === 0) this.#byId.delete(invocationId)
  }
}
