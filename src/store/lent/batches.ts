import { guardedImmediate } from '../../base/timers.js'
import type { Digest } from '../../reapi/digest.js'
import type { Scope } from './requests.js'

interface Waiting<Item, Answer> {
  readonly item: Item
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
}

export interface BatchesOptions<Item, Answer> {
  readonly maxCount: number
  readonly maxBytes: number
  /** How much an item adds to the size of a message, in the larger direction. */
  readonly bytesOf: (item: Item) => number
  /** Returns one answer for each item, in their order. */
  readonly ask: (scope: Scope, items: readonly Item[]) => Promise<readonly Answer[]>
}

/**
 * Combines all requests of one turn of the event loop into one message, because a message costs more than its contents.
 */
export class Batches<Item extends { readonly digest: Digest }, Answer> {
  readonly #options: BatchesOptions<Item, Answer>
  readonly #open = new Map<string, { items: Waiting<Item, Answer>[]; bytes: number }>()

  constructor(options: BatchesOptions<Item, Answer>) {
    this.#options = options
  }

  ask(item: Item): Promise<Answer> {
    const { digest } = item
    const scope = `${digest.function.name}/${digest.instanceName ?? ''}`
    const { bytesOf, maxBytes, maxCount } = this.#options
    const bytes = bytesOf(item)
    const open = this.#open.get(scope)
    if (open !== undefined && (open.items.length >= maxCount || open.bytes + bytes > maxBytes)) {
      this.#flush(scope)
    }
    return new Promise((resolve, reject) => {
      let batch = this.#open.get(scope)
      if (batch === undefined) {
        batch = { items: [], bytes: 0 }
        this.#open.set(scope, batch)
        guardedImmediate(() => this.#flush(scope, batch))
      }
      batch.items.push({ item, resolve, reject })
      batch.bytes += bytes
    })
  }

  #flush(scope: string, expected = this.#open.get(scope)): void {
    if (expected === undefined || this.#open.get(scope) !== expected) return
    this.#open.delete(scope)
    void this.#send(expected.items)
  }

  async #send(waiting: readonly Waiting<Item, Answer>[]): Promise<void> {
    const [first] = waiting
    if (first === undefined) return
    try {
      const answers = await this.#options.ask(
        first.item.digest,
        waiting.map(({ item }) => item),
      )
      if (answers.length !== waiting.length) throw new Error(`${answers.length} answers came for ${waiting.length}`)
      for (const [at, { resolve }] of waiting.entries()) resolve(answers[at] as Answer)
    } catch (error) {
      for (const { reject } of waiting) reject(error)
    }
  }
}
