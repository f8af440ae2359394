import { StatusError } from '../base/status-error.js'
import { cancellation, whenAborted } from '../rpc/call.js'

export interface FairTurnsOptions {
  /** Turns at a time. */
  readonly permits: number
  /** Works that may wait; a client may use half of them. More are rejected. */
  readonly maxWaiting: number
}

/** Who wants a piece of work done, by names. More can join while it waits. */
export type Clients = Set<string>

interface Waiting {
  readonly clients: Clients
  readonly begin: (release: () => void) => void
}

/**
 * Turns for work that others can make slow, such as downloads from an origin that a client names. A client may run as many works as
 * turns are free beside them: alone half of all, beside another a quarter, and so on. So there is a turn for a newcomer without
 * waiting until about log2(permits) clients have as many slow works as they may. A free turn goes to the client that runs the fewest.
 */
export class FairTurns {
  readonly #options: FairTurnsOptions
  readonly #running = new Map<string, number>()
  readonly #waiting = new Set<Waiting>()
  #free: number

  constructor(options: FairTurnsOptions) {
    this.#options = options
    this.#free = options.permits
  }

  /**
   * Resolves with an idempotent function that ends the turn. Rejects with CANCELLED when the signal aborts first, and with
   * RESOURCE_EXHAUSTED when too many works, or too many of the one client, wait for `what`.
   */
  acquire(what: string, signal: AbortSignal, clients: Clients): Promise<() => void> {
    if (signal.aborted) return Promise.reject(cancellation(signal))
    const now = this.#begin(clients)
    if (now !== undefined) return Promise.resolve(now)
    const refusal = this.#refusal(what, clients)
    if (refusal !== undefined) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        this.#waiting.delete(entry)
        reject(cancellation(signal))
      }
      const entry: Waiting = {
        clients,
        begin: (release) => {
          signal.removeEventListener('abort', giveUp)
          resolve(release)
        },
      }
      whenAborted(signal, giveUp)
      this.#waiting.add(entry)
    })
  }

  get hasWaiting(): boolean {
    return this.#waiting.size > 0
  }

  /** Call it when a client has joined a work that may be waiting. */
  joined(): void {
    this.#beginWaiting()
  }

  /** A turn if one of the clients may have it now. */
  #begin(clients: Clients): (() => void) | undefined {
    const client = this.#leastBusy(clients)
    const running = this.#running.get(client) ?? 0
    if (running >= this.#free) return undefined
    this.#free -= 1
    this.#running.set(client, running + 1)
    let isHeld = true
    return () => {
      if (isHeld) this.#end(client)
      isHeld = false
    }
  }

  #end(client: string): void {
    this.#free += 1
    const left = (this.#running.get(client) ?? 0) - 1
    if (left > 0) this.#running.set(client, left)
    else this.#running.delete(client)
    this.#beginWaiting()
  }

  #beginWaiting(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      const release = this.#begin(next.clients)
      if (release === undefined) return
      this.#waiting.delete(next)
      next.begin(release)
    }
  }

  /** Of the client that runs the fewest; of its works the one that waits longest. */
  #next(): Waiting | undefined {
    let best: Waiting | undefined
    let fewest = this.#free
    for (const entry of this.#waiting) {
      const running = this.#running.get(this.#leastBusy(entry.clients)) ?? 0
      if (running >= fewest) continue
      best = entry
      fewest = running
      if (fewest === 0) return best
    }
    return best
  }

  #leastBusy(clients: Clients): string {
    let best = ''
    let fewest = Number.POSITIVE_INFINITY
    for (const client of clients) {
      const running = this.#running.get(client) ?? 0
      if (running >= fewest) continue
      best = client
      fewest = running
    }
    return best
  }

  #refusal(what: string, clients: Clients): StatusError | undefined {
    const { maxWaiting } = this.#options
    if (this.#waiting.size >= maxWaiting)
      return new StatusError('RESOURCE_EXHAUSTED', `${maxWaiting} wait for ${what} already: ask again later`)
    if (this.#waiting.size < maxWaiting / 2) return undefined
    const [client = ''] = clients
    let count = 0
    for (const entry of this.#waiting) if (entry.clients.has(client)) count += 1
    if (count < maxWaiting / 2) return undefined
    return new StatusError('RESOURCE_EXHAUSTED', `${count} of this client wait for ${what} already: ask again later`)
  }
}
