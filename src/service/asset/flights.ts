import { StatusError } from '../../base/status-error.js'
import { unlessAborted } from '../../work/deadline.js'
import type { Clients } from '../../work/fair-turns.js'

/** Work that several calls wait for. */
class Flight<T> {
  /** Who waits, or has waited. */
  readonly clients: Clients = new Set()
  /** Calls that wait. */
  waiting = 0
  readonly outcome: Promise<T>
  readonly #ending = new AbortController()

  constructor(work: (clients: Clients, signal: AbortSignal) => Promise<T>, client: string) {
    this.clients.add(client)
    this.outcome = work(this.clients, this.#ending.signal)
  }

  get isEnding(): boolean {
    return this.#ending.signal.aborted
  }

  end(): void {
    this.#ending.abort(new StatusError('CANCELLED', 'its clients are gone, and others wait for a turn'))
  }
}

/** Shares one run of a piece of work among the calls with its key. It goes on when they are gone, until `endAbandoned`. */
export class Flights<T> {
  readonly #onAbandoned: () => void
  readonly #flights = new Map<string, Flight<T>>()
  /** Those that nobody waits for, longest abandoned first. */
  readonly #abandoned = new Set<Flight<T>>()

  /** `onAbandoned` is called when the last call that waited for a work is gone. */
  constructor(onAbandoned: () => void) {
    this.#onAbandoned = onAbandoned
  }

  /**
   * The outcome of the work that is under way for the key, or of `work`. Rejects with CANCELLED when the signal of the call aborts first.
   * `work` gets who waits, to which others are added, and a signal that aborts when it is ended because nobody waits.
   */
  async run(
    key: string,
    { client, signal }: { readonly client: string; readonly signal: AbortSignal },
    work: (clients: Clients, signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    let flight = this.#flights.get(key)
    while (flight?.isEnding) {
      await unlessAborted(
        flight.outcome.catch(() => {}),
        signal,
      )
      flight = this.#flights.get(key)
    }
    flight?.clients.add(client)
    flight ??= this.#begin(key, new Flight(work, client))
    flight.waiting += 1
    this.#abandoned.delete(flight)
    try {
      return await unlessAborted(flight.outcome, signal)
    } finally {
      flight.waiting -= 1
      if (flight.waiting === 0 && this.#flights.get(key) === flight) {
        this.#abandoned.add(flight)
        this.#onAbandoned()
      }
    }
  }

  /** Ends the work that nobody has waited for longest, if there is one. */
  endAbandoned(): void {
    const [flight] = this.#abandoned
    if (flight === undefined) return
    this.#abandoned.delete(flight)
    flight.end()
  }

  #begin(key: string, flight: Flight<T>): Flight<T> {
    this.#flights.set(key, flight)
    const forget = (): void => {
      this.#flights.delete(key)
      this.#abandoned.delete(flight)
    }
    flight.outcome.then(forget, forget)
    return flight
  }
}
