/** Maximum number of connections of a listener; 0 is no bound. */
export interface ConnectionBounds {
  readonly maxConnections: number
  /** From one IP address, whatever the port. */
  readonly maxConnectionsPerAddress: number
}

export const DEFAULT_CONNECTION_BOUNDS: ConnectionBounds = { maxConnections: 10_000, maxConnectionsPerAddress: 2000 }

/** Share of all connections that one address may have, in quarters. */
const ADDRESS_QUARTERS = 3

/** The connections of all listeners of the process, which share its descriptors. */
export class AllConnections {
  readonly max: number
  count = 0

  constructor(max: number) {
    this.max = max
  }

  get maxPerAddress(): number {
    return Math.ceil((this.max * ADDRESS_QUARTERS) / 4)
  }
}

/** Counts the connections of a listener and refuses those beyond the bounds. */
export class Admission {
  readonly #bounds: ConnectionBounds
  readonly #byAddress = new Map<string, number>()
  readonly #all: AllConnections
  #count = 0

  constructor(bounds: ConnectionBounds, all = new AllConnections(Number.POSITIVE_INFINITY)) {
    this.#bounds = bounds
    this.#all = all
  }

  /** Counts a new connection until `leave`, or returns why it is refused. */
  refusal(address: string): string | undefined {
    const { maxConnections, maxConnectionsPerAddress } = this.#bounds
    const ofAddress = this.#byAddress.get(address) ?? 0
    if (isReached(maxConnections, this.#count)) return `the listener has ${this.#count} connections`
    if (isReached(maxConnectionsPerAddress, ofAddress)) return `the address has ${ofAddress} connections`
    const all = this.#all
    if (ofAddress >= all.maxPerAddress)
      return `the address has ${ofAddress} of the ${all.max} connections that the limit of open files allows`
    if (all.count >= all.max)
      return `the listeners have ${all.count} connections, as many as the limit of open files allows (ulimit -Hn, LimitNOFILE)`
    all.count += 1
    this.#count += 1
    this.#byAddress.set(address, ofAddress + 1)
    return undefined
  }

  leave(address: string): void {
    this.#all.count -= 1
    this.#count -= 1
    const left = (this.#byAddress.get(address) ?? 1) - 1
    if (left === 0) this.#byAddress.delete(address)
    else this.#byAddress.set(address, left)
  }
}

const isReached = (bound: number, count: number): boolean => bound > 0 && count >= bound
