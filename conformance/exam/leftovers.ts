import { Code } from '../proto/status-code.js'
import type { Client, Outcome } from '../wire/client.js'
import type { Any, Method } from '../wire/methods.js'
import { cancelOperation } from '../wire/methods.js'

const DEADLINE_MS = 2_000

/** The operations of one check that may still run. */
export class Leftovers {
  readonly #running = new Set<string>()

  /** Records the operations named in an answer of this method. */
  note({ name: method }: Method<Any, Any>, { responses }: Outcome<unknown>): void {
    if (method !== 'Execute' && method !== 'WaitExecution') return
    for (const { name, done } of responses as readonly { readonly name: string; readonly done: boolean }[]) {
      if (done) this.#running.delete(name)
      else if (name !== '') this.#running.add(name)
    }
  }

  /** Asks the server to cancel them. A server without CancelOperation runs them to their end, which takes seconds. */
  async cancel(client: Client, actionId: string): Promise<void> {
    const names = [...this.#running]
    this.#running.clear()
    for (const name of names) {
      const { code } = await client.call(cancelOperation, { name }, { actionId, deadlineMs: DEADLINE_MS })
      if (code !== Code.OK && code !== Code.NOT_FOUND) return
    }
  }
}
