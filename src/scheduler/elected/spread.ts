/** Leases for which a server leads more than its share before it hands an office over: servers come and go meanwhile. */
const HAND_OVER_LEASES = 5

/** What one scheduler of this process has to do with the others of it. */
export interface Seat {
  /** Whether this server leads it. */
  leads: boolean
  leave(): void
}

/**
 * The offices of this process, where several schedulers are shared with other servers: each server leads its share of them, so that
 * one machine has not all of the work. Schedulers are few, so counting costs nothing.
 */
export class Spread {
  readonly #seats = new Set<Seat>()
  #tooMuchSinceMs: number | undefined

  join(): Seat {
    const seat: Seat = { leads: false, leave: () => void this.#seats.delete(seat) }
    this.#seats.add(seat)
    return seat
  }

  /** Whether this server has its share, so that others should take what is free. `servers`: how many there are. */
  hasShare(servers: number): boolean {
    return this.#led >= this.#share(servers)
  }

  /** Whether the server should hand one office over now. Asked in each round of a leader. */
  handsOver(servers: number, { nowMs, leaseMs }: { readonly nowMs: number; readonly leaseMs: number }): boolean {
    if (this.#led <= this.#share(servers)) {
      this.#tooMuchSinceMs = undefined
      return false
    }
    this.#tooMuchSinceMs ??= nowMs
    if (nowMs - this.#tooMuchSinceMs < HAND_OVER_LEASES * leaseMs) return false
    // The next one has to wait as long.
    this.#tooMuchSinceMs = nowMs
    return true
  }

  get #led(): number {
    return [...this.#seats].filter(({ leads }) => leads).length
  }

  #share(servers: number): number {
    return Math.ceil(this.#seats.size / Math.max(1, servers))
  }
}
