import { Holder } from './holder.js'
import { Kind } from './kind.js'
import { KINDS, type KindName } from './kinds.js'

const CONNECTION_SHARE = 1 / 2
const ADDRESS_SHARE = 3 / 4
const INSTANCE_SHARE = 1 / 2
const ATTEMPT_SHARE = 1 / 16

/** The holder of the memory of a call, and the ledger that counts it. */
export interface HeldFor {
  readonly ledger: Ledger
  readonly holder: Holder
}

/** The holder of a connection, until it is closed. */
export interface ConnectionHolder {
  readonly holder: Holder
  close(): void
}

/**
 * Counts all memory that the process holds for clients. Bytes are reserved under a kind (`kinds.ts`) for a holder
 * before they are allocated. Bounds apply to the process; connections, addresses and instances get a share of them.
 */
export class Ledger {
  readonly kinds: Readonly<Record<KindName, Kind>>
  readonly #addresses = new Map<string, { readonly holder: Holder; connectionCount: number }>()
  readonly #instances = new Map<string, Holder>()

  /** `bounds` replaces the bounds of some kinds. */
  constructor(bounds: Partial<Readonly<Record<KindName, number>>> = {}) {
    const entries = Object.entries(KINDS).map(([name, { maxBytes, rule }]) => {
      return [name, new Kind(name, { rule, maxBytes: bounds[name as KindName] ?? maxBytes })]
    })
    this.kinds = Object.fromEntries(entries)
  }

  /** Registers a connection from an address. */
  connection(address: string): ConnectionHolder {
    const entry = this.#addresses.get(address) ?? this.#addAddress(address)
    entry.connectionCount += 1
    let isOpen = true
    return {
      holder: new Holder(CONNECTION_SHARE, entry.holder),
      close: () => {
        if (isOpen) entry.connectionCount -= 1
        isOpen = false
        this.#forget(address)
      },
    }
  }

  instance(name: string): Holder {
    const known = this.#instances.get(name)
    if (known !== undefined) return known
    const holder = new Holder(INSTANCE_SHARE, undefined, () => this.#instances.delete(name))
    this.#instances.set(name, holder)
    return holder
  }

  /** One attempt of a worker to run an action. */
  attempt(): Holder {
    return new Holder(ATTEMPT_SHARE)
  }

  #addAddress(address: string): { readonly holder: Holder; connectionCount: number } {
    const holder = new Holder(ADDRESS_SHARE, undefined, () => this.#forget(address))
    const entry = { holder, connectionCount: 0 }
    this.#addresses.set(address, entry)
    return entry
  }

  /** Calls may outlive the connections of their address. Their bytes count until they end. */
  #forget(address: string): void {
    const entry = this.#addresses.get(address)
    if (entry !== undefined && entry.connectionCount === 0 && entry.holder.isEmpty) this.#addresses.delete(address)
  }
}
